import { parsePattern } from '../pattern.ts'
import { flattened, isRecord, listOf, type Raw } from './merge.ts'

export type JsonSchema = Readonly<Record<string, unknown>>

/**
 * A schema for input leaves out fields that only a server writes; one for output leaves out fields that only a client
 * writes.
 */
export type Direction = 'input' | 'output'

export interface Limits {
  direction: Direction
  /** Below this depth a schema has only its type. */
  depth: number
  /**
   * The limit on nested schemas and characters in one schema. Beyond it `TooLarge` is thrown before all of it was
   * built.
   */
  nodes: number
  bytes: number
  /** Of a nested object, only the first fields are shown. For an answer only, because there no field is required. */
  fields?: number
  /** Without them a schema is half as long. */
  descriptions: boolean
  /** The document that a schema's `$ref` points into. Without it references are not resolved. */
  root?: Raw
}

class TooLarge extends Error {}

/**
 * Converts a foreign schema (OpenAPI 3.0 or 3.1, or JSON Schema) to plain JSON Schema, limited to what draft 7 and
 * 2020-12 have in common. The result has a limited size: many schemas refer to themselves and would grow to megabytes.
 * Leaving something out only loosens the schema, so what fits the document's schema also fits this one.
 */
export class Conversion {
  private readonly limits: Limits
  /** The schemas from the root to the current one. A schema that occurs again refers to itself. */
  private readonly path = new Set<unknown>()
  private nodes = 0
  private bytes = 0

  constructor(limits: Limits) {
    this.limits = limits
  }

  convert(referring: unknown, depth = 0): JsonSchema {
    if (referring === false) return { not: {} }
    const given = this.resolved(referring)
    if (!isRecord(given)) return {}
    const schema = flattened(given)
    if (++this.nodes > this.limits.nodes) throw new TooLarge()
    this.weigh(LEAST_BYTES)
    if (this.path.has(given) || (depth > this.limits.depth && hasParts(schema))) return this.outline(schema)
    this.path.add(given)
    try {
      return this.whole(schema, depth)
    } finally {
      this.path.delete(given)
    }
  }

  private whole(schema: Raw, depth: number): JsonSchema {
    const types = typesOf(schema)
    const out: Record<string, unknown> = { ...typeWord(types), ...this.about(schema, types) }
    const values = valuesOf(schema, types)
    if (values !== null) out['enum'] = values
    if (may(types, 'string')) Object.assign(out, textBounds(schema, this.limits.direction))
    if (may(types, 'number') || may(types, 'integer')) Object.assign(out, numberBounds(schema))
    if (types.includes('array')) {
      Object.assign(
        out,
        whole(schema, ['minItems', 'maxItems']),
        schema['uniqueItems'] === true ? { uniqueItems: true } : {},
      )
      out['items'] = this.convert(schema['items'] ?? {}, depth + 1)
    }
    if (types.includes('object') || isRecord(schema['properties'])) Object.assign(out, this.fields(schema, depth))
    else if (Array.isArray(schema['required']))
      Object.assign(
        out,
        requiredOf(schema, () => true),
      )
    Object.assign(out, this.ways(schema, types, depth))
    return out
  }

  /** The fields of an object for this direction. */
  fields(schema: Raw, depth: number): { properties?: Record<string, JsonSchema>; required?: string[] } {
    const given = isRecord(schema['properties']) ? schema['properties'] : {}
    const shown = Object.entries(given)
      .filter(([name, field]) => name !== '__proto__' && !this.isHidden(field))
      .slice(0, depth === 0 ? undefined : this.limits.fields)
    const isShown = new Set(shown.map(([name]) => name))
    for (const [name] of shown) this.weigh(name.length + 4)
    const properties = Object.fromEntries(shown.map(([name, field]) => [name, this.convert(field, depth + 1)]))
    const rest = schema['additionalProperties']
    const isClosed = rest === false && this.limits.direction === 'input'
    return {
      ...(shown.length === 0 ? {} : { properties }),
      // A required field that the schema does not show could not be filled in, so it is not required here.
      ...requiredOf(schema, (name) =>
        shown.length === 0 && !isClosed ? !Object.hasOwn(given, name) : isShown.has(name),
      ),
      // A server may return more than it declared.
      ...(isClosed ? { additionalProperties: false } : {}),
      ...(isRecord(rest) && Object.keys(rest).length > 0
        ? { additionalProperties: this.convert(rest, depth + 1) }
        : {}),
    }
  }

  /** Follows a short chain of references. A reference to itself resolves to nothing. */
  private resolved(schema: unknown): unknown {
    let found = schema
    for (let hops = 0; isRecord(found) && typeof found['$ref'] === 'string'; hops++) {
      if (hops === HOPS_MAX || this.limits.root === undefined) return {}
      found = pointedAt(this.limits.root, found['$ref'])
    }
    return found
  }

  /** Counts a lower bound of the size. What it rejects would not have fitted. */
  private weigh(bytes: number): void {
    this.bytes += bytes
    if (this.bytes > this.limits.bytes) throw new TooLarge()
  }

  private isHidden(field: unknown): boolean {
    if (!isRecord(field)) return field === false
    return field[this.limits.direction === 'input' ? 'readOnly' : 'writeOnly'] === true
  }

  /**
   * Converts `oneOf` to `anyOf`: in real documents several alternatives often fit one input, and such an input is not
   * wrong.
   */
  private ways(schema: Raw, types: readonly string[], depth: number): JsonSchema {
    const given = [schema['oneOf'], schema['anyOf']].find((ways) => Array.isArray(ways) && ways.length > 0)
    if (given === undefined) return {}
    const ways = (given as unknown[]).map((way) => this.convert(way, depth + 1))
    if (ways.length > WAYS_MAX || ways.some((way) => Object.keys(way).length === 0)) return {}
    if (schema['nullable'] === true && types.length === 0) ways.push({ type: 'null' })
    return { anyOf: ways }
  }

  private outline(schema: Raw): JsonSchema {
    const types = typesOf(schema)
    return { ...typeWord(types), ...this.about(schema, types, OUTLINE_DESCRIPTION_MAX) }
  }

  private about(schema: Raw, types: readonly string[], longest = DESCRIPTION_MAX): JsonSchema {
    const { description, default: standard } = schema
    const example = schema['example'] ?? listOf(schema['examples'])[0]
    const about = this.limits.descriptions && typeof description === 'string' ? plain(description, longest) : ''
    this.weigh(about.length)
    return {
      ...(about === '' ? {} : { description: about }),
      ...(this.limits.direction === 'input' && isScalar(standard) ? { default: standard } : {}),
      ...(this.limits.descriptions && isExample(example, schema, types) ? { examples: [example] } : {}),
    }
  }
}

/** Text for a model: no links, no tags, one line, cut at the end of a word. */
export function plain(text: string, longest: number): string {
  const short = text
    .slice(0, longest * 4)
    .replaceAll(/!?\[([^\][]*)\]\([^()]*\)/g, '$1')
    .replaceAll(/<\/?[a-zA-Z][^<>]*>/g, ' ')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  if (short.length <= longest) return short
  // Half of a character that takes two places would not be stored.
  const cut = short.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')
  const space = cut.lastIndexOf(' ')
  return `${space < 0 ? cut : cut.slice(0, space)}…`
}

const HOPS_MAX = 10
/** `"a":{},` */
const LEAST_BYTES = 3
const DESCRIPTION_MAX = 240
const OUTLINE_DESCRIPTION_MAX = 80
const EXAMPLE_MAX = 120
const WAYS_MAX = 16
const VALUES_MAX = 250

function pointedAt(root: Raw, pointer: string): unknown {
  if (!pointer.startsWith('#')) return {}
  let found: unknown = root
  for (const step of pointer.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if (!isRecord(found) || !Object.hasOwn(found, key)) return {}
    found = found[key]
  }
  return found
}

/** Whether it has nested schemas. Without them it is as short as its outline. */
function hasParts(schema: Raw): boolean {
  return PARTS.some((word) => typeof schema[word] === 'object')
}

const PARTS = ['properties', 'additionalProperties', 'items', 'oneOf', 'anyOf']

function typesOf(schema: Raw): string[] {
  const declared = listOf(schema['type']).filter((type): type is string => typeof type === 'string' && TYPES.has(type))
  const types = declared.length > 0 ? [...new Set(declared)] : inferred(schema)
  if (schema['nullable'] === true && types.length > 0 && !types.includes('null')) types.push('null')
  return types
}

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'])

function inferred(schema: Raw): string[] {
  if (isRecord(schema['properties'])) return ['object']
  if ('items' in schema) return ['array']
  return []
}

function typeWord(types: readonly string[]): JsonSchema {
  return types.length === 0 ? {} : { type: types.length === 1 ? types[0] : [...types] }
}

function may(types: readonly string[], type: string): boolean {
  return types.includes(type)
}

function valuesOf(schema: Raw, types: readonly string[]): unknown[] | null {
  const given = 'const' in schema ? [schema['const']] : schema['enum']
  if (!Array.isArray(given) || given.length === 0 || given.length > VALUES_MAX) return null
  const values = given.filter((value) => isScalar(value) || value === null)
  // Part of a list would refuse values that the document allows.
  if (values.length !== given.length) return null
  if (types.includes('null') && !values.includes(null)) values.push(null)
  const fitting = [...new Set(values)].filter((value) => value === null || isOf(value, types))
  return fitting.length === 0 ? null : fitting
}

function textBounds(schema: Raw, direction: Direction): JsonSchema {
  const { format, pattern } = schema
  return {
    ...whole(schema, ['minLength', 'maxLength']),
    ...(typeof format === 'string' && FORMATS.has(format) ? { format } : {}),
    // A foreign pattern may take years on a malicious text. Only patterns that can be matched in linear time stay, and
    // inputs must be matched that way. Answers are not checked.
    ...(direction === 'input' && typeof pattern === 'string' && typeof parsePattern(pattern) !== 'string'
      ? { pattern }
      : {}),
  }
}

/** Formats that every validator checks the same way. */
const FORMATS = new Set(['date-time', 'date', 'time', 'email', 'uri', 'uuid', 'ipv4', 'ipv6', 'hostname'])

function numberBounds(schema: Raw): JsonSchema {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
  return {
    // In 3.0 this is a flag beside the bound, in 3.1 a bound of its own.
    ...(typeof minimum === 'number' ? { [exclusiveMinimum === true ? 'exclusiveMinimum' : 'minimum']: minimum } : {}),
    ...(typeof maximum === 'number' ? { [exclusiveMaximum === true ? 'exclusiveMaximum' : 'maximum']: maximum } : {}),
    ...(typeof exclusiveMinimum === 'number' ? { exclusiveMinimum } : {}),
    ...(typeof exclusiveMaximum === 'number' ? { exclusiveMaximum } : {}),
    // With floating-point numbers 0.1 is no multiple of 0.01.
    ...(Number.isInteger(multipleOf) && Number(multipleOf) > 0 ? { multipleOf } : {}),
  }
}

function requiredOf(schema: Raw, isShown: (name: string) => boolean): { required?: string[] } {
  const required = listOf(schema['required']).filter(
    (name): name is string => typeof name === 'string' && name !== '__proto__' && isShown(name),
  )
  return required.length === 0 ? {} : { required: [...new Set(required)] }
}

function whole(schema: Raw, keys: readonly string[]): JsonSchema {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = schema[key]
      return Number.isSafeInteger(value) && Number(value) >= 0 ? [[key, value]] : []
    }),
  )
}

function isScalar(value: unknown): value is string | number | boolean {
  return (
    (typeof value === 'string' && value.length <= EXAMPLE_MAX) || Number.isFinite(value) || typeof value === 'boolean'
  )
}

/** Whether the example fits the schema. Examples are written by hand, and some are older than their schema. */
function isExample(value: unknown, schema: Raw, types: readonly string[]): boolean {
  if (!isScalar(value) || !isOf(value, types) || 'enum' in schema || 'const' in schema) return false
  if (typeof value === 'number') return !('minimum' in schema) && !('maximum' in schema) && !('multipleOf' in schema)
  if (typeof value !== 'string') return true
  const { format, pattern } = schema
  if ('minLength' in schema || 'maxLength' in schema || pattern !== undefined) return false
  return format === 'uri' ? /^https?:\/\/[^\s{}<>"]+$/.test(value) : typeof format !== 'string' || !FORMATS.has(format)
}

function isOf(value: unknown, types: readonly string[]): boolean {
  if (types.length === 0) return true
  if (typeof value === 'number')
    return types.includes('number') || (types.includes('integer') && Number.isInteger(value))
  return types.includes(typeof value)
}

/** The first candidate that fits into the given number of characters, or null. */
export function fitted(
  tries: readonly Omit<Limits, 'bytes'>[],
  bytes: number,
  make: (conversion: Conversion) => JsonSchema,
): JsonSchema | null {
  for (const limits of tries) {
    try {
      const made = make(new Conversion({ ...limits, bytes }))
      if (JSON.stringify(made).length <= bytes) return made
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error
    }
  }
  return null
}
