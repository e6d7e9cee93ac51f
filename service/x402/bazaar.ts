import { fitted, type JsonSchema, type Limits } from '../kit/schema/bounded.ts'
import { isRecord, type Raw } from '../kit/schema/merge.ts'
import type { PaymentRequest } from './model.ts'

/** How a resource is called, as x402's `bazaar` extension describes it: an example, and the schema that it fits. */
export interface Bazaar {
  info: { input: Raw; output?: Raw }
  schema: JsonSchema
  /** The path with `:names`, so that a route is one resource for all values of its parameters. */
  routeTemplate?: string
}

/** A payment and what is said about the resource that was paid for. */
export interface SoldResource {
  /** This service sold it, and says what it is. Otherwise its payer says so, and nothing of it has been checked. */
  isOurs?: true
  payment: PaymentRequest
  timeoutSeconds: number | null
  resource: unknown
  extensions: Readonly<Record<string, unknown>>
}

/** What is offered, before anybody has paid for it. */
export type OfferedResource = Omit<SoldResource, 'payment'> & {
  payment: Pick<PaymentRequest, 'version' | 'required' | 'network'>
}

export type Outcome = { status: 'settled' | 'pending' | 'repeated' } | { status: 'failed'; reason: string }

/** What became of an extension, for the header `EXTENSION-RESPONSES`. */
export type ExtensionResponses = Readonly<
  Record<string, { status: 'success' | 'processing' | 'rejected'; rejectedReason?: string }>
>

/** Makes the resources that are paid for known. It never throws, because no settlement may fail for it. */
export interface Listing {
  /** A payment was checked: `refusal` is why it is not valid. */
  verified(sold: SoldResource, refusal: string | null): ExtensionResponses
  /** Answers within a moment, also while the database does not. */
  settled(sold: SoldResource, outcome: Outcome): Promise<ExtensionResponses>
  /** What this service sells has other terms now, or is sold again. It lists nothing that was not sold yet. */
  changed(offered: OfferedResource): Promise<void>
  /** Is not sold any more, by whichever scheme it was: it is found no more, until it is sold again. */
  withdrawn(offered: OfferedResource): Promise<void>
}

/** Derived from what version 1 shows under `outputSchema`. Null when that does not describe an HTTP request. */
export function bazaarOf(described: Raw): Bazaar | null {
  const { input, routeTemplate } = described
  if (!isRecord(input) || input['type'] !== 'http') return null
  const known = BUILT.get(input)
  if (known !== undefined) return known
  const named = input['method'] ?? (isRecord(input['bodyFields']) ? 'POST' : 'GET')
  const method = typeof named === 'string' ? named.toUpperCase() : ''
  if (!BODY_METHODS.has(method) && !QUERY_METHODS.has(method)) return null
  const template = typeof routeTemplate === 'string' ? { routeTemplate } : {}
  const bazaar = { ...(BODY_METHODS.has(method) ? withBody(method, input) : withQuery(method, input)), ...template }
  BUILT.set(input, bazaar)
  return bazaar
}

/** Converting a large schema takes longer than the rest of a 402, and some products reuse their description. */
const BUILT = new WeakMap<Raw, Bazaar>()

export const QUERY_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE'])
export const BODY_METHODS: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

function withBody(method: string, input: Raw): Bazaar {
  const bodyType = typeof input['bodyType'] === 'string' ? input['bodyType'] : 'json'
  const { schema, example: body } = fieldsOf(input['bodyFields'], input['required'])
  return {
    info: { input: { type: 'http', method, bodyType, body } },
    schema: schemaOf(method, { bodyType: { type: 'string', enum: [bodyType] }, body: schema }, ['bodyType', 'body']),
  }
}

function withQuery(method: string, input: Raw): Bazaar {
  const { schema, example: queryParams } = fieldsOf(input['queryParams'], input['required'])
  return {
    info: { input: { type: 'http', method, queryParams } },
    schema: schemaOf(method, { queryParams: schema }, []),
  }
}

function schemaOf(method: string, properties: Raw, required: readonly string[]): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      input: {
        type: 'object',
        properties: {
          type: { type: 'string', const: 'http' },
          method: { type: 'string', enum: [method] },
          ...properties,
        },
        required: ['type', 'method', ...required],
        additionalProperties: false,
      },
    },
    required: ['input'],
  }
}

/** The schema of the fields, short enough for a header, and the shortest example that fits it. */
function fieldsOf(fields: unknown, names: unknown): { schema: JsonSchema; example: Raw } {
  const properties = isRecord(fields) ? fields : {}
  if (Object.keys(properties).length === 0) return { schema: { type: 'object' }, example: {} }
  const marked = Object.entries(properties).flatMap(([name, field]) =>
    isRecord(field) && field['required'] === true ? [name] : [],
  )
  const required = [...(Array.isArray(names) ? (names as unknown[]) : []), ...marked]
  const schema = fitted(TRIES, SCHEMA_BYTES_MAX, (conversion) =>
    conversion.convert({ type: 'object', properties, required }),
  )
  if (schema === null) return { schema: { type: 'object' }, example: {} }
  const example = exampleOf(schema)
  if (isRecord(example)) return { schema, example }
  // The example has to fit the schema, so where none is found no field may be required.
  return { schema: { ...schema, required: [] }, example: {} }
}

/**
 * Clients send the extension back in a header, beside the payment, and servers take about 16 KB of headers. A schema
 * that does not fit is shown with less detail.
 */
const SCHEMA_BYTES_MAX = 2_048
const LARGE = { direction: 'input', nodes: 200 } as const
const TRIES: readonly Omit<Limits, 'bytes'>[] = [
  { ...LARGE, depth: 4, descriptions: true },
  { ...LARGE, depth: 2, descriptions: false },
  { ...LARGE, depth: 0, descriptions: false },
]

/** Undefined when a value that fits cannot be made up. */
function exampleOf(schema: unknown): unknown {
  if (!isRecord(schema) || 'anyOf' in schema || 'not' in schema || 'pattern' in schema) return undefined
  const { examples, default: standard, enum: values } = schema
  const ready = [Array.isArray(examples) ? (examples[0] as unknown) : undefined, standard]
  if (Array.isArray(values)) return values[0] as unknown
  const found = ready.find((value) => value !== undefined && isPlainlyOf(value, schema))
  return found ?? madeUp(schema)
}

function madeUp(schema: Raw): unknown {
  const type: unknown = Array.isArray(schema['type']) ? schema['type'][0] : schema['type']
  switch (type) {
    case undefined:
      return {}
    case 'null':
      return null
    case 'boolean':
      return true
    case 'integer':
    case 'number':
      return numberOf(schema)
    case 'string':
      return textOf(schema)
    case 'array':
      return Number(schema['minItems'] ?? 0) === 0 ? [] : undefined
    default:
      return objectOf(schema)
  }
}

function numberOf({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: Raw): number | undefined {
  if (exclusiveMinimum !== undefined || exclusiveMaximum !== undefined || multipleOf !== undefined) return undefined
  const least = Number(minimum ?? Math.min(1, Number(maximum ?? 1)))
  return Number.isInteger(least) && least <= Number(maximum ?? least) ? least : undefined
}

function textOf({ minLength, maxLength, format }: Raw): string | undefined {
  const text = typeof format === 'string' ? SAMPLES[format] : 'text'
  if (text === undefined) return undefined
  if (text.length > Number(maxLength ?? text.length)) return undefined
  return text.length < Number(minLength ?? 0) ? undefined : text
}

const SAMPLES: Readonly<Record<string, string>> = {
  'date-time': '2026-01-31T12:00:00Z',
  date: '2026-01-31',
  email: 'ada@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
  hostname: 'example.com',
}

function objectOf({ properties, required, additionalProperties }: Raw): Raw | undefined {
  const fields = isRecord(properties) ? properties : {}
  const made: Record<string, unknown> = {}
  for (const name of Array.isArray(required) ? (required as string[]) : []) {
    const value =
      Object.hasOwn(fields, name) || additionalProperties === undefined ? exampleOf(fields[name] ?? {}) : undefined
    if (value === undefined) return undefined
    made[name] = value
  }
  return made
}

/** Examples and defaults are written by hand, and often do not fit the bounds next to them. */
function isPlainlyOf(value: unknown, schema: Raw): boolean {
  const type = Array.isArray(schema['type']) ? (schema['type'] as unknown[]) : [schema['type']]
  if (BOUNDS.some((bound) => bound in schema)) return false
  return typeof value === 'number'
    ? type.includes('number') || (type.includes('integer') && Number.isInteger(value))
    : type.includes(typeof value)
}

const BOUNDS = ['minLength', 'maxLength', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']

/** The header in which a facilitator answers about extensions, for the seller alone. */
export function extensionHeader(responses: ExtensionResponses): Readonly<Record<string, string>> {
  return { 'EXTENSION-RESPONSES': Buffer.from(JSON.stringify(responses)).toString('base64') }
}
