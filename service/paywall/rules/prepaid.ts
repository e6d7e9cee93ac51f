import { least, toDecimal, usdc, type Usdc } from '../../kit/money.ts'
import type { Metered, Route } from '../model.ts'
import { isMetered } from './pricing.ts'

/*
 * A call starts only while the whole `maximum` can be set aside for it: its cost is not known before, and an upstream
 * that has done the work cannot undo it. So a balance below the maximum does not lower the maximum; the buyer uses it
 * by paying in the difference. Rejected alternative: selling a call for the remaining balance and cutting its answer
 * off there. An answer's tokens are used before they can be counted, and so is the time of a complete answer.
 */

/** What the buyer has to pay in for the next call; at least the smallest amount that can be settled. */
export function topUpOf({ maximum }: Pick<Metered, 'maximum'>, left: Usdc, smallest: Usdc): Usdc {
  const missing = maximum > left ? maximum - left : 0n
  const amount = missing > smallest ? missing : smallest
  return usdc(amount < maximum ? amount : maximum)
}

/** Whether the balance, with this much added, covers the most expensive call. */
export function pays({ maximum }: Pick<Metered, 'maximum'>, left: Usdc, more: Usdc = usdc(0n)): boolean {
  return left + more >= maximum
}

/** The price of a call whose payer has signed for an earlier, lower maximum: it has no more than that to set aside. */
export function atMost<Price extends Metered>(pricing: Price, signed: Usdc): Price {
  return { ...pricing, minimum: least(pricing.minimum, signed), maximum: least(pricing.maximum, signed) }
}

/**
 * Whether what is used may be taken of a permit instead of a balance: where it is known before the money moves, and is
 * never less than what can be settled.
 */
export function isByUse({ pricing, settle }: Pick<Route, 'pricing' | 'settle'>, smallest: Usdc): boolean {
  return isMetered(pricing) && settle === 'after' && pricing.minimum >= smallest
}

export const TOO_LITTLE =
  'Insufficient prepaid balance for this call. Nothing was charged. Pay the difference and try again.'

/** Explains prepayment beside the price. Only its payer sees the balance. */
export function prepaidTerms({ minimum, maximum }: Metered, balance: Usdc | null) {
  return {
    minimum: toDecimal(minimum),
    maximum: toDecimal(maximum),
    balance: balance === null ? null : toDecimal(balance),
    description:
      'What you pay here goes into your prepaid balance at this paywall. Each call holds the maximum, takes what it ' +
      'costs, and the rest stays in the balance for your next calls. Send X-Payment-Token with them: once less than ' +
      'the maximum is left, you only pay the difference.',
  }
}
