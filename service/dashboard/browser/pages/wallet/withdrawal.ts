import { inUsdc } from '../../../../ui-kit/format.ts'

/** The values that limit a withdrawal; amounts in USDC. */
export interface Payable {
  available: number
  minimum: number
  /** The amount that may still be withdrawn today; null without a limit. */
  left: number | null
  paused: boolean
}

/** Why this amount cannot be withdrawn now, or null. The service checks again when the request arrives. */
export function refusalOf(amount: number, { available, minimum, left, paused }: Payable): string | null {
  if (paused) return 'Withdrawals are paused by the operator. Try again later.'
  if (!Number.isFinite(amount)) return null
  if (amount > available) return `The wallet has ${inUsdc(available)} USDC available. Enter that or less.`
  if (left !== null && amount > left) return `${inUsdc(left)} USDC may still be withdrawn today. Enter that or less.`
  if (amount < minimum) return `A withdrawal must be at least ${inUsdc(minimum)} USDC.`
  return null
}
