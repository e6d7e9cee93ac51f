import type { Statements } from '../../../../service/kit/transaction.ts'

/** Nothing is half done: every state in between has been left. */
export async function checkRest(statements: Statements): Promise<string[]> {
  const problems: string[] = []
  for (const [what, text] of UNFINISHED) {
    const [row] = await statements.run<{ count: bigint; one: string | null }>(
      `SELECT count(*) AS count, min(id::text) AS one FROM (${text}) open`,
      [],
    )
    if (row !== undefined && row.count > 0n) problems.push(`${String(row.count)} ${what} left, one is ${row.one ?? ''}`)
  }
  return problems
}

export const UNFINISHED: readonly (readonly [what: string, text: string])[] = [
  ['locks', `SELECT id FROM ledger_hold WHERE state = 'open'`],
  ['runs under way', `SELECT id FROM run WHERE status IN ('queued', 'running')`],
  ['holds at gates', `SELECT call AS id FROM paywall_hold`],
  ['sales', `SELECT id FROM sale WHERE state IN ('claimed', 'settling')`],
  ['paid calls', `SELECT id FROM spending_payment WHERE state NOT IN ('settled', 'returned')`],
  ['withdrawals', `SELECT id FROM wallet_withdrawal WHERE ended_at IS NULL`],
  ['sweeps of deposit addresses', `SELECT id FROM wallet_sweep WHERE state = 'open'`],
  [
    'settlements',
    `SELECT encode(digest, 'hex') AS id FROM facilitator_settlement WHERE state NOT IN ('settled', 'failed') OR NOT final`,
  ],
  ['transactions', `SELECT id FROM facilitator_transaction WHERE state NOT IN ('final', 'lost')`],
  ['deliveries', `SELECT id FROM delivery WHERE state IN ('pending', 'claimed')`],
  ['announcements', `SELECT id FROM outbox WHERE done_at IS NULL`],
]
