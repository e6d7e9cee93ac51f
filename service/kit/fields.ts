import { z } from 'zod'
import { faultOfCondition, inWords, shownNames } from './conditions.ts'
import { faultOfJsonShape } from './json-shape.ts'
import { parsePattern, PatternBudget } from './pattern.ts'
import { ONE_LINE, withScheme } from './text.ts'

/** An input of a checkout or a run. */
export interface Field extends Omit<z.infer<typeof fieldOut>, 'default'> {
  /** Used when nothing is filled in. */
  default: Json
}

export type FieldType = (typeof FIELD_TYPES)[number]

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

const FIELD_TYPES = ['text', 'textarea', 'number', 'boolean', 'select', 'url', 'email', 'date', 'json', 'file'] as const

/**
 * The values of the fields, with defaults for missing ones, or the faults by field. Unknown fields are refused. An
 * empty text counts as missing, because a form sends it for an untouched field.
 */
export function readInput(
  fields: readonly Field[],
  given: Readonly<Record<string, unknown>>,
  { lines = false }: { lines?: boolean } = {},
): Input {
  // A map, because a field may have the name of a property that every object has.
  const faults = new Map<string, string>()
  const values: [string, Json][] = []
  const known = new Set(fields.map(({ name }) => name))
  const budget = new PatternBudget()
  for (const name of Object.keys(given)) if (!known.has(name)) faults.set(name.slice(0, NAME_MAX), 'is not known')
  const valueOf = ({ name }: Field): unknown => (Object.hasOwn(given, name) ? given[name] : undefined)
  const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === ''
  const shown = shownNames(fields, (field) => (isEmpty(valueOf(field)) ? field.default : valueOf(field)))
  for (const field of fields) {
    // What a form hides is not filled in, and a value that was typed before it was hidden is not meant.
    if (!shown.has(field.name)) continue
    const value = valueOf(field)
    if (value === undefined || value === null || value === '') {
      if (field.default !== null) values.push([field.name, field.default])
      else if (field.required) faults.set(field.name, 'is required')
      continue
    }
    const read = readValue(field, value, { budget, lines })
    if (read.fault === null) values.push([field.name, read.value])
    else faults.set(field.name, read.fault)
  }
  return faults.size > 0 ? { faults: Object.fromEntries(faults) } : { values: Object.fromEntries(values) }
}

/** Sample values, to try a form without filling it in; patterns are not considered. */
export function sampleInput(fields: readonly Field[]): Readonly<Record<string, Json>> {
  return Object.fromEntries(fields.map((field) => [field.name, field.default ?? sampleOf(field)]))
}

function sampleOf({ type, options, min, max }: Field): Json {
  switch (type) {
    case 'number':
      return min ?? max ?? 1
    case 'boolean':
      return true
    case 'select':
      return options?.[0] ?? ''
    case 'url':
    case 'file':
      return 'https://example.com/'
    case 'email':
      return 'somebody@example.com'
    case 'date':
      return '2030-01-31'
    case 'json':
      return {}
    case 'text':
    case 'textarea':
      return 'Example'.padEnd(min ?? 0, '.').slice(0, max ?? undefined)
  }
}

export type Input = { values: Readonly<Record<string, Json>> } | { faults: Readonly<Record<string, string>> }

interface Reading {
  budget: PatternBudget
  /** Whether a `text` may have line breaks. A form shows it on one line, but a program may send several. */
  lines: boolean
}

type Read = { fault: null; value: Json } | { fault: string }

function readValue(
  field: Field,
  value: unknown,
  reading: Reading = { budget: new PatternBudget(), lines: false },
): Read {
  switch (field.type) {
    case 'number':
      return readNumber(field, value)
    case 'boolean':
      return typeof value === 'boolean' ? { fault: null, value } : { fault: 'must be true or false' }
    case 'json':
      return readJson(value)
    case 'date':
      return typeof value === 'string' && isDate(value)
        ? { fault: null, value }
        : { fault: 'must be a date, as YYYY-MM-DD' }
    case 'select':
      return typeof value === 'string' && field.options?.includes(value) === true
        ? { fault: null, value }
        : { fault: `must be one of ${(field.options ?? []).join(', ')}` }
    case 'text':
    case 'textarea':
    case 'url':
    case 'email':
    case 'file':
      return readText(field, value, reading)
  }
}

function readNumber({ min, max }: Field, value: unknown): Read {
  // A number that JavaScript cannot hold exactly arrives as an object, and is refused here.
  if (typeof value !== 'number' || !Number.isFinite(value)) return { fault: 'must be a number' }
  if (min !== null && value < min) return { fault: `must be at least ${String(min)}` }
  if (max !== null && value > max) return { fault: `must be at most ${String(max)}` }
  return { fault: null, value }
}

function readText(
  { type, min, max, pattern, patternMessage }: Field,
  given: unknown,
  { budget, lines }: Reading,
): Read {
  const value = type === 'url' && typeof given === 'string' ? withScheme(given) : given
  if (typeof value !== 'string') return { fault: 'must be a text' }
  const fault = faultOfText(value)
  if (fault !== null) return { fault }
  const length = Array.from(value).length
  const longest = Math.min(max ?? Infinity, LENGTH_MAX[type])
  if (min !== null && length < min) return { fault: `must have at least ${String(min)} characters` }
  if (length > longest) return { fault: `must have at most ${String(longest)} characters` }
  if (type === 'text' && !lines && /[\r\n]/.test(value)) return { fault: 'must be a single line' }
  if ((type === 'url' || type === 'file') && !isWebAddress(value)) return { fault: 'must be an http or https address' }
  if (type === 'email' && !(EMAIL.test(value) && ONE_LINE.test(value))) return { fault: 'must be an e-mail address' }
  const isMatch = pattern === null || fits(pattern, value, budget)
  if (isMatch === null) return { fault: 'is too long to be compared with its pattern: send a shorter text' }
  if (!isMatch) return { fault: patternMessage ?? `must match ${pattern}` }
  return { fault: null, value }
}

/** A text is parsed as JSON, because a form sends text. Any other value is already JSON. */
function readJson(value: unknown): Read {
  let read = value
  if (typeof value === 'string') {
    const misshapen = faultOfJsonShape(value)
    if (misshapen !== null) return { fault: misshapen }
    try {
      read = JSON.parse(value) as unknown
    } catch {
      return { fault: 'must be JSON' }
    }
  }
  const fault = faultOfJson(read, 0)
  return fault === null ? { fault: null, value: read as Json } : { fault }
}

/** The depth is bounded, because later steps walk the JSON recursively. */
function faultOfJson(value: unknown, depth: number): string | null {
  if (depth > DEPTH_MAX) return `must not be nested deeper than ${String(DEPTH_MAX)} levels`
  if (typeof value === 'string') return faultOfText(value)
  if (value === null || typeof value !== 'object') return null
  if (value instanceof Number) return 'must have numbers of at most 15 digits'
  for (const [name, inner] of Object.entries(value)) {
    const fault = faultOfText(name) ?? faultOfJson(inner, depth + 1)
    if (fault !== null) return fault
  }
  return null
}

/** Characters that PostgreSQL and many other programs cannot store as text. */
function faultOfText(text: string): string | null {
  if (text.includes('\0')) return 'must not contain a NUL character'
  return /\p{Surrogate}/u.test(text) ? 'must be well-formed text' : null
}

/** A day of the calendar, without a time or a zone: 2030-02-30 is none. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const day = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
}

/** An absolute web address: never `javascript:` or the like. */
export function isWebAddress(text: string): boolean {
  // The URL parser drops line breaks and keeps characters that change the text direction, so both are refused first.
  if (!ONE_LINE.test(text) || !URL.canParse(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  return (protocol === 'https:' || protocol === 'http:') && hostname !== '' && username === '' && password === ''
}

/** Null when the budget does not allow the check. */
function fits(pattern: string, value: string, budget: PatternBudget): boolean | null {
  const parsed = parsePattern(pattern)
  return typeof parsed === 'string' ? false : budget.matches(parsed, value)
}

const NAME_MAX = 64
const DEPTH_MAX = 32
const LENGTH_MAX: Readonly<Record<FieldType, number>> = {
  text: 10_000,
  // A text area may be as large as a request body, and larger bodies are refused before they are read.
  textarea: Infinity,
  url: 2_048,
  file: 2_048,
  email: 254,
  date: 10,
  json: Infinity,
  select: 200,
  number: 0,
  boolean: 0,
}
const EMAIL = /^[^\s@]{1,64}@[^\s@.]+(\.[^\s@.]+)+$/
const TEXTS: ReadonlySet<string> = new Set(['text', 'textarea', 'url', 'email', 'file'])

/** The same on one line: a name, a label. */
export function plainLine(longest: number) {
  return plainText(longest).regex(ONE_LINE, 'must be one line of text')
}

/** A text that is stored and shown: not empty, within bounds, and storable by PostgreSQL. */
export function plainText(longest: number) {
  return z
    .string()
    .min(1)
    .max(longest)
    .refine((text) => faultOfText(text) === null, 'must be well-formed text without NUL characters')
}

const name = z
  .string()
  .max(NAME_MAX)
  .regex(/^[A-Za-z][A-Za-z0-9_]*$/, 'must begin with a letter and have only letters, digits and _')
  .refine((text) => !(text in Object.prototype), 'is a name that programs keep for themselves')

/** One field as its owner describes it. When two parts contradict each other, the later one gets the fault. */
const fieldSchema = z
  .strictObject({
    name,
    label: plainLine(200).nullish().meta({ description: 'The name when absent' }),
    type: z.enum(FIELD_TYPES),
    required: z.boolean().nullish(),
    placeholder: plainText(200).nullish(),
    options: z.array(plainText(200)).min(1).max(100).nullish().meta({ description: 'For `select`' }),
    description: plainText(1_000).nullish(),
    default: z.unknown().optional().meta({ description: 'Taken when nothing is filled in' }),
    min: z.number().nullish().meta({ description: 'The least number, or the shortest length of a text; none if null' }),
    max: z
      .number()
      .nullish()
      .meta({ description: 'The largest number, or the longest length of a text; none if null' }),
    pattern: plainText(256).nullish().meta({ description: 'The whole text must match it; no lookaround' }),
    patternMessage: plainLine(200)
      .nullish()
      .meta({ description: 'What to answer to a text that does not match `pattern`, like "must be an order number"' }),
    showIf: z
      .strictObject({ field: name, equals: z.union([z.boolean(), plainText(200)]) })
      .nullish()
      .meta({
        description:
          'Shown only while the `select` or `boolean` field above has this value. Otherwise its value is ignored, and it is not required',
      }),
  })
  .transform((given, context): Field => {
    const field: Field = {
      name: given.name,
      label: given.label ?? given.name,
      type: given.type,
      required: given.required ?? false,
      placeholder: given.placeholder ?? null,
      options: given.options ?? null,
      description: given.description ?? null,
      default: null,
      min: given.min ?? null,
      max: given.max ?? null,
      pattern: given.pattern ?? null,
      patternMessage: given.patternMessage ?? null,
      ...(given.showIf == null ? {} : { showIf: given.showIf }),
    }
    const faults = faultsOf(field)
    for (const [part, message] of faults) context.addIssue({ code: 'custom', path: [part], message })
    if (faults.length > 0 || given.default == null) return field
    const read = readValue(field, given.default)
    if (read.fault === null) return { ...field, default: read.value }
    context.addIssue({ code: 'custom', path: ['default'], message: read.fault })
    return z.NEVER
  })

function faultsOf({ type, options, min, max, pattern, patternMessage }: Field): [string, string][] {
  const faults: [string, string][] = []
  const isText = TEXTS.has(type)
  if (type === 'select' && options === null) faults.push(['options', 'is required for a select'])
  if (type !== 'select' && options !== null) faults.push(['options', 'is for a select only'])
  if (options !== null && new Set(options).size < options.length) faults.push(['options', 'must not repeat an option'])
  for (const [part, bound] of [['min', min] as const, ['max', max] as const]) {
    if (bound === null) continue
    if (type !== 'number' && !isText) faults.push([part, 'is for numbers and texts only'])
    else if (isText && !(Number.isSafeInteger(bound) && bound >= 0)) faults.push([part, 'must be a length'])
  }
  if (min !== null && max !== null && min > max) faults.push(['max', 'must not be less than min'])
  if (patternMessage !== null && pattern === null) faults.push(['patternMessage', 'is for a field with a pattern only'])
  if (pattern !== null && !isText) faults.push(['pattern', 'is for texts only'])
  const parsed = pattern === null ? null : parsePattern(pattern)
  if (typeof parsed === 'string') faults.push(['pattern', parsed])
  return faults
}

export const FIELDS_MAX = 50

/** All fields of a form, each name once. */
export const fieldsSchema = z
  .array(fieldSchema)
  .max(FIELDS_MAX)
  .superRefine((fields, context) => {
    const seen = new Set<string>()
    for (const [place, field] of fields.entries()) {
      if (seen.has(field.name)) {
        context.addIssue({ code: 'custom', path: [place, 'name'], message: 'is the name of another field already' })
      }
      seen.add(field.name)
      // A field with a fault of its own comes here as it was sent, with a null that is taken away otherwise.
      const { showIf = null } = field as { showIf?: Field['showIf'] | null }
      const fault = showIf === null ? null : faultOfCondition(showIf, fields.slice(0, place))
      if (fault !== null) context.addIssue({ code: 'custom', path: [place, 'showIf'], message: fault })
    }
  })

export const fieldOut = z
  .object({
    name: z.string(),
    label: z.string(),
    type: z.enum(FIELD_TYPES),
    required: z.boolean(),
    placeholder: z.string().nullable(),
    // The choices of a `select`.
    options: z.array(z.string()).readonly().nullable(),
    description: z.string().nullable(),
    default: z.unknown(),
    // The least and largest value of a number, the shortest and longest length of a text.
    min: z.number().nullable(),
    max: z.number().nullable(),
    // The whole text must match it. The message is the owner's own; absent in what was stored before there was one.
    pattern: z.string().nullable(),
    patternMessage: z.string().nullish(),
    // Absent where the field is always shown.
    showIf: z.object({ field: z.string(), equals: z.union([z.boolean(), z.string()]) }).optional(),
  })
  .meta({ id: 'Field' })

/**
 * For programs that fill in the fields. `readInput` checks the values; this schema has only what a caller must know.
 */
export function toJsonSchema(fields: readonly Field[]): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, toProperty(field)])),
    required: fields.filter(({ required, showIf }) => required && showIf === undefined).map(({ name }) => name),
    additionalProperties: false,
  }
}

type JsonSchema = Readonly<Record<string, unknown>>

function toProperty(field: Field): JsonSchema {
  const { type, label, description, options, min, max, default: standard, showIf } = field
  const named = description === null ? label : `${label}. ${description}`
  const about = showIf === undefined ? named : `${named}. ${inWords(showIf, field.required)}`
  const common = { description: about, ...(standard === null ? {} : { default: standard }) }
  switch (type) {
    case 'number':
      return { type: 'number', ...common, ...bound('minimum', min), ...bound('maximum', max) }
    case 'boolean':
      return { type: 'boolean', ...common }
    case 'date':
      return { type: 'string', format: 'date', ...common }
    case 'select':
      return { type: 'string', ...common, ...(options === null ? {} : { enum: options }) }
    case 'json':
      return common
    case 'text':
    case 'textarea':
    case 'url':
    case 'email':
    case 'file':
      return { type: 'string', ...common, ...bound('minLength', min), ...bound('maxLength', max) }
  }
}

function bound(word: string, value: number | null): JsonSchema {
  return value === null ? {} : { [word]: value }
}
