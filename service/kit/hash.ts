import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** The same hash for equal values, regardless of the order of an object's keys. */
export function canonicalHash(value: unknown): Buffer {
  return createHash('sha256').update(canonicalJson(value)).digest()
}

/** The same text for equal values, regardless of the order of an object's keys. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, sorted)
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${String(value)}n`
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  // A number that JavaScript cannot hold exactly, as it was written.
  if (value instanceof Number) return value
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** Signs values with a key of its own, derived from the secret that all processes share. */
export function createSigner(secret: string, purpose: string) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', purpose, 32))
  const sign = (value: unknown): string => createHmac('sha256', key).update(JSON.stringify(value)).digest('base64url')
  return {
    sign,
    isSigned(value: unknown, signature: string): boolean {
      const [wanted, presented] = [Buffer.from(sign(value)), Buffer.from(signature)]
      return presented.length === wanted.length && timingSafeEqual(presented, wanted)
    },
  }
}
