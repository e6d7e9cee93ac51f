import { shownNames } from '../kit/conditions.ts'
import type { Field } from '../kit/fields.ts'

export { shownNames }

/** Formats amounts of USDC for people. No code decides anything by these texts. */
export function inUsdc(amount: number): string {
  return FIGURES.format(amount).replace('-', '−')
}

const FIGURES = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 6 })

/** An invalid number is NaN, which the service refuses with the field's message. So is `1,000`, which may mean either. */
export function toAmount(text: string): number {
  const written = text.trim()
  return written === '' || GROUPED.test(written) ? Number.NaN : Number(written.replace(',', '.'))
}

/** In micro-USDC, for readers of every language: `1.000` may mean either as well. Null for what is no amount. */
export function toMicroUsdc(text: string): bigint | null {
  const written = text.trim().replace('.', ',')
  const [, whole, part = ''] = /^(\d{0,12})(?:,(\d{0,6}))?$/.exec(written) ?? []
  if (whole === undefined || whole + part === '' || GROUPED.test(written)) return null
  return BigInt(whole) * 1_000_000n + BigInt(part.padEnd(6, '0'))
}

const GROUPED = /^[1-9]\d{0,2}(,\d{3})+$/

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

/**
 * The ticks of an axis from zero, of which the last one is the first that is not below `most`: two to six of them, in
 * steps of 1, 2, 2.5 or 5 times a power of ten. Counts have whole steps; USDC has none below a millionth.
 */
export function axisOf(most: number, { areWhole }: { areWhole: boolean }): readonly number[] {
  const least = areWhole ? 1 : 1e-6
  const wanted = Math.max(most, least) / TICKS_MAX
  let power = Math.floor(Math.log10(wanted)) - 1
  for (;;) {
    for (const digits of [10, 20, 25, 50]) {
      // Written as a number, so that three steps of 0.1 are 0.3.
      const at = (count: number): number => Number(`${String(digits * count)}e${String(power)}`)
      const isAllowed = at(1) >= least && (!areWhole || Number.isInteger(at(1)))
      const count = Math.ceil(most / at(1) - 1e-9)
      if (isAllowed && count <= TICKS_MAX)
        return Array.from({ length: Math.max(1, count) + 1 }, (_, place) => at(place))
    }
    power++
  }
}

/** Above zero. */
const TICKS_MAX = 5

/** A number on an axis: short when it is large, and precise enough to differ from its neighbours when it is small. */
export function tickOf(value: number): string {
  return (Math.abs(value) < 1 ? SMALL : SHORT).format(value)
}

const SHORT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 2 })
/** A step has at most two digits, and an axis five steps. */
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

/** The size of a file, for people. */
export function inBytes(bytes: number): string {
  if (bytes < 1_000) return `${String(bytes)} bytes`
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}
