import { DomainError } from './errors.ts'
import type { Statements } from './transaction.ts'

/** What an account may have at most at one time, or within one window, by the name that a refusal gives it. */
export type QuotaName =
  | 'keys'
  | 'agents'
  | 'paywalls'
  | 'active_checkouts'
  | 'tool_providers'
  | 'imported_tools'
  | 'tool_bytes'
  | 'imports_per_hour'
  | 'runs_waiting'
  | 'withdrawals_per_day'
  | 'event_streams'
  | 'connections'

/**
 * The one refusal of every quota: 429 `quota_exceeded {quota, limit, resetsAt}`. `resetsAt` is null where time does
 * not end it: then something has to be deleted, closed or finished first.
 */
export function quotaExceeded(quota: QuotaName, limit: number, resetsAt: Date | null): DomainError {
  const what = `Quota exceeded: an account may have at most ${String(limit)} ${NOUNS[quota]}.`
  const next = resetsAt === null ? REMEDIES[quota] : `Try again after ${resetsAt.toISOString()}.`
  return new DomainError('limited', 'quota_exceeded', `${what} ${next}`, {
    quota,
    limit,
    resetsAt: resetsAt === null ? null : resetsAt.toISOString(),
  })
}

const NOUNS: Readonly<Record<QuotaName, string>> = {
  keys: 'API keys',
  agents: 'agents',
  paywalls: 'paywalls',
  active_checkouts: 'active checkouts',
  tool_providers: 'tool providers',
  imported_tools: 'imported tools',
  tool_bytes: 'bytes of imported tools',
  imports_per_hour: 'imports in an hour',
  runs_waiting: 'waiting runs',
  withdrawals_per_day: 'withdrawals in a day',
  event_streams: 'open event streams',
  connections: 'open connections from one address',
}

const REMEDIES: Readonly<Record<QuotaName, string>> = {
  keys: 'Revoke a key that you no longer use and try again.',
  agents: 'Delete an agent that you no longer use and try again.',
  paywalls: 'Delete a paywall that you no longer use and try again.',
  active_checkouts: 'Delete a checkout that you no longer use and try again.',
  tool_providers: 'Delete a tool provider that you no longer use and try again.',
  imported_tools: 'Delete imported tools that you no longer use and try again.',
  tool_bytes: 'Delete imported tools that you no longer use and try again.',
  imports_per_hour: 'Try again later.',
  runs_waiting: 'Wait until a run has finished and try again.',
  withdrawals_per_day: 'Try again later.',
  event_streams: 'Close a stream that you no longer read and try again.',
  connections: 'Close a connection that you no longer use and try again.',
}

/** What an account may have in each environment where the operator says nothing else. */
export const QUOTAS = { keys: 50, agents: 100, paywalls: 100, active_checkouts: 1_000 } as const

/**
 * Inside the transaction that makes one more: throws where the account has reached its limit. Others that make one for
 * the same account wait here until this transaction has ended, in any process: no number of requests at once passes
 * the quota. `rows` are those that count, from FROM on; the one that is about to be made is none of them.
 */
export async function holdQuota(inside: Statements, { quota, owner, limit, rows, values }: QuotaHold): Promise<void> {
  const account = JSON.stringify([quota, owner.userId, owner.environment])
  await inside.run('SELECT pg_advisory_xact_lock(hashtextextended($1, 14))', [account], 'quota_lock')
  const [counted] = await inside.run<{ count: bigint | number }>(`SELECT count(*) AS count FROM ${rows}`, values)
  if (Number(counted?.count ?? 0) >= limit) throw quotaExceeded(quota, limit, null)
}

interface QuotaHold {
  quota: QuotaName
  owner: { readonly userId: string; readonly environment: string }
  limit: number
  rows: string
  values: readonly unknown[]
}
