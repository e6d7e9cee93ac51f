import { toDecimal, usdc, type Usdc } from '../../kit/money.ts'
import type { Metered } from '../model.ts'

/*
 * A call is made only while the whole `maximum` can be set aside for it: what it will cost is not known before, and an
 * upstream that has worked cannot take it back. So what is left below the maximum is no smaller maximum of its own; it is
 * used by paying in the rest. Rejected: to sell a call for what is left and to cut its answer there. The tokens of an
 * answer are used by the time they can be counted, and of a whole answer so is the time.
 */

/** What has to be paid in so that the next call can be made; the least that can be settled where less is missing. */
export function topUpOf({ maximum }: Pick<Metered, 'maximum'>, left: Usdc, least: Usdc): Usdc {
  const missing = maximum > left ? maximum - left : 0n
  const amount = missing > least ? missing : least
  return usdc(amount < maximum ? amount : maximum)
}

/** Whether a balance pays for the dearest call once this has come to it. */
export function pays({ maximum }: Pick<Metered, 'maximum'>, left: Usdc, more: Usdc = usdc(0n)): boolean {
  return left + more >= maximum
}

export const TOO_LITTLE =
  'What is left of your balance does not pay for this call. Nothing was charged. Pay the difference to use what is left.'

/** How it works, beside what is to be paid. The balance is told to its payer only. */
export function prepaidTerms({ minimum, maximum }: Metered, balance: Usdc | null) {
  return {
    minimum: toDecimal(minimum),
    maximum: toDecimal(maximum),
    balance: balance === null ? null : toDecimal(balance),
    description:
      'What you pay here goes into your prepaid balance at this paywall. A call sets the maximum aside, takes what it ' +
      'costs, and the rest stays in the balance for your next calls. Send X-Payment-Token with them: once less than ' +
      'the maximum is left, you are asked for the difference only.',
  }
}
