import type { en } from './en.ts'

/** The texts of one language. A text that is missing, or not in English too, is a type error. */
export type Words = { readonly [Key in keyof typeof en]: (typeof en)[Key] extends string ? string : Plural }

export type Key = keyof Words

/** By plural category: `one`, `few`, and so on. */
type Plural = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & Record<'other', string>>

/** The names in a text's braces; English decides. */
type Slots<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Slots<Rest> : never
type Values<Text, Value> = [Text] extends [string]
  ? [Slots<Text>] extends [never]
    ? []
    : [values: Readonly<Record<Slots<Text>, Value>>]
  : [values: Readonly<Record<Slots<Text[keyof Text]>, Value> & { count: number }>]

/** Keys of texts without anything to fill in. */
export type PlainKey = { [Each in Key]: Values<(typeof en)[Each], string> extends [] ? Each : never }[Key]

/**
 * One language at a time: a browser has one for as long as the page is open, and the server renders a page without a
 * pause, so that no other page comes between `speak` and its last text.
 */
let spoken: { language: string; words: Partial<Words>; plural: Intl.PluralRules } | null = null

/** `words` may have only the groups that the page uses. */
export function speak(language: string, words: Partial<Words>): void {
  spoken = { language, words, plural: new Intl.PluralRules(language) }
}

/** The language tag, for the formats of Intl. */
export function language(): string {
  return now().language
}

export function say<Name extends Key>(key: Name, ...[values]: Values<(typeof en)[Name], string | number>): string {
  return split<string | number>(key, values).join('')
}

/** The same around elements. */
export function sayWith<Name extends Key, Element>(
  key: Name,
  ...[values]: Values<(typeof en)[Name], Element | string>
): (Element | string)[] {
  return split<Element>(key, values as Readonly<Record<string, Element>> | undefined)
}

/** A text by a code, which may be none that this page knows. */
export function sayCode(group: string, code: string): string | null {
  const key = `${group}.${code}`
  const { words } = now()
  const text = Object.hasOwn(words, key) ? words[key as Key] : undefined
  return typeof text === 'string' ? text : null
}

function split<Element>(key: Key, values: Readonly<Record<string, Element>> = {}): (Element | string)[] {
  const { words, plural, language } = now()
  const text = words[key]
  if (text === undefined) throw new Error(`The page has no text ${key}.`)
  const { count } = values as { count?: number }
  const form = typeof text === 'string' ? text : (text[plural.select(count ?? 0)] ?? text.other)
  return form.split(/\{(\w+)\}/).map((part, place) => {
    const value = place % 2 === 0 ? part : values[part]
    return typeof value === 'number' ? value.toLocaleString(language, { maximumFractionDigits: 20 }) : (value ?? '')
  })
}

function now() {
  if (spoken === null) throw new Error('The page has no language yet.')
  return spoken
}

/** An amount in full: never rounded, and with two decimals at least. */
export function usdc(amount: number): string {
  return `${amount.toLocaleString(language(), USDC)} USDC`.replace('-', '−')
}

export function microUsdc(micro: bigint): string {
  return usdc(Number(micro) / 1_000_000)
}

/** The figure alone, where the page shows the unit beside it. */
export function figure(amount: number): string {
  return amount.toLocaleString(language(), USDC)
}

/** Rounded as prices of this currency are. */
export function money(amount: number, currency: string): string {
  return amount.toLocaleString(language(), { style: 'currency', currency })
}

const USDC = { minimumFractionDigits: 2, maximumFractionDigits: 6 } as const

export function percent(hundredths: number): string {
  return (hundredths / 100).toLocaleString(language(), { style: 'percent', maximumFractionDigits: 2 })
}

export function bytes(size: number): string {
  const [count, unit] =
    size < 1_000 ? [size, 'byte'] : size < 1_000_000 ? [size / 1_000, 'kilobyte'] : [size / 1_000_000, 'megabyte']
  const unitDisplay = unit === 'byte' ? 'long' : 'short'
  return count.toLocaleString(language(), { style: 'unit', unit, unitDisplay, maximumFractionDigits: 1 })
}

export function dateTime(at: Date): string {
  return at.toLocaleString(language(), { dateStyle: 'medium', timeStyle: 'short' })
}

export function date(at: Date): string {
  return at.toLocaleDateString(language(), { dateStyle: 'medium' })
}

export function time(at: Date): string {
  return at.toLocaleTimeString(language(), { timeStyle: 'medium' })
}
