import { firstText, type FormField } from '../../../../ui-kit/format.ts'
import type { FormValues } from '../../parts/InputForm.tsx'

type Schema = Readonly<Record<string, unknown>>

/** A form for a tool's schema: a field for each plain property, JSON for nested ones. */
export function fieldsOf(schema: Schema): FormField[] {
  const required = new Set(Array.isArray(schema['required']) ? schema['required'].map(String) : [])
  return Object.entries(asSchema(schema['properties']) ?? {}).map(([name, property]) => {
    const of = asSchema(property) ?? {}
    const options = Array.isArray(of['enum']) ? of['enum'].map(String) : null
    return {
      name,
      label: typeof of['title'] === 'string' ? of['title'] : name,
      type: options === null ? typeOf(of) : 'select',
      required: required.has(name),
      options,
      description: typeof of['description'] === 'string' ? of['description'] : null,
      placeholder: exampleOf(of),
      default: of['default'],
    }
  })
}

/** The form's values as the schema requires them, or the names of fields whose JSON is invalid. */
export function toInput(
  schema: Schema,
  values: FormValues,
): { input: Record<string, unknown>; faults: Record<string, string> } {
  const input: Record<string, unknown> = {}
  const faults: Record<string, string> = {}
  const properties = asSchema(schema['properties']) ?? {}
  for (const field of fieldsOf(schema)) {
    const { name, type } = field
    const value = values[name] ?? firstText(field)
    if (value === '') continue
    const of = asSchema(properties[name]) ?? {}
    const isPlainText = type === 'text' || type === 'textarea' || type === 'url' || type === 'email'
    if (typeof value === 'boolean' || isPlainText || (type === 'select' && of['type'] === 'string')) input[name] = value
    else {
      try {
        input[name] = JSON.parse(value)
      } catch {
        if (type === 'select') input[name] = value
        else faults[name] = type === 'number' ? 'must be a number' : 'must be JSON'
      }
    }
  }
  return { input, faults }
}

/** What a call must have at least, for an example. */
export function sampleInput(schema: Schema): Record<string, unknown> {
  const values = fieldsOf(schema)
    .filter(({ required }) => required)
    .map(({ name, type, options, placeholder }) => {
      const text = options?.[0] ?? placeholder ?? { number: '1', json: '{}', boolean: 'true' }[type as string]
      return [name, text ?? `${name}…`]
    })
  return toInput(schema, Object.fromEntries(values) as FormValues).input
}

function typeOf({ type, format, maxLength }: Schema): FormField['type'] {
  if (type === 'number' || type === 'integer') return 'number'
  if (type === 'boolean') return 'boolean'
  if (type !== 'string') return 'json'
  if (format === 'uri' || format === 'url') return 'url'
  if (format === 'email') return 'email'
  return typeof maxLength === 'number' && maxLength > 1_000 ? 'textarea' : 'text'
}

function exampleOf({ example, examples }: Schema): string | null {
  const one: unknown = example ?? (Array.isArray(examples) ? examples[0] : undefined)
  return typeof one === 'string' || typeof one === 'number' ? String(one) : null
}

function asSchema(value: unknown): Schema | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : null
}
