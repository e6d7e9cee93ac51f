import { resolved, type Document, type Schema } from './document.ts'

/** One row of a table of fields. */
export interface Field {
  name: string
  type: string
  required: boolean
  notes: string
}

/** All fields of a schema; nested ones are named by their path: `product.name`, `fields[].label`. */
export function fieldsOf(document: Document, schema: Schema, prefix = '', depth = 0): Field[] {
  const whole = merged(document, schema)
  return Object.entries(whole.properties ?? {}).flatMap(([name, property]) => {
    const at = `${prefix}${name}`
    const field = merged(document, property)
    const required = whole.required?.includes(name) === true
    const line = { name: at, type: typeOf(document, property), required, notes: notesOf(document, field) }
    return depth >= DEPTH_MAX ? [line] : [line, ...inside(document, field, at, depth + 1)]
  })
}

const DEPTH_MAX = 4

function inside(document: Document, field: Schema, at: string, depth: number): Field[] {
  const variants = (field.anyOf ?? field.oneOf ?? []).map((one) => merged(document, one))
  const object = [field, ...variants].find(({ properties }) => properties !== undefined)
  if (object !== undefined) return fieldsOf(document, object, `${at}.`, depth)
  const list = [field, ...variants].find(({ items }) => items !== undefined)
  return list?.items === undefined ? [] : fieldsOf(document, list.items, `${at}[].`, depth)
}

/** Merges a schema with its `allOf` parts. */
function merged(document: Document, schema: Schema): Schema {
  const { allOf, ...own } = resolved(document, schema)
  const parts = (allOf ?? []).map((part) => merged(document, part))
  const whole = [...parts, own]
  const properties = Object.assign({}, ...whole.map((part) => part.properties ?? {})) as Record<string, Schema>
  return {
    ...Object.assign({}, ...whole),
    ...(Object.keys(properties).length > 0 && { properties }),
    required: whole.flatMap((part) => part.required ?? []),
  } as Schema
}

function typeOf(document: Document, schema: Schema): string {
  const { type, items, anyOf, oneOf, format, const: only, enum: values } = merged(document, schema)
  if (only !== undefined) return JSON.stringify(only)
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' or ')
  const variants = anyOf ?? oneOf
  if (variants !== undefined) return [...new Set(variants.map((one) => typeOf(document, one)))].join(' or ')
  if (items !== undefined) return `list of ${typeOf(document, items)}`
  const names = typeof type === 'string' ? [type] : (type ?? ['any'])
  return `${names.join(' or ')}${format === undefined ? '' : ` (${format})`}`
}

function notesOf(document: Document, field: Schema): string {
  const [bounded = field] = (field.anyOf ?? [])
    .map((one) => merged(document, one))
    .filter(({ type }) => type !== 'null')
  const items = field.items === undefined ? [] : boundsOf(merged(document, field.items))
  const limits = [
    ...boundsOf({ ...bounded, ...field }),
    ...(items.length === 0 ? [] : [`each ${items.join(', ')}`]),
    ...(field.default === undefined ? [] : [`default ${JSON.stringify(field.default)}`]),
  ]
  const description = field.description ?? ''
  const sentence = description === '' || /[.!?]$/.test(description) ? description : `${description}.`
  const bounds = limits.join(', ')
  return [sentence, bounds === '' ? '' : `${bounds.charAt(0).toUpperCase()}${bounds.slice(1)}.`].join(' ').trim()
}

/** The limits of a value, each in a few words. */
function boundsOf(field: Schema): string[] {
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum } = field
  const pattern =
    field.format === undefined && (field.pattern?.length ?? Infinity) <= PATTERN_MAX ? field.pattern : null
  const bounds: (readonly [number | undefined, (bound: string) => string])[] = [
    [minimum, (least) => `at least ${least}`],
    [exclusiveMinimum, (least) => `more than ${least}`],
    [maximum, (most) => `at most ${most}`],
    [exclusiveMaximum, (most) => `less than ${most}`],
    [field.minLength, (least) => (least === '1' ? 'not empty' : `at least ${least} characters`)],
    [field.maxLength, (most) => `at most ${most} characters`],
    [field.minItems, (least) => `at least ${least} ${least === '1' ? 'entry' : 'entries'}`],
    [field.maxItems, (most) => `at most ${most} entries`],
    [field.maxProperties, (most) => `at most ${most} names`],
  ]
  return [
    ...bounds.flatMap(([bound, say]) => (bound === undefined ? [] : [say(String(bound))])),
    ...(pattern == null ? [] : [`matches ${pattern}`]),
  ]
}

/** A longer pattern is of no use to a reader. */
const PATTERN_MAX = 80

/** The shortest value that the schema accepts, for a sample. */
export function sampleOf(document: Document, schema: Schema, name = '', depth = 0): unknown {
  const field = merged(document, schema)
  const given = field.example ?? field.examples?.[0] ?? field.default ?? field.const ?? field.enum?.[0]
  if (given !== undefined) return given
  const variants = field.anyOf ?? field.oneOf
  if (variants?.[0] !== undefined) return sampleOf(document, variants[0], name, depth)
  const type = typeof field.type === 'string' ? field.type : field.type?.[0]
  if (field.properties !== undefined) return objectSample(document, field, depth)
  if (type === 'array')
    return field.items === undefined || depth > DEPTH_MAX ? [] : [sampleOf(document, field.items, name, depth + 1)]
  if (type === 'number' || type === 'integer') return field.minimum ?? (type === 'integer' ? 1 : 0.5)
  if (type === 'boolean') return true
  if (type === 'object') return {}
  return type === 'null' ? null : textSample(name, field)
}

function objectSample(document: Document, field: Schema, depth: number): Record<string, unknown> {
  const entries = Object.entries(field.properties ?? {})
  const wanted = entries.filter(([name]) => field.required?.includes(name) === true)
  const shown = depth > DEPTH_MAX ? [] : wanted.length > 0 ? wanted : entries.slice(0, 1)
  return Object.fromEntries(shown.map(([name, property]) => [name, sampleOf(document, property, name, depth + 1)]))
}

function textSample(name: string, { format, pattern }: Schema): string {
  if (format === 'date-time' || name.endsWith('At')) return '2026-01-31T12:00:00.000Z'
  if (format === 'uri' || /url$/i.test(name)) return 'https://example.com/'
  if (format === 'email') return 'ada@example.com'
  if (/^(?:recipient|to|address|payer|payTo)$/.test(name)) return '0x71C7656EC7ab88b098defB751B7401B5f6d8976F'
  const prefix = /^\^?([a-z]{3,4})_/.exec(pattern ?? '')?.[1]
  return prefix === undefined ? `${name === '' ? 'text' : name}…` : `${prefix}_01k…`
}
