import { parsePattern } from '../kit/pattern.ts'
import { isRecord } from '../kit/schema/merge.ts'
import type { JsonSchema } from '../tools/model/tool.ts'
import { fieldOf, FORMATS, numberFor, textFor } from './vocabulary.ts'

/**
 * Replaces what a generated example has in place of a real value, `"string"`, `0`, `property1` and the one date, address or
 * id of each format, with one that fits the field's name. Examples and enumerations of the document stay, and what is made
 * fits its patterns. The same seed gives the same values.
 */
export function plausible(schema: JsonSchema, example: unknown, seed: string): unknown {
  const definitions = definitionsOf(schema)
  return filled({ definitions, seed }, example, { schemas: flat(definitions, [schema]), path: '', isOfPerson: false })
}

export function definitionsOf(schema: JsonSchema): Filling['definitions'] {
  return isRecord(schema['definitions']) ? schema['definitions'] : {}
}

interface Filling {
  definitions: Readonly<Record<string, unknown>>
  seed: string
}

type Schema = Readonly<Record<string, unknown>>

/** Where a value stands. */
interface Spot {
  schemas: readonly Schema[]
  path: string
  /** Its neighbours are those of a person. */
  isOfPerson: boolean
}

/** It follows the example, which is finite, and not the schema, which may refer to itself. */
function filled(filling: Filling, value: unknown, spot: Spot): unknown {
  if (Array.isArray(value)) return filledList(filling, value, spot)
  if (isRecord(value)) return filledRecord(filling, value, spot)
  if (spot.schemas.length === 0) return value
  return typeof value === 'string' || value === 0 ? filledValue(filling, value, spot) : value
}

function filledList({ definitions, seed }: Filling, list: readonly unknown[], { schemas, path }: Spot): unknown[] {
  const items = flat(
    definitions,
    schemas.map((one) => one['items']),
  )
  return list.map((item, place) => {
    const at = `${path}/${String(place)}`
    const isOpen = items.every(saysNothing) && (item === null || (isRecord(item) && Object.keys(item).length === 0))
    if (isOpen) return thingFor(at, seed)
    return filled({ definitions, seed }, item, { schemas: items, path: at, isOfPerson: false })
  })
}

function filledRecord(filling: Filling, record: Schema, { schemas, path }: Spot): Record<string, unknown> {
  const answer: Record<string, unknown> = {}
  const isOfPerson = PERSONAL.some((name) => Object.hasOwn(record, name))
  for (const [name, field] of Object.entries(record)) {
    const named = schemas.map((one) => (isRecord(one['properties']) ? one['properties'][name] : undefined))
    const isAnyName = /^property[12]$/.test(name) && named.every((one) => one === undefined)
    const fields = flat(
      filling.definitions,
      schemas.map((one, place) => named[place] ?? one['additionalProperties']),
    )
    // A map's values are named as the map is.
    const at = isAnyName ? `${path}/${name.slice(-1)}` : `${path}/${name}`
    const key = isAnyName ? textFor(fieldOf(`${path}/name/${name.slice(-1)}`, filling.seed)) : name
    const unique = Object.hasOwn(answer, key) ? `${key}-2` : key
    const isFault = Array.isArray(field) && FAULTS.test(name) && fields.every((one) => one['minItems'] === undefined)
    answer[unique] = isFault ? [] : filled(filling, field, { schemas: fields, path: at, isOfPerson })
  }
  return answer
}

/** A success has none. */
const FAULTS = /^(errors?|warnings?|failures?|failed)$/i

const PERSONAL = ['email', 'login', 'username', 'first_name', 'firstName']

function filledValue({ seed }: Filling, value: string | 0, { schemas, path, isOfPerson }: Spot): unknown {
  if (typeof value === 'string' && schemas.some(hasExamples)) return unquoted(value)
  if (schemas.some(hasOwnValues)) return value
  const field = fieldOf(path, seed, isOfPerson)
  const format = schemas.map((one) => one['format']).find((one) => typeof one === 'string')
  if (typeof value === 'string' && format !== undefined) {
    const [general, make] = FORMATS[format] ?? []
    const made = general?.test(value) === true ? make?.(field) : undefined
    return made !== undefined && schemas.every((one) => isWithin(one, made)) ? made : value
  }
  if (format !== undefined ? !/^(u?int|float|double|decimal)/.test(format) : !isPlaceholder(value)) return value
  const made = typeof value === 'string' ? textFor(field) : numberFor(field)
  const fits = format === undefined || Number.isInteger(made)
  return fits && schemas.every((one) => isWithin(one, made)) ? made : value
}

/** Some documents quote their examples once more. */
function unquoted(example: string): string {
  return /^"([^"\\]*)"$/.exec(example)?.[1] ?? example
}

/** A document that leaves open what is in a list. */
function saysNothing(schema: Schema): boolean {
  return Object.keys(schema).every((word) => word === 'description' || word === 'title' || word.startsWith('x-'))
}

function thingFor(path: string, seed: string): Record<string, string> {
  return Object.fromEntries(['id', 'title', 'url'].map((name) => [name, textFor(fieldOf(`${path}/${name}`, seed))]))
}

/** The schemas that hold together, as the example was made: the first one of alternatives. */
export function flat(definitions: Filling['definitions'], schemas: readonly unknown[], depth = 0): Schema[] {
  if (depth > DEPTH_MAX) return []
  return schemas.filter(isRecord).flatMap((one) => {
    const ref = typeof one['$ref'] === 'string' ? definitions[one['$ref'].replace('#/definitions/', '')] : undefined
    const all: unknown[] = Array.isArray(one['allOf']) ? one['allOf'] : []
    const first = [one['oneOf'], one['anyOf']].map((list): unknown => (Array.isArray(list) ? list[0] : undefined))
    return [one, ...flat(definitions, [ref, ...all, ...first], depth + 1)]
  })
}

const DEPTH_MAX = 8

function isPlaceholder(value: string | 0): boolean {
  if (value === 0) return true
  return value !== '' && 'string'.repeat(Math.ceil(value.length / 6)).startsWith(value)
}

function hasOwnValues(schema: Schema): boolean {
  return OWN_VALUES.some((word) => schema[word] !== undefined)
}

const OWN_VALUES = ['enum', 'const', 'example', 'examples', 'default', 'multipleOf']

function hasExamples(schema: Schema): boolean {
  return schema['examples'] !== undefined && schema['enum'] === undefined && schema['pattern'] === undefined
}

function isWithin(schema: Schema, value: string | number): boolean {
  const at = (name: string, otherwise: number): number => (typeof schema[name] === 'number' ? schema[name] : otherwise)
  const { pattern } = schema
  // One that cannot be checked in linear time keeps the example.
  const parsed = typeof pattern === 'string' ? parsePattern(pattern) : null
  if (typeof parsed === 'string' || parsed?.matches(String(value)) === false) return false
  return typeof value === 'string'
    ? value.length >= at('minLength', 0) && value.length <= at('maxLength', Infinity)
    : value >= at('minimum', -Infinity) &&
        value <= at('maximum', Infinity) &&
        value > at('exclusiveMinimum', -Infinity) &&
        value < at('exclusiveMaximum', Infinity)
}
