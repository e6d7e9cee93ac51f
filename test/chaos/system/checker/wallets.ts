import type { Statements } from '../../../../service/kit/transaction.ts'
import { useOf, type Evidence } from '../evidence.ts'

/** Checks money that moved on chain: each deposit is credited once, each payout is made once or returned. */
export async function checkWallets(statements: Statements, evidence: Evidence): Promise<string[]> {
  return [
    ...(await checkDeposits(statements, evidence)),
    ...(await checkWithdrawals(statements, evidence)),
    ...(await checkPaidCalls(statements, evidence)),
    ...(await checkAgents(statements, evidence)),
  ]
}

async function checkDeposits(statements: Statements, { transfers, deposits }: Evidence): Promise<string[]> {
  const problems: string[] = []
  const incoming = transfers.filter(({ to }) => deposits.has(to))
  const rows = await statements.run<{ hash: string; address: string; value: bigint; credited: bigint }>(
    `SELECT '0x' || encode(d.transaction_hash, 'hex') AS hash, '0x' || encode(d.address, 'hex') AS address, d.value,
       (SELECT count(*) FROM ledger_movement m WHERE m.kind = 'deposit'
        AND m.id = concat_ws('.', 'deposit', d.network, '0x' || encode(d.transaction_hash, 'hex'), d.place)) AS credited
     FROM wallet_deposit d WHERE d.gone_at IS NULL`,
    [],
  )
  const name = (hash: string, address: string, value: bigint): string => `${hash} of ${String(value)} to ${address}`
  const recorded = new Map<string, number>()
  // A transfer to the treasury itself is the platform's and is credited to no user.
  for (const { hash, address, value, credited } of rows.filter((row) => deposits.has(row.address))) {
    const key = name(hash, address, value)
    recorded.set(key, (recorded.get(key) ?? 0) + 1)
    if (credited !== 1n) problems.push(`the deposit ${key} was credited ${String(credited)} times`)
  }
  const real = new Map<string, number>()
  for (const { hash, to, value } of incoming)
    real.set(name(hash, to, value), (real.get(name(hash, to, value)) ?? 0) + 1)
  for (const [key, count] of real)
    if (recorded.get(key) !== count)
      problems.push(`the deposit ${key} is recorded ${String(recorded.get(key) ?? 0)} times`)
  for (const key of recorded.keys()) if (!real.has(key)) problems.push(`the deposit ${key} is not on the chain`)
  const [sums] = await statements.run<{ credited: bigint }>(
    `SELECT (SELECT coalesce(sum(p.available), 0)::bigint FROM ledger_posting p JOIN ledger_account a ON a.id = p.account_id
             WHERE p.kind = 'deposit' AND p.side = 'receiver' AND a.kind = 'wallet') AS credited`,
    [],
  )
  const sum = incoming.reduce((all, { value }) => all + value, 0n)
  if (sums?.credited !== sum)
    problems.push(`${String(sum)} came in deposits and ${String(sums?.credited)} was credited`)
  return problems
}

async function checkWithdrawals(statements: Statements, { transfers }: Evidence): Promise<string[]> {
  const rows = await statements.run<{ id: string; to: string; amount: bigint; state: string }>(
    `SELECT id, '0x' || encode(recipient, 'hex') AS "to", amount, state::text AS state FROM wallet_withdrawal`,
    [],
  )
  return rows.flatMap(({ id, to, amount, state }) => {
    const received = transfers.filter((one) => one.to === to).reduce((sum, { value }) => sum + value, 0n)
    const due = state === 'confirmed' ? amount : 0n
    return received === due
      ? []
      : [`the withdrawal ${id} is ${state}, and ${to} got ${String(received)} of ${String(amount)}`]
  })
}

async function checkPaidCalls(statements: Statements, { used, sold }: Evidence): Promise<string[]> {
  const problems: string[] = []
  const rows = await statements.run<{ id: string; payer: string; nonce: string; state: string; url: string }>(
    'SELECT id, payer, nonce, state::text AS state, url FROM spending_payment',
    [],
  )
  const settled = new Set<string>()
  for (const { id, payer, nonce, state, url } of rows) {
    const isUsed = used.has(useOf(payer, nonce))
    if (isUsed !== (state === 'settled'))
      problems.push(
        `the paid call ${id} is ${state}, and the chain has its authorization ${isUsed ? 'used' : 'unused'}`,
      )
    if (state === 'settled') settled.add(new URL(url).pathname)
  }
  for (const path of sold) if (!settled.has(path)) problems.push(`a seller was paid for ${path} by nobody`)
  return problems
}

async function checkAgents(statements: Statements, { agents }: Evidence): Promise<string[]> {
  const rows = await statements.run<{ id: string; spent: bigint }>(
    `SELECT d.agent_id AS id, coalesce(sum(h.captured), 0)::bigint AS spent FROM (
       SELECT DISTINCT agent_id, reference FROM spending_decision WHERE outcome = 'allowed'
     ) d JOIN ledger_hold h ON h.id = d.reference GROUP BY d.agent_id`,
    [],
  )
  const spent = new Map(rows.map((row) => [row.id, row.spent]))
  return agents.flatMap(({ id, limit }) =>
    (spent.get(id) ?? 0n) <= limit ? [] : [`the agent ${id} spent ${String(spent.get(id))} of ${String(limit)}`],
  )
}
