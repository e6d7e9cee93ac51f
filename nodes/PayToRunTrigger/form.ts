import type { IDataObject } from 'n8n-workflow'

/** A field as the editor stores it. */
export interface FieldParameters {
  label: string
  name?: string
  type: string
  required?: boolean
  placeholder?: string
  help?: string
  choices?: { values?: { value: string; price?: number }[] }
  rules?: {
    default?: string
    min?: number
    max?: number
    pattern?: string
    patternMessage?: string
    showIfField?: string
    showIfValue?: string
  }
}

/** The form, as the service takes it. */
export function readFields(fields: readonly FieldParameters[]): IDataObject[] {
  return fields.map((field, place) => ({
    name: keyOf(field),
    label: field.label,
    type: field.type,
    required: field.required === true,
    ...given('placeholder', field.placeholder),
    ...given('description', field.help),
    ...(field.type === 'select' && { options: (field.choices?.values ?? []).map(({ value }) => value) }),
    ...readRules(field),
    ...readCondition(field, fields.slice(0, place)),
  }))
}

/** The field's name in the workflow. */
export function keyOf({ name, label }: FieldParameters): string {
  return orNull(name) ?? nameOf(label)
}

/** The field that an author names by its label, or by its name in the workflow. */
export function fieldNamed(fields: readonly FieldParameters[], words: string): FieldParameters | undefined {
  const wanted = words.trim()
  return fields.find((field) => field.label.trim() === wanted || keyOf(field) === wanted)
}

function readCondition({ rules = {} }: FieldParameters, above: readonly FieldParameters[]): IDataObject {
  const named = orNull(rules.showIfField)
  if (named === null) return {}
  const found = fieldNamed(above, named)
  const value = rules.showIfValue?.trim() ?? ''
  // Without the field above, the service says that there is none of this name.
  const field = found === undefined ? nameOf(named) : keyOf(found)
  return { showIf: { field, equals: found?.type === 'boolean' ? value !== 'false' : value } }
}

/**
 * The editor keeps rules of a type that was selected earlier. They have no meaning for the current type and are
 * dropped.
 */
function readRules({ type, rules = {} }: FieldParameters): IDataObject {
  return {
    ...given('default', readDefault(type, rules.default)),
    ...(MEASURED.includes(type) && { ...given('min', rules.min), ...given('max', rules.max) }),
    ...(WRITTEN.includes(type) && given('pattern', rules.pattern)),
    ...(WRITTEN.includes(type) && orNull(rules.pattern) !== null && given('patternMessage', rules.patternMessage)),
  }
}

/** The editor stores the default as text; the service expects the customer's type. */
function readDefault(type: string, text: string | undefined): IDataObject[string] {
  if (text === undefined || text === '') return undefined
  // A text that is neither a number nor a boolean goes to the service unchanged, to be refused there: NaN would be sent
  // as null.
  if (type === 'number') return Number.isFinite(Number(text)) ? Number(text) : text
  if (type === 'boolean') return { true: true, false: false }[text] ?? text
  return text
}

/** The field's name in the workflow when the author chose none: `Your website` becomes `your_website`. */
export function nameOf(label: string): string {
  const name = label
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    // Drops a hyphen or an apostrophe within a word: `e-mail` becomes `email`.
    .replace(/(?<=[a-z])[-'’](?=[a-z])/g, '')
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
  return (/^\d/.test(name) ? `field_${name}` : name).slice(0, 64)
}

function given(name: string, value: IDataObject[string]): IDataObject {
  return value === undefined || value === null || value === '' ? {} : { [name]: value }
}

export function orNull(text: string | undefined): string | null {
  return text === undefined || text.trim() === '' ? null : text.trim()
}

const WRITTEN = ['text', 'textarea', 'url', 'email', 'file']
const MEASURED = ['number', ...WRITTEN]
