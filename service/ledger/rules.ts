import { invalid } from '../kit/errors.ts'
import { sum, ZERO, type Usdc } from '../kit/money.ts'
import type { Share } from './model.ts'

/** A negative amount, or none at all, is a mistake in the caller's program. */
export function assertAmount(amount: Usdc, least: Usdc = ZERO): void {
  if (amount < least) throw invalid({ amount: least === ZERO ? 'must not be negative' : 'must be greater than 0' })
}

export function assertShares(amount: Usdc, shares: readonly Share[]): void {
  for (const share of shares) assertAmount(share.amount)
  if (sum(shares.map((share) => share.amount)) > amount) throw invalid({ shares: 'must not be more than the amount' })
}

/**
 * A batch accepts by running sum in the order of its requests: all before it are counted, also those that were refused
 * as too large. So a refusal is final only if the amount does not fit into what is left after the accepted ones;
 * otherwise a larger request stood in front, and this one goes into the next batch. The first request of each wallet is
 * always decided finally, so every round makes progress.
 */
export function decide(accepted: boolean, amount: Usdc, left: Usdc): 'accepted' | 'refused' | 'retry' {
  if (accepted) return 'accepted'
  return amount > left ? 'refused' : 'retry'
}
