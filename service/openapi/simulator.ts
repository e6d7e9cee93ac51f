import { createHash } from 'node:crypto'
import { isRecord } from '../kit/schema/merge.ts'
import { sample } from 'openapi-sampler'
import { definitionsOf, flat, plausible } from './plausible.ts'
import type { HttpUpstream, JsonSchema, Tool, UpstreamAnswer } from '../tools/model/tool.ts'

/**
 * Simulates an upstream server: answers an operation with an example built from its own schema, the document's examples
 * first. A field of the answer takes the request's value if the name is the same and the type fits; what the path names is
 * what the answer is about. The same input gets the same answer.
 */
export function simulate({ slug, output }: Tool, { answer, path }: HttpUpstream, input: unknown): UpstreamAnswer {
  const { status, contentType } = answer
  if (contentType === null) return { status, contentType: null, body: Buffer.alloc(0) }
  if (/json/i.test(contentType)) {
    const example = output === null ? {} : plausible(output, sample(output, { quiet: true }), seedOf(slug, input))
    return {
      status,
      contentType,
      body: Buffer.from(JSON.stringify(output === null ? {} : echoed(output, example, { input, path }))),
    }
  }
  const known = FILES.find(([type]) => type.test(contentType))?.[1]
  if (known !== undefined) return { status, contentType, body: known }
  if (/^text\//i.test(contentType)) return { status, contentType, body: Buffer.from('An example of the answer.\n') }
  return { status, contentType, body: EXAMPLE_BYTES }
}

/** The smallest content that programs accept as a file: an empty archive. */
const EXAMPLE_BYTES = Buffer.concat([Buffer.from([0x50, 0x4b, 0x05, 0x06]), Buffer.alloc(18)])

/** Pictures of one pixel. */
const FILES: readonly (readonly [RegExp, Buffer])[] = [
  [/^image\/svg/i, Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>')],
  [/^image\/gif/i, Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')],
  [
    /^image\/jpe?g/i,
    Buffer.from(
      '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=',
      'base64',
    ),
  ],
  [
    /^image\/(png|\*)/i,
    Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    ),
  ],
]

function echoed(schema: JsonSchema, example: unknown, { input, path }: { input: unknown; path: string }): unknown {
  if (!isRecord(input)) return example
  // The fields of a body that is one input are inputs like the others.
  const given = isRecord(input['body']) ? { ...input['body'], ...input } : input
  const definitions = definitionsOf(schema)
  const all = { ...subjectOf(path, given), ...given }
  return echoedIn(definitions, { schemas: flat(definitions, [schema]), example }, all)
}

/** `/gists/{gist_id}` is about the gist with this id, and `/orgs/{org}` about the one of this name. */
function subjectOf(path: string, input: CallInput): Record<string, unknown> {
  const [, name = ''] = /\{([^{}]+)\}$/.exec(path) ?? []
  const value = Object.hasOwn(input, name) ? input[name] : undefined
  if (value === undefined) return {}
  const [, last = ''] = /(?:^|[_.-]|(?<=[a-z]))(uuid|id|number|slug|key|name|login|username)$/i.exec(name) ?? []
  const fields =
    last === '' ? ['login', 'slug', 'name'] : [last.toLowerCase(), ...(OTHER_WORDS[last.toLowerCase()] ?? [])]
  return Object.fromEntries(fields.map((field) => [field, value]))
}

const OTHER_WORDS: Readonly<Record<string, readonly string[]>> = {
  uuid: ['id'],
  username: ['login'],
  login: ['username'],
}

/** Follows the example: into what an answer wraps, into the items of a list, and into objects that were sent. */
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
  let isAbout = false
  for (const [name, field] of Object.entries(answer)) {
    const value = Object.hasOwn(input, name) ? input[name] : undefined
    const fields = fieldsOf(name)
    if (fields.length === 0 || value === undefined) continue
    if (fields.every((one) => takes(definitions, one, value))) {
      answer[name] = value
      isAbout = true
    } else if (isRecord(value) && isRecord(field)) {
      answer[name] = echoedIn(definitions, { schemas: fields, example: field }, value)
    }
  }
  // Many answers wrap what they are about: `{droplet: {name}}`, `{status, meta: {key}}`, `{items: [{project}]}`.
  const wrapped = Object.keys(answer).filter((name) => typeof answer[name] === 'object' && answer[name] !== null)
  const [only, ...others] = wrapped
  if (only === undefined || others.length > 0 || isAbout || Object.hasOwn(input, only)) return answer
  return { ...answer, [only]: echoedIn(definitions, { schemas: fieldsOf(only), example: answer[only] }, input) }
}

/** Each item's own: what is listed is not what was asked with. */
const OWN: ReadonlySet<string> = new Set(['id', 'name', 'type', 'uuid', 'number', 'slug', 'key', 'login', 'username'])

type Definitions = ReturnType<typeof definitionsOf>
type CallInput = Readonly<Record<string, unknown>>

interface Part {
  schemas: ReturnType<typeof flat>
  example: unknown
}

function seedOf(slug: string, input: unknown): string {
  return createHash('sha256').update(slug).update(JSON.stringify(input)).digest('hex')
}

/** Only if it is sure to fit: a field with a rule that is not looked at here keeps its example. */
function takes(definitions: Definitions, field: Readonly<Record<string, unknown>>, value: unknown): boolean {
  if (Object.keys(field).some((word) => !KNOWN_RULES.has(word))) return false
  const { enum: choices } = field
  const format = typeof field['format'] === 'string' ? field['format'] : ''
  if (Array.isArray(choices) && !choices.includes(value)) return false
  const types = [field['type']].flat()
  if (Array.isArray(value)) {
    const items = flat(definitions, [field['items']])
    return types.includes('array') && value.length <= ITEMS_MAX && items.length > 0
      ? value.every((item) => !Array.isArray(item) && items.every((one) => takes(definitions, one, item)))
      : false
  }
  if (field['items'] !== undefined) return false
  if (typeof value === 'number') {
    const isWhole = format === '' || /^u?int/.test(format)
    return types.includes('number') || (types.includes('integer') && Number.isInteger(value) && isWhole)
  }
  if (typeof value === 'boolean') return types.includes('boolean')
  if (typeof value !== 'string' || value.length > 2_000 || !types.includes('string')) return false
  return format === '' || FORMS[format]?.test(value) === true
}

const KNOWN_RULES = new Set(['type', 'description', 'examples', 'title', 'enum', 'format', 'items', 'default'])
const ITEMS_MAX = 100
const FORMS: Readonly<Record<string, RegExp>> = {
  'date-time': /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?Z$/,
  date: /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])$/,
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  email: /^[\w.+-]{1,64}@[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63}){1,5}$/i,
  uri: /^https?:\/\/[a-z0-9.-]{1,200}(\/[\w./~-]{0,500})?$/i,
}
