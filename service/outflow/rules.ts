import { quotaExceeded, type QuotaName } from '../kit/quota.ts'
import { overLimit, payoutsPaused, recipientNotAllowed } from './errors.ts'
import type { Left, Outflow, OutflowKind, OutflowSettings, Purchase } from './model.ts'

export const DAY_MS = 86_400_000
/** Whole steps are summed up when money leaves; only a partial one is read row by row. */
export const STEP_MS = 600_000

export function stepOf(at: Date): Date {
  return new Date(Math.floor(at.getTime() / STEP_MS) * STEP_MS)
}

/** Throws why this may not leave now; `left` is what has left in the 24 hours before. */
export function assertMayLeave(outflow: Outflow, left: Left, settings: OutflowSettings): void {
  if (settings.paused || left.isPaused) throw payoutsPaused()
  const { to, amount, kind, returns = false } = outflow
  // The list is the server's: what another account is paid can leave only to an address on it.
  if (!returns && to !== null) assertAllowed(to, settings.allowList)
  const { perDay, totalPerDay } = settings.limits
  const counted = NUMBERED[kind]
  if (counted !== undefined) assertCount(counted.quota, settings.limits[counted.limit], left)
  if (outflow.isOfGuests === true) return
  if (perDay !== null && left.account + amount > perDay) throw overLimit('perDay', perDay, left.account, amount)
  // What the other accounts took is none of this one's business.
  if (!isInTotal(kind)) return
  if (totalPerDay !== null && left.total + amount > totalPerDay) throw overLimit('totalPerDay', null, null, amount)
}

/**
 * What stays on the server takes nothing of its total: two accounts could pay each other until all the others may withdraw
 * nothing.
 */
export function isInTotal(kind: OutflowKind): boolean {
  return kind !== 'account'
}

/** Whether their number in a day has a limit here. */
export function isNumbered(kind: OutflowKind, { limits }: OutflowSettings): boolean {
  const counted = NUMBERED[kind]
  return counted !== undefined && limits[counted.limit] !== null
}

/** Each of them may cost the server gas, however small its amount is: a payment that of the transfer to its payer. */
const NUMBERED: Partial<
  Record<OutflowKind, { quota: QuotaName; limit: `${string}sPerDay` & keyof OutflowSettings['limits'] }>
> = {
  withdrawal: { quota: 'withdrawals_per_day', limit: 'withdrawalsPerDay' },
  refund: { quota: 'refunds_per_day', limit: 'refundsPerDay' },
  pay: { quota: 'payments_per_day', limit: 'paymentsPerDay' },
}

/** Small purchases are everyday business: they share their transaction with others, which a counter would hold up. */
export function isPurchaseCounted({ amount }: Pick<Purchase, 'amount'>, { purchasesAbove }: OutflowSettings): boolean {
  return amount > purchasesAbove
}

function assertCount(quota: QuotaName, most: number | null, { ofKind, oldestOfKind: oldest }: Left): void {
  if (most === null || ofKind < most) return
  throw quotaExceeded(quota, most, oldest === null ? null : new Date(oldest.getTime() + DAY_MS))
}

export function assertAllowed(to: string, allowList: readonly string[]): void {
  if (allowList.length > 0 && !allowList.includes(to.toLowerCase())) throw recipientNotAllowed()
}
