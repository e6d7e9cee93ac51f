import { shownNames } from '../../../kit/conditions.ts'
import { withScheme } from '../../../kit/text.ts'
import { say, type PlainKey } from '../words/say.ts'
import type { Field } from '../../model.ts'

/** A field's value in the form: its text, or whether its box is ticked. */
export type Raw = Readonly<Record<string, string | boolean>>

/** What decides the price: what the customer chose, and the value of the field that has prices. */
export interface Wish {
  input: Record<string, unknown>
  choice: Choice
}

/** As the API takes it. */
export interface Choice {
  quantity?: number
  amount?: number
  coupon?: string | undefined
  plan?: string | undefined
}

export const NO_WISH: Wish = { input: {}, choice: {} }

/** A definite answer of the service: nothing was taken. */
export interface Refusal {
  status: number
  code: string
  sentence: string
  /** By field, as the server names it: `input.email`. */
  details: Readonly<Record<string, string>>
}

export interface Checked {
  input: Record<string, unknown>
  /** By field; empty when there are none. */
  errors: Record<string, string>
}

/** The same checks as the server's, done earlier; the server's result decides. */
export function check(fields: readonly Field[], raw: Raw): Checked {
  const input: Record<string, unknown> = {}
  const errors: Record<string, string> = {}
  const shown = shownNames(fields, ({ name }) => raw[name])
  for (const field of fields.filter(({ name }) => shown.has(name))) {
    const value = raw[field.name]
    if (typeof value === 'boolean') {
      input[field.name] = value
      continue
    }
    const text = (value ?? '').trim()
    if (text === '') {
      if (field.required) errors[field.name] = say(field.type === 'select' ? 'form.chooseOption' : 'form.required')
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
  if (message !== '' && (fault === message || fault.startsWith('must match'))) return message
  const known = FAULTS[fault]
  return known === undefined ? say('form.refused', { fault }) : say(known)
}

/** The server's faults that the checks above leave to it. */
const FAULTS: Readonly<Record<string, PlainKey>> = {
  'is required': 'form.required',
  'must be a single line': 'form.oneLine',
  'must be JSON': 'form.json',
  'must be a file of this checkout that is still stored': 'form.fileGone',
}

type Reader = (text: string, field: Field) => { value: unknown } | { error: string }

const asText: Reader = (text, { min, max }) => {
  const { length } = Array.from(text)
  if (min != null && length < min) return { error: say('form.atLeast', { count: min }) }
  if (max != null && length > max) return { error: say('form.atMost', { count: max }) }
  return { value: text }
}

const asNumber: Reader = (text, { min, max }) => {
  const value = Number(text)
  if (!Number.isFinite(value)) return { error: say('form.number', { example: '12.5' }) }
  if (min != null && value < min) return { error: say('form.orMore', { limit: min }) }
  if (max != null && value > max) return { error: say('form.orLess', { limit: max }) }
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
  return { error: say('form.url', { example: 'https://example.com' }) }
}

const asEmail: Reader = (text) =>
  /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text)
    ? { value: text }
    : { error: say('form.email', { example: 'name@example.com' }) }

/** What the browser's own field for a date gives, and what a link or an old browser may give instead. */
const asDate: Reader = (text) =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))
    ? { value: text }
    : { error: say('form.date', { example: '2030-01-31' }) }

const asJson: Reader = (text) => {
  try {
    JSON.parse(text)
    // The text is sent as it is: the server parses it, and a number here would lose digits.
    return { value: text }
  } catch {
    return { error: say('form.json') }
  }
}

const asOption: Reader = (text, { options }) =>
  options?.includes(text) === true ? { value: text } : { error: say('form.chooseFromList') }

/** Stands in a file's field while the file is on its way. */
export const UPLOADING = 'uploading'

const READERS: Readonly<Record<Field['type'], Reader>> = {
  text: asText,
  textarea: asText,
  number: asNumber,
  // A checkbox has no text, so this is never called.
  boolean: () => ({ value: false }),
  select: asOption,
  url: asUrl,
  email: asEmail,
  date: asDate,
  json: asJson,
  file: (text, field) => (text === UPLOADING ? { error: say('form.fileWait') } : asUrl(text, field)),
}

/** Names the receipt's address among the errors. No field has such a name: theirs begin with a letter. */
export const RECEIPT = '@receipt'

/** As the server reads addresses. An empty one asks for no mail. */
export function isReachable(email: string): boolean {
  return email === '' || (email.length <= LONGEST && ADDRESS.test(email))
}

const LONGEST = 254
const ADDRESS = /^(?!\.)(?!.*\.\.)[\w'+\-.]*[\w+-]@([A-Za-z\d][A-Za-z\d-]*\.)+[A-Za-z]{2,}$/

/** The service's own limit, as people read it. */
export const FILE_LIMIT = '10 MB'

/** Told to a field whose value was filled in by the page. */
export const FILLED = 'filled'
