import { withScheme } from '../../../kit/text.ts'
import type { Field } from '../../model.ts'

/** A field's value in the form: its text, or whether its box is ticked. */
export type Raw = Readonly<Record<string, string | boolean>>

export interface Checked {
  input: Record<string, unknown>
  /** By field; empty when there are none. */
  errors: Record<string, string>
}

/** The same checks as the server's, done earlier; the server's result decides. */
export function check(fields: readonly Field[], raw: Raw): Checked {
  const input: Record<string, unknown> = {}
  const errors: Record<string, string> = {}
  for (const field of fields) {
    const value = raw[field.name]
    if (typeof value === 'boolean') {
      input[field.name] = value
      continue
    }
    const text = (value ?? '').trim()
    if (text === '') {
      if (field.required) errors[field.name] = field.type === 'select' ? 'Choose an option.' : 'This field is required.'
      continue
    }
    const read = READERS[field.type](text, field)
    if ('error' in read) errors[field.name] = read.error
    else input[field.name] = read.value
  }
  return { input, errors }
}

/** The server's errors by field, in words for a customer. */
export function errorsOf(
  fields: readonly Field[],
  details: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(details).flatMap(([at, fault]) => {
      if (!at.startsWith('input.')) return []
      const name = at.slice('input.'.length)
      return [[name, inWords(fields.find((one) => one.name === name)?.patternMessage ?? '', fault)]]
    }),
  )
}

/** A pattern means nothing to a customer, so the seller's message about it is shown instead. */
function inWords(message: string, fault: string): string {
  return message !== '' && (fault === message || fault.startsWith('must match')) ? message : `This ${fault}.`
}

type Reader = (text: string, field: Field) => { value: unknown } | { error: string }

const asText: Reader = (text, { min, max }) => {
  const { length } = Array.from(text)
  if (min != null && length < min) return { error: `At least ${count(min)}, please.` }
  if (max != null && length > max) return { error: `At most ${count(max)}, please.` }
  return { value: text }
}

const asNumber: Reader = (text, { min, max }) => {
  const value = Number(text)
  if (!Number.isFinite(value)) return { error: 'Enter a number, such as 12.5.' }
  if (min != null && value < min) return { error: `Enter ${String(min)} or more.` }
  if (max != null && value > max) return { error: `Enter ${String(max)} or less.` }
  return { value }
}

const asUrl: Reader = (text) => {
  const address = withScheme(text)
  try {
    const { protocol } = new URL(address)
    if (protocol === 'https:' || protocol === 'http:') return { value: address }
  } catch {
    // The message below is returned instead.
  }
  return { error: 'Enter a full web address, such as https://example.com.' }
}

const asEmail: Reader = (text) =>
  /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text)
    ? { value: text }
    : { error: 'Enter an e-mail address, such as name@example.com.' }

const asJson: Reader = (text) => {
  try {
    JSON.parse(text)
    // The text is sent as it is: the server parses it, and a number here would lose digits.
    return { value: text }
  } catch {
    return { error: 'This is not valid JSON.' }
  }
}

const asOption: Reader = (text, { options }) =>
  options?.includes(text) === true ? { value: text } : { error: 'Choose an option from the list.' }

const READERS: Readonly<Record<Field['type'], Reader>> = {
  text: asText,
  textarea: asText,
  number: asNumber,
  // A checkbox has no text, so this is never called.
  boolean: () => ({ value: false }),
  select: asOption,
  url: asUrl,
  email: asEmail,
  json: asJson,
  file: asUrl,
}

function count(characters: number): string {
  return characters === 1 ? '1 character' : `${String(characters)} characters`
}
