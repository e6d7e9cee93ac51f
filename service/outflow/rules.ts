import { quotaExceeded } from '../kit/quota.ts'
import { overLimit, payoutsPaused, recipientNotAllowed } from './errors.ts'
import type { Left, Outflow, OutflowSettings } from './model.ts'

export const DAY_MS = 86_400_000
/** Whole steps are summed up when money leaves; only a partial one is read row by row. */
export const STEP_MS = 600_000

export function stepOf(at: Date): Date {
  return new Date(Math.floor(at.getTime() / STEP_MS) * STEP_MS)
}

/** Throws why this may not leave now; `left` is what has left in the 24 hours before. */
export function assertMayLeave(outflow: Outflow, left: Left, paused: boolean, settings: OutflowSettings): void {
  if (paused) throw payoutsPaused()
  assertAllowed(outflow.to, settings.allowList)
  const { amount, kind } = outflow
  const { perDay, totalPerDay, withdrawalsPerDay } = settings.limits
  if (kind === 'withdrawal' && withdrawalsPerDay !== null && left.withdrawals >= withdrawalsPerDay) {
    const { oldestWithdrawal: oldest } = left
    const resetsAt = oldest === null ? null : new Date(oldest.getTime() + DAY_MS)
    throw quotaExceeded('withdrawals_per_day', withdrawalsPerDay, resetsAt)
  }
  if (perDay !== null && left.account + amount > perDay) throw overLimit('perDay', perDay, left.account, amount)
  // What the other accounts took is none of this one's business.
  if (totalPerDay !== null && left.total + amount > totalPerDay) throw overLimit('totalPerDay', null, null, amount)
}

export function assertAllowed(to: string, allowList: readonly string[]): void {
  if (allowList.length > 0 && !allowList.includes(to.toLowerCase())) throw recipientNotAllowed()
}
