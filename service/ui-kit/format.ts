import type { Field } from '../kit/fields.ts'

/** Formats amounts of USDC for people. No code decides anything by these texts. */
export function inUsdc(amount: number): string {
  return FIGURES.format(amount).replace('-', '−')
}

const FIGURES = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 6 })

/** For whole micro-dollars, the unit on chain. */
export function microInUsdc(micro: bigint): string {
  return inUsdc(Number(micro) / 1_000_000)
}

/** An id, an address or a hash, short enough for a line and long enough to compare. */
export function shortly(value: string): string {
  return value.length <= 18 ? value : `${value.slice(0, 8)}…${value.slice(-6)}`
}

/** The text unchanged, except that JSON is indented. */
export function sourceOf(text: string): string {
  return jsonIn(text) ?? text
}

/** Null if the text is no object or list: a single number needs no formatting. */
export function jsonIn(text: string): string | null {
  if (text.length > LONGEST || !/^\s*[[{]/.test(text)) return null
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return null
  }
}

/** Longer answers are not formatted: it would block the browser. */
export const LONGEST = 100_000

/** A number on an axis: short when it is large, and precise enough to differ from its neighbours when it is small. */
export function tickOf(value: number): string {
  return (Math.abs(value) < 1 ? SMALL : SHORT).format(value)
}

const SHORT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 2 })
/** USDC has six decimals; the axis divides the smallest amount into four. */
const SMALL = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 })

/** A field that a seller or a creator wants filled in; the settings that they left out may be absent. */
export type FormField = Pick<Field, 'name' | 'label' | 'type' | 'required'> & {
  [Name in Exclude<keyof Field, 'default'>]?: Field[Name] | undefined
} & { default?: unknown }

/** The initial text of a field. */
export function firstText({ default: value }: Pick<FormField, 'default'>): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The service's message follows a field's name ("is required"); beside the field it stands alone. */
export function asSentence(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1)
}
