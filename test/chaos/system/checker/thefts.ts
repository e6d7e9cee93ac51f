import type { Statements } from '../../../../service/kit/transaction.ts'
import { useOf, type Evidence } from '../evidence.ts'
import { FOREIGN } from '../thieves/deceivers.ts'
import { OUTFLOW_LIMIT, PURCHASES_ABOVE } from '../world.ts'

/**
 * Checks the thieves' gains: no response that others paid for, nothing unpaid, and no more withdrawn than the limits
 * allow.
 */
export async function checkThefts(statements: Statements, evidence: Evidence): Promise<string[]> {
  return [
    ...checkSecrets(evidence),
    ...(await checkEffects(statements, evidence)),
    ...(await checkOutflow(statements, evidence)),
    ...(await checkGifts(statements)),
    ...(await checkReturned(statements, evidence)),
    ...(await checkListed(statements)),
  ]
}

/** A secret is in one response only; a token belongs to its buyer. */
function checkSecrets({ thefts, served, acts, used }: Evidence): string[] {
  const problems: string[] = []
  const nameOf = new Map([...served].flatMap(([name, secrets]) => secrets.map((secret) => [secret, name] as const)))
  const tokens = new Set(
    acts.flatMap(({ request, replies }) => JSON.stringify([request.headers, request.body, replies]).match(TOKEN) ?? []),
  )
  for (const { name, kind, payment, received } of thefts) {
    if (kind === 'take-back' && received.includes('"success":true'))
      problems.push(`${name} took money out of the escrow`)
    for (const secret of received.match(SECRET) ?? []) {
      const of = nameOf.get(secret)
      if (of !== name) problems.push(`${name} got the answer of ${String(of)}`)
      else if (payment === null) problems.push(`${name} got an answer for nothing`)
      else if (payment !== 'account' && !used.has(useOf(payment.payer, payment.nonce)))
        problems.push(`${name} got an answer, and the chain knows nothing of its payment`)
    }
    for (const token of received.match(TOKEN) ?? [])
      if (tokens.has(token)) problems.push(`${name} (${kind}) got the token of a buyer`)
  }
  return problems
}

const SECRET = /secret-[0-9a-f]{24}/g
const TOKEN = /tok_[A-Za-z0-9_-]{43}/g

/**
 * What was done behind tools, assets and gates against what was charged. Without faults all that was done is charged,
 * except where the seller delivers first and the wallet is emptied meanwhile: that is the seller's risk. With faults it
 * is what was paid first, for a process that dies may lose the charge of what it asked for, never the other way round.
 */
async function checkEffects(statements: Statements, { thefts, served, used, thief }: Evidence): Promise<string[]> {
  const rows = await statements.run<{ name: string }>(
    `SELECT coalesce(inputs->>'topic', inputs->>'act') AS name FROM run WHERE status = 'succeeded' AND cost > 0`,
    [],
  )
  const charged = new Set(rows.map(({ name }) => name))
  const problems: string[] = []
  let calls = 0
  for (const { name, kind, payment, quiet } of thefts) {
    const done = served.get(name)?.length ?? 0
    if (done === 0) continue
    const effects = `${name} had ${String(done)} effects`
    if (payment === null) problems.push(`${effects} and paid nothing`)
    else if (payment === 'account') {
      if (!quiet) continue
      if (kind === 'leave-tool') calls += done
      else if (!charged.has(name)) problems.push(`${effects}, which were not charged`)
    } else if (!used.has(useOf(payment.payer, payment.nonce))) {
      if (kind === 'leave-tool-x402' || (quiet && kind !== 'empty-gate'))
        problems.push(`${effects}, and the chain knows nothing of its payment`)
    }
  }
  const [row] = await statements.run<{ count: bigint }>(
    'SELECT count(*) AS count FROM tool_call WHERE user_id = $1 AND error_code IS NULL AND cost > 0',
    [thief],
  )
  if (row === undefined || row.count < BigInt(calls))
    problems.push(`the thief's ${String(calls)} calls of a tool succeeded, ${String(row?.count)} were charged`)
  return problems
}

/**
 * Every outflow is counted, by account and in total, and no more leaves an account than may, to addresses outside and to
 * other accounts together.
 */
async function checkOutflow(statements: Statements, { accounts }: Evidence): Promise<string[]> {
  const rows = await statements.run<{ owner: string; gone: bigint; counted: bigint }>(
    `WITH gone AS (
       SELECT user_id, amount FROM wallet_withdrawal WHERE state <> 'failed'
       UNION ALL SELECT user_id, amount FROM spending_payment WHERE state <> 'returned'
       UNION ALL SELECT payer_id, cost FROM run WHERE cost > ${String(PURCHASES_ABOVE)} AND payer_id <> owner_id
     )
     SELECT owner, (SELECT coalesce(sum(amount), 0)::bigint FROM gone WHERE user_id = owner) AS gone,
       (SELECT coalesce(sum(amount), 0)::bigint FROM outflow WHERE user_id = owner AND returned_at IS NULL) AS counted
     FROM unnest($1::text[]) AS owner`,
    [accounts],
  )
  return rows.flatMap(({ owner, gone, counted }) => [
    ...(gone === counted ? [] : [`${owner} took out ${String(gone)}, and ${String(counted)} is counted`]),
    ...(gone <= OUTFLOW_LIMIT ? [] : [`${owner} took out ${String(gone)} of ${String(OUTFLOW_LIMIT)}`]),
  ])
}

/** One wallet gets two refunds of a seller in 24 hours without the seller's answer; no run lasts longer. */
async function checkGifts(statements: Statements): Promise<string[]> {
  const rows = await statements.run<{ payer: string; count: bigint }>(
    `SELECT payer, count(*) AS count FROM dispute
     WHERE decided_by IN ('policy', 'deadline') AND state IN ('refunding', 'refunded')
     GROUP BY user_id, payer HAVING count(*) > 2`,
    [],
  )
  return rows.map(({ payer, count }) => `${payer} got ${String(count)} refunds that no seller agreed to`)
}

/** What is given back to the account that pays must not be the seller's already. */
async function checkReturned(statements: Statements, { used }: Evidence): Promise<string[]> {
  const rows = await statements.run<{ id: string; payer: string; nonce: string }>(
    `SELECT id, payer, nonce FROM spending_payment WHERE state = 'returned'`,
    [],
  )
  return rows
    .filter(({ payer, nonce }) => used.has(useOf(payer, nonce)))
    .map(({ id }) => `the paid call ${id} went back, and its seller was paid`)
}

/** Nobody has heard from that address. */
async function checkListed(statements: Statements): Promise<string[]> {
  const rows = await statements.run<{ resource: string }>(
    'SELECT resource FROM discovery_resource WHERE resource = $1',
    [FOREIGN],
  )
  return rows.map(({ resource }) => `${resource} is listed by a stranger`)
}
