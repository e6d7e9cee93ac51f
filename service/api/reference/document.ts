/** The part of an OpenAPI 3.1 document that the reference shows. */
export interface Document {
  info: { title: string; description?: string }
  servers: readonly { url: string }[]
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  components?: { schemas?: Readonly<Record<string, Schema>> }
}

export interface Operation {
  operationId: string
  summary: string
  description?: string
  tags: readonly string[]
  security?: readonly Readonly<Record<string, unknown>>[]
  parameters?: readonly Parameter[]
  requestBody?: { content?: Content }
  responses: Readonly<Record<string, { description: string; content?: Content }>>
  'x-codeSamples'?: readonly { lang: string; label: string; source: string }[]
}

export interface Parameter {
  name: string
  in: string
  required?: boolean
  description?: string
  schema?: Schema
  /** A value that is written as JSON. */
  content?: Content
}

type Content = Readonly<Record<string, { schema?: Schema; example?: unknown }>>

export interface Schema {
  $ref?: string
  type?: string | readonly string[]
  description?: string
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  items?: Schema
  enum?: readonly unknown[]
  const?: unknown
  default?: unknown
  example?: unknown
  examples?: readonly unknown[]
  format?: string
  pattern?: string
  minimum?: number
  exclusiveMinimum?: number
  maximum?: number
  exclusiveMaximum?: number
  minItems?: number
  maxItems?: number
  maxProperties?: number
  minLength?: number
  maxLength?: number
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
  allOf?: readonly Schema[]
  additionalProperties?: boolean | Schema
}

export interface Endpoint extends Operation {
  method: string
  path: string
}

/** Endpoints by their first tag, in the order of the document. */
export function byTag(document: Document): Map<string, Endpoint[]> {
  const tags = new Map<string, Endpoint[]>()
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags[0] ?? 'Other'
      tags.set(tag, [...(tags.get(tag) ?? []), { ...operation, method: method.toUpperCase(), path }])
    }
  }
  return tags
}

export function authenticationOf({ security }: Operation): 'none' | 'optional' | 'required' | 'session' {
  if (security === undefined || security.length === 0) return 'none'
  if (security.some((way) => 'session' in way)) return 'session'
  return security.some((way) => Object.keys(way).length === 0) ? 'optional' : 'required'
}

export function schemaOf(content: Content | undefined): Schema | null {
  return content?.['application/json']?.schema ?? null
}

/** The schema that a `$ref` points at; the schema itself if it points nowhere. */
export function resolved(document: Document, schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1)
  return (name === undefined ? undefined : document.components?.schemas?.[name]) ?? schema
}
