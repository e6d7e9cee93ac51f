import { withoutTrailing } from './text.ts'

/** USDC in whole micro-dollars. The brand prevents mixing with gas and counts. */
export type Usdc = bigint & { readonly unit: 'usdc' }

export function usdc(micro: bigint): Usdc {
  return micro as Usdc
}

export const ZERO = usdc(0n)

/** The largest amount on the wire: 2^53 - 1 micro-dollars, cut to whole dollars. */
export const LARGEST = usdc(9_007_199_254_000_000n)

/**
 * A decimal from the wire in micro-dollars, or why it is refused. Never rounds: a value with more than six decimals is
 * refused. A JavaScript number is read by its shortest decimal form, which is what the sender wrote for every number of
 * up to 15 digits. `api/json.ts` refuses longer numbers before they get here, while their text is still known.
 */
export function fromWire(value: number): Usdc | Refusal {
  if (!Number.isFinite(value)) return 'must be a finite number'
  if (value < 0) return 'must not be negative'
  if (value > 9_007_199_254) return 'must be at most 9007199254'
  const text = String(value)
  if (!/^\d+(\.\d{1,6})?$/.test(text)) return 'must have at most 6 decimals'
  return fromDecimal(text)
}

/** A decimal of the configuration, whose form was checked before. */
export function fromDecimal(text: string): Usdc {
  const [whole = '0', fraction = ''] = text.split('.')
  return usdc(BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0')))
}

export type Refusal =
  'must be a finite number' | 'must not be negative' | 'must be at most 9007199254' | 'must have at most 6 decimals'

/**
 * Micro-dollars as the JSON number that the specification shows. Exact for every amount below 2^33 dollars. Above that
 * a double has no room for six decimals, and the result is the nearest double.
 */
export function toWire(amount: Usdc): number {
  return Number(toDecimal(amount))
}

/** Micro-dollars as a plain decimal without trailing zeros: '5', '0.02', '-1.000001'. */
export function toDecimal(amount: bigint): string {
  const sign = amount < 0n ? '-' : ''
  const digits = (amount < 0n ? -amount : amount).toString().padStart(7, '0')
  const fraction = withoutTrailing(digits.slice(-6), '0')
  return `${sign}${digits.slice(0, -6)}${fraction === '' ? '' : `.${fraction}`}`
}

export function sum(amounts: Iterable<Usdc>): Usdc {
  let total = 0n
  for (const amount of amounts) total += amount
  return usdc(total)
}

export function largest<Amount extends bigint>(first: Amount, ...others: readonly Amount[]): Amount {
  return others.reduce((best, one) => (one > best ? one : best), first)
}

export function least<Amount extends bigint>(first: Amount, ...others: readonly Amount[]): Amount {
  return others.reduce((best, one) => (one < best ? one : best), first)
}
