import { DomainError } from './errors.ts'
import type { Statements } from './transaction.ts'

/** A limit on what an account may have at one time or within a window, as named in its refusal. */
export type QuotaName = keyof typeof QUOTA_TEXTS

/**
 * The one error for every quota: 429 `quota_exceeded {quota, limit, resetsAt}`. `resetsAt` is null when waiting does
 * not help: then the account has to delete, close or finish something first.
 */
export function quotaExceeded(quota: QuotaName, limit: number, resetsAt: Date | null): DomainError {
  const what = `Quota exceeded: an account may have at most ${String(limit)} ${QUOTA_TEXTS[quota].noun}.`
  const next = resetsAt === null ? QUOTA_TEXTS[quota].remedy : `Try again after ${resetsAt.toISOString()}.`
  return new DomainError('limited', 'quota_exceeded', `${what} ${next}`, {
    quota,
    limit,
    resetsAt: resetsAt === null ? null : resetsAt.toISOString(),
  })
}

/** What each quota counts, and how to make room. */
const QUOTA_TEXTS = {
  keys: { noun: 'API keys', remedy: 'Revoke a key that you no longer use and try again.' },
  agents: { noun: 'agents', remedy: 'Delete an agent that you no longer use and try again.' },
  paywalls: { noun: 'paywalls', remedy: 'Delete a paywall that you no longer use and try again.' },
  active_checkouts: { noun: 'active checkouts', remedy: 'Delete a checkout that you no longer use and try again.' },
  coupons: { noun: 'coupons', remedy: 'Archive a coupon that you no longer use and try again.' },
  tool_providers: { noun: 'tool providers', remedy: 'Delete a tool provider that you no longer use and try again.' },
  imported_tools: { noun: 'imported tools', remedy: 'Delete imported tools that you no longer use and try again.' },
  tool_bytes: {
    noun: 'bytes of imported tools',
    remedy: 'Delete imported tools that you no longer use and try again.',
  },
  tool_connections: {
    noun: 'connections to providers',
    remedy: 'Remove a connection that you no longer use and try again.',
  },
  imports_per_hour: { noun: 'imports in an hour', remedy: 'Try again later.' },
  runs_waiting: { noun: 'waiting runs', remedy: 'Wait until a run has finished and try again.' },
  withdrawals_per_day: { noun: 'withdrawals in a day', remedy: 'Try again later.' },
  files: { noun: 'files', remedy: 'Delete a file that you no longer use and try again.' },
  file_bytes: { noun: 'bytes of files', remedy: 'Delete a file that you no longer use and try again.' },
  refunds_per_day: { noun: 'refunds in a day', remedy: 'Try again later.' },
  payments_per_day: { noun: 'payments to addresses outside in a day', remedy: 'Try again later.' },
  event_streams: { noun: 'open event streams', remedy: 'Close a stream that you no longer read and try again.' },
  connections: {
    noun: 'open connections from one address',
    remedy: 'Close a connection that you no longer use and try again.',
  },
} as const

/** The limits of an account in each environment, unless the operator configures others. */
export const QUOTAS = { keys: 50, agents: 100, paywalls: 100, active_checkouts: 1_000 } as const

/**
 * Runs in the transaction that creates the new row, and throws when the account has reached its limit. Other
 * transactions that create one for the same account wait here until this one has ended, in any process, so concurrent
 * requests cannot exceed the quota. `rows` is the SQL from FROM on that selects the counted rows, without the new one.
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
