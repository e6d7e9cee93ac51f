import { createHash } from 'node:crypto'

/** What a request asks, in one word: an approval holds for this and no other. The order of an object's keys says nothing. */
export function requestHash(asked: unknown): string {
  return createHash('sha256').update(JSON.stringify(asked, sorted)).digest('hex')
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${String(value)}n`
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
}
