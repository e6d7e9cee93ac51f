import { invalid } from '../kit/errors.ts'
import { sum, ZERO, type Usdc } from '../kit/money.ts'
import type { Share } from './model.ts'

/** Money that goes from nobody, in no amount or in a negative one is a mistake of the caller's program. */
export function assertAmount(amount: Usdc, least: Usdc = ZERO): void {
  if (amount < least) throw invalid({ amount: least === ZERO ? 'must not be negative' : 'must be greater than 0' })
}

export function assertShares(amount: Usdc, shares: readonly Share[]): void {
  for (const share of shares) assertAmount(share.amount)
  if (sum(shares.map((share) => share.amount)) > amount) throw invalid({ shares: 'must not be more than the amount' })
}

/**
 * A batch accepts by running sum in the order of asking: everybody ahead is counted, also who was refused
 * for being too dear. So a refusal is final only if the ask does not fit into what is left after those who
 * were accepted; otherwise somebody too dear stood in front, and the ask goes into the next batch. The first
 * ask of each wallet is always judged for good, so every round makes progress.
 */
export function verdict(accepted: boolean, amount: Usdc, left: Usdc): 'accepted' | 'refused' | 'crowded' {
  if (accepted) return 'accepted'
  return amount > left ? 'refused' : 'crowded'
}
