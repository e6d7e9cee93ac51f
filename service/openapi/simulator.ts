import { createHash } from 'node:crypto'
import { isRecord } from '../kit/schema/merge.ts'
import { sample } from 'openapi-sampler'
import { definitionsOf, flat, plausible } from './plausible.ts'
import type { HttpUpstream, JsonSchema, Tool, UpstreamAnswer } from '../tools/model/tool.ts'

/**
 * Simulates an upstream server: answers an operation with an example built from its own schema, the document's examples
 * first. A field of the answer takes the request's value if the name is the same and the type fits. The same input gets
 * the same answer.
 */
export function simulate({ slug, output }: Tool, { answer }: HttpUpstream, input: unknown): UpstreamAnswer {
  const { status, contentType } = answer
  if (contentType === null) return { status, contentType: null, body: Buffer.alloc(0) }
  if (/json/i.test(contentType)) {
    const example = output === null ? {} : plausible(output, sample(output, { quiet: true }), seedOf(slug, input))
    return {
      status,
      contentType,
      body: Buffer.from(JSON.stringify(output === null ? {} : echoed(output, example, input))),
    }
  }
  if (/^text\//i.test(contentType)) return { status, contentType, body: Buffer.from('An example of the answer.\n') }
  return { status, contentType, body: EXAMPLE_BYTES }
}

/** The smallest content that programs accept as a file: an empty archive. */
const EXAMPLE_BYTES = Buffer.concat([Buffer.from([0x50, 0x4b, 0x05, 0x06]), Buffer.alloc(18)])

function echoed(schema: JsonSchema, example: unknown, input: unknown): unknown {
  if (!isRecord(input)) return example
  // The fields of a body that is one input are inputs like the others.
  const given = isRecord(input['body']) ? { ...input['body'], ...input } : input
  const definitions = definitionsOf(schema)
  return echoedIn(definitions, { schemas: flat(definitions, [schema]), example }, given)
}

/** Follows the example: into what an answer wraps, and into the items of a list. */
function echoedIn(definitions: Definitions, { schemas, example }: Part, input: CallInput): unknown {
  if (Array.isArray(example)) {
    const items = flat(
      definitions,
      schemas.map((one) => one['items']),
    )
    const shared = Object.fromEntries(Object.entries(input).filter(([name]) => !OWN.has(name)))
    return example.map((item) => echoedIn(definitions, { schemas: items, example: item }, shared))
  }
  if (!isRecord(example)) return example
  const fieldsOf = (name: string) =>
    flat(
      definitions,
      schemas.map((one) => (isRecord(one['properties']) ? one['properties'][name] : undefined)),
    )
  const answer: Record<string, unknown> = { ...example }
  for (const name of Object.keys(answer)) {
    const value = Object.hasOwn(input, name) ? input[name] : undefined
    const fields = fieldsOf(name)
    if (fields.length > 0 && fields.every((field) => takes(field, value))) answer[name] = value
  }
  // Many answers wrap what they are about: `{droplet: {name}}`, `{items: [{project}]}`.
  const [only, ...others] = Object.keys(answer)
  if (only === undefined || others.length > 0) return answer
  return { ...answer, [only]: echoedIn(definitions, { schemas: fieldsOf(only), example: answer[only] }, input) }
}

/** Each item's own: what is listed is not what was asked with. */
const OWN: ReadonlySet<string> = new Set(['id', 'name', 'type'])

type Definitions = ReturnType<typeof definitionsOf>
type CallInput = Readonly<Record<string, unknown>>

interface Part {
  schemas: ReturnType<typeof flat>
  example: unknown
}

function seedOf(slug: string, input: unknown): string {
  return createHash('sha256').update(slug).update(JSON.stringify(input)).digest('hex')
}

/** Only if the type is the whole rule: a field with a format or a limit keeps its example. */
function takes(field: Readonly<Record<string, unknown>>, value: unknown): boolean {
  if (Object.keys(field).some((word) => !SAYS_NO_MORE.has(word))) return false
  const types = [field['type']].flat()
  if (typeof value === 'number')
    return types.includes('number') || (types.includes('integer') && Number.isInteger(value))
  return (typeof value === 'string' && value.length <= 2_000) || typeof value === 'boolean'
    ? types.includes(typeof value)
    : false
}

const SAYS_NO_MORE = new Set(['type', 'description', 'examples'])
