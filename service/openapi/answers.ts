import type { HttpUpstream, JsonSchema } from '../tools/model/tool.ts'
import { isRecord, type Raw } from '../kit/schema/merge.ts'
import { fitted, type Limits } from '../kit/schema/bounded.ts'

export interface Answers {
  answer: HttpUpstream['answer']
  schema: JsonSchema | null
}

/** The operation's successful answer: the first 2xx, as JSON if it has that. */
export function answersOf(operation: Raw): Answers {
  const responses = isRecord(operation['responses']) ? operation['responses'] : {}
  const [status, response] = successOf(responses)
  const content = isRecord(response['content']) ? response['content'] : {}
  const type = preferred(Object.keys(content))
  if (type === null) return { answer: { status, contentType: null }, schema: null }
  const media = content[type]
  const schema = isRecord(media) ? media['schema'] : undefined
  const contentType = type === '*/*' ? 'application/json' : type
  if (!isJson(contentType)) return { answer: { status, contentType }, schema: null }
  return { answer: { status, contentType }, schema: bounded(schema) }
}

function successOf(responses: Raw): [number, Raw] {
  const codes = Object.keys(responses)
    .filter((code) => /^2(\d\d|XX)$/i.test(code))
    .sort()
  // A status with content is preferred to one without: 202 often means "not yet" beside a 200.
  const code = codes.find((one) => hasContent(responses[one])) ?? codes[0] ?? 'default'
  const response = responses[code]
  return [/^2\d\d$/.test(code) ? Number(code) : 200, isRecord(response) ? response : {}]
}

function hasContent(response: unknown): boolean {
  return isRecord(response) && isRecord(response['content']) && Object.keys(response['content']).length > 0
}

function preferred(types: readonly string[]): string | null {
  return (
    types.find(isJson) ??
    types.find((type) => type === '*/*') ??
    types.find((type) => type.startsWith('text/')) ??
    types[0] ??
    null
  )
}

function isJson(type: string): boolean {
  return /^application\/(.+\+)?json\s*(;|$)/i.test(type)
}

function bounded(schema: unknown): JsonSchema | null {
  if (!isRecord(schema)) return null
  let answer = known.get(schema)
  if (answer === undefined) {
    const made = fitted(TRIES, BYTES_MAX, (conversion) => conversion.convert(schema))
    answer = made === null || Object.keys(made).length === 0 ? null : made
    known.set(schema, answer)
  }
  return answer
}

/** Many operations of a document answer with the same schema, which may be converted eleven times until it fits. */
const known = new WeakMap<object, JsonSchema | null>()

/** Tries full detail first, then less depth; an outline of the whole says more than full detail of a part. */
const TRIES: readonly Omit<Limits, 'bytes'>[] = [
  ...[7, 6, 5, 4, 3].map((depth) => ({ direction: 'output' as const, depth, nodes: 800, descriptions: true })),
  ...[3, 2, 1].map((depth) => ({ direction: 'output' as const, depth, nodes: 800, descriptions: true, fields: 12 })),
  ...[2, 1, 0].map((depth) => ({ direction: 'output' as const, depth, nodes: 800, descriptions: false, fields: 12 })),
]
const BYTES_MAX = 12_000
