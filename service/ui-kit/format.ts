import type { Field } from '../kit/fields.ts'

/** Amounts of USDC for people. Nothing is ever decided by these texts. */
export function inUsdc(amount: number): string {
  return FIGURES.format(amount).replace('-', '−')
}

const FIGURES = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 6 })

/** Of whole micro-dollars, as the chain counts. */
export function microInUsdc(micro: bigint): string {
  return inUsdc(Number(micro) / 1_000_000)
}

/** An id, an address or a hash, short enough for a line and long enough to compare. */
export function shortly(value: string): string {
  return value.length <= 18 ? value : `${value.slice(0, 8)}…${value.slice(-6)}`
}

/** As it came, with JSON in lines. */
export function sourceOf(text: string): string {
  return jsonIn(text) ?? text
}

/** Null for what is no object or list: a number alone is as good as it came. */
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

/** A number beside an axis: short when it is large, and never rounded to its neighbour's when it is small. */
export function tickOf(value: number): string {
  return (Math.abs(value) < 1 ? SMALL : SHORT).format(value)
}

const SHORT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 2 })
/** USDC has six decimals; the axis divides the smallest amount into four. */
const SMALL = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 })

/** A field that a seller or a creator asks to be filled in; what they did not say may be absent. */
export type FormField = Pick<Field, 'name' | 'label' | 'type' | 'required'> & {
  [Name in Exclude<keyof Field, 'default'>]?: Field[Name] | undefined
} & { default?: unknown }

/** The text in a field before anybody typed. */
export function firstText({ default: value }: Pick<FormField, 'default'>): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The service's words follow a field's name ("is required"); beside the field they stand alone. */
export function asSentence(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1)
}
