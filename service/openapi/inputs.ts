import { FILE_SCHEMA, FILES_SCHEMA, type JsonSchema, type Place } from '../tools/model/tool.ts'
import { flattened, isRecord, listOf, type Raw } from '../kit/schema/merge.ts'
import { fitted, plain } from '../kit/schema/bounded.ts'
import { withoutSurrounding } from '../kit/text.ts'
import { OF_THE_WIRE } from './security.ts'

export interface Inputs {
  schema: JsonSchema
  where: Readonly<Record<string, Place>>
  bodyType: string | null
}

/**
 * Parameters and body as one flat object, which models fill in best. The names are those of the document where they are
 * valid; if a name occurs in two places, the place is added to it. Returns the reason as text if no such object is
 * possible.
 */
export function inputsOf(path: Raw, operation: Raw, place: string): Inputs | string {
  const parameters = parametersOf(path, operation, place)
  if (typeof parameters === 'string') return parameters
  const body = bodyOf(operation['requestBody'], place)
  if (typeof body === 'string') return body
  const wanted = parameters.filter(isSendable)
  let where: Inputs['where'] = {}
  const schema = fitted(TRIES, BYTES_MAX, (conversion) => {
    const made = assemble(wanted, body, (given) => conversion.convert(given, 1))
    where = made.where
    return made.schema
  })
  return schema === null ? 'its inputs are too large' : { schema, where, bodyType: body?.type ?? null }
}

/** Tries full detail first, then less depth, and at last no descriptions. */
const TRIES = [
  ...[8, 6, 5, 4, 3, 2].map((depth) => ({ direction: 'input' as const, depth, nodes: 1_500, descriptions: true })),
  ...[4, 3, 2, 1].map((depth) => ({ direction: 'input' as const, depth, nodes: 1_500, descriptions: false })),
]
const BYTES_MAX = 16_000

interface Parameter {
  name: string
  place: string
  required: boolean
  given: Raw
}

/** The operation's own parameters override those of its path. Returns the reason as text where one is none. */
function parametersOf(path: Raw, operation: Raw, place: string): Parameter[] | string {
  const all = new Map<string, Parameter>()
  for (const [list, where] of [
    [path['parameters'], place.slice(0, place.lastIndexOf('/'))],
    [operation['parameters'], place],
  ] as const) {
    if (list !== undefined && list !== null && !Array.isArray(list)) return `${where}/parameters must be a list`
    const items = listOf(list ?? undefined)
    if (items.length > PARAMETERS_MAX) return `${where}/parameters has more than ${String(PARAMETERS_MAX)}`
    for (const [nth, given] of items.entries()) {
      const at = `${where}/parameters/${String(nth)}`
      if (!isRecord(given)) return `${at} must be an object`
      if ('$missing' in given) return missing(at, given)
      const { name, in: kind, required } = given
      if (typeof name !== 'string' || typeof kind !== 'string') return `${at} must have a name and say where it goes`
      if (name === '__proto__') continue
      all.set(`${kind} ${name}`, { name, place: kind, required: kind === 'path' || required === true, given })
    }
  }
  return [...all.values()].sort((one, other) => ORDER.indexOf(one.place) - ORDER.indexOf(other.place))
}

const PARAMETERS_MAX = 500

function missing(place: string, { $missing: reference }: Raw): string {
  return `${place} refers to ${plain(String(reference), 120)}, which is not in the document`
}

const ORDER = ['path', 'query', 'header', 'cookie']

function isSendable({ name, place }: Parameter): boolean {
  if (place === 'cookie') return COOKIE.test(name)
  return place === 'path' || place === 'query' || (place === 'header' && !OURS.has(name.toLowerCase()))
}

const COOKIE = /^[\w!#$%&'*+.^`|~-]{1,100}$/

/** Headers that the call itself sets, even if the document declares them. */
const OURS = new Set([
  ...OF_THE_WIRE,
  ...['accept', 'accept-encoding', 'authorization', 'cookie', 'proxy-authorization', 'user-agent', 'x-forwarded-for'],
])

interface Body {
  type: string
  required: boolean
  schema: Raw
  description: unknown
}

function bodyOf(given: unknown, place: string): Body | null | string {
  const at = `${place}/requestBody`
  if (given === undefined || given === null) return null
  if (!isRecord(given)) return `${at} must be an object`
  if ('$missing' in given) return missing(at, given)
  const content = given['content'] ?? {}
  if (!isRecord(content)) return `${at}/content must be an object`
  const required = given['required'] === true
  const types = Object.keys(content)
  const type = [isJson, isForm, isMultipart, isText, isXml, isFile].flatMap(
    (is) => types.find((name) => is(name)) ?? [],
  )[0]
  if (type === undefined) return types.length > 0 && required ? `it requires a body of type ${types[0] ?? ''}` : null
  const media = content[type]
  const schema = isRecord(media) && isRecord(media['schema']) ? flattened(media['schema']) : {}
  // A program that calls with JSON has the XML as a text.
  if (isXml(type)) return { type, required, schema: { type: 'string' }, description: `XML. ${about(given)}` }
  return { type: isAny(type) ? 'application/json' : type, required, schema, description: given['description'] }
}

/** Of any type, or of a type that the document forgot to name. */
function isAny(type: string): boolean {
  return type === '*/*' || type.trim() === ''
}

function isJson(type: string): boolean {
  return type.trim() === '' || /^(application\/(.+\+)?json|text\/json|\*\/\*)\s*(;|$)/i.test(type)
}

function isForm(type: string): boolean {
  return type.toLowerCase().startsWith('application/x-www-form-urlencoded')
}

function isMultipart(type: string): boolean {
  return type.toLowerCase().startsWith('multipart/form-data')
}

function isText(type: string): boolean {
  return type.toLowerCase().startsWith('text/')
}

function isXml(type: string): boolean {
  return /^application\/(.+\+)?xml\s*(;|$)/i.test(type)
}

function isFile(type: string): boolean {
  return /^(application|audio|font|image|model|video|\*)\/[\w.*+-]+$/i.test(type)
}

function about({ description }: Raw): string {
  return typeof description === 'string' ? description : ''
}

function isFileField(field: unknown): boolean {
  return isRecord(field) && (field['format'] === 'binary' || 'contentMediaType' in field)
}

type Convert = (schema: unknown) => JsonSchema

function assemble(parameters: readonly Parameter[], body: Body | null, convert: Convert): Omit<Inputs, 'bodyType'> {
  const properties: Record<string, JsonSchema> = {}
  const where: Record<string, Place> = {}
  const required: string[] = []

  const add = (place: Place, schema: JsonSchema, isRequired: boolean): void => {
    const name = freeName(place, where)
    properties[name] = schema
    where[name] = place
    if (isRequired) required.push(name)
  }

  for (const { name, place, required: isRequired, given } of parameters) {
    const { schema, json } = schemaOf(given)
    const { style, explode } = given
    const description = typeof given['description'] === 'string' ? given['description'] : ''
    add(
      {
        in: place as Place['in'],
        name,
        ...(typeof style === 'string' ? { style } : {}),
        ...(typeof explode === 'boolean' ? { explode } : {}),
        ...(json ? { json } : {}),
      },
      described(convert(schema), description),
      isRequired,
    )
  }
  if (body !== null) addBody(body, add, convert)
  return {
    schema: {
      type: 'object',
      properties,
      ...(required.length === 0 ? {} : { required }),
      additionalProperties: false,
    },
    where,
  }
}

function addBody(
  body: Body,
  add: (place: Place, schema: JsonSchema, required: boolean) => void,
  convert: Convert,
): void {
  if (isFile(body.type) && !isJson(body.type) && !isXml(body.type) && !isForm(body.type)) {
    add({ in: 'bodyRoot', name: 'file', file: true }, FILE_SCHEMA, true)
    return
  }
  if (!isFlat(body)) {
    const description = typeof body.description === 'string' ? body.description : 'The body of the request'
    const name = 'body'
    add({ in: 'bodyRoot', name }, described(convert(body.schema), description), body.required)
    return
  }
  const fields = Object.entries(body.schema['properties'] as Raw)
  const needed = new Set(body.required ? listOf(body.schema['required']) : [])
  for (const [name, field] of fields) {
    if (name === '__proto__' || (isRecord(field) && field['readOnly'] === true)) continue
    const isList = isRecord(field) && field['type'] === 'array' && isFileField(flattenedItems(field))
    if (isMultipart(body.type) && (isList || isFileField(field)))
      add({ in: 'body', name, file: true }, isList ? FILES_SCHEMA : FILE_SCHEMA, needed.has(name))
    else add({ in: 'body', name }, convert(field), needed.has(name))
  }
}

function flattenedItems({ items }: Raw): unknown {
  return isRecord(items) ? flattened(items) : null
}

/** An object with named fields and no significant others, whose alternatives only say which fields go together. */
function isFlat({ schema, type }: Body): boolean {
  const { properties, additionalProperties: rest } = schema
  if (!isRecord(properties) || Object.keys(properties).length === 0 || isText(type)) return false
  const types = listOf(schema['type'])
  if (types.length > 0 && !types.includes('object')) return false
  if (isRecord(rest) && Object.keys(rest).length > 0) return false
  const ways = [...listOf(schema['oneOf']), ...listOf(schema['anyOf'])]
  return ways.every((way) => isRecord(way) && Object.keys(way).every((key) => key === 'required'))
}

/** A parameter's schema, or the schema of the text format in which it is written. */
function schemaOf(given: Raw): { schema: unknown; json: boolean } {
  if (given['schema'] !== undefined) {
    const { schema, example } = given
    return { schema: isRecord(schema) && example !== undefined ? { example, ...schema } : schema, json: false }
  }
  const [type, media] = Object.entries(isRecord(given['content']) ? given['content'] : {})[0] ?? []
  return { schema: isRecord(media) ? (media['schema'] ?? {}) : {}, json: type !== undefined && isJson(type) }
}

function described(schema: JsonSchema, description: string): JsonSchema {
  return description === '' || schema['description'] !== undefined
    ? schema
    : { ...schema, description: plain(description, DESCRIPTION_MAX) }
}

const DESCRIPTION_MAX = 300

/** Model clients accept letters, digits, `_`, `.` and `-`, at most 64 of them. */
function freeName({ name, in: place }: Place, taken: Readonly<Record<string, Place>>): string {
  const plainName = withoutSurrounding(name.replaceAll(/[^A-Za-z0-9_.-]+/g, '_'), '_').slice(0, 56) || place
  const candidates = [plainName, `${plainName}_${place === 'bodyRoot' ? 'body' : place}`]
  const free = candidates.find((candidate) => !Object.hasOwn(taken, candidate) && candidate !== '__proto__')
  for (let nth = 2; ; nth++) {
    const candidate = free ?? `${plainName}_${String(nth)}`
    if (!Object.hasOwn(taken, candidate)) return candidate
  }
}
