import type { Statements } from '../../../../service/kit/transaction.ts'
import { useOf, type Evidence } from '../evidence.ts'

/**
 * Checks x402 sales: every paid sale is on chain, every payment on chain is a paid sale, and each receiver was
 * notified.
 */
export async function checkSales(statements: Statements, evidence: Evidence): Promise<string[]> {
  const problems: string[] = []
  for (const [name, table] of SALES) {
    const rows = await statements.run<Sale>(
      `SELECT s.id, s.state::text AS state, s.reason, s.payer, '0x' || encode(f.nonce, 'hex') AS nonce, f.state::text AS settlement
       FROM ${table} s LEFT JOIN facilitator_settlement f ON f.digest = s.digest
       WHERE s.escrow IS NULL`,
      [],
    )
    for (const { id, state, reason, payer, nonce, settlement } of rows) {
      const isUsed = nonce !== null && evidence.used.has(useOf(payer, nonce))
      if (state === 'paid' && !isUsed) problems.push(`${name} ${id} is paid, and the chain knows nothing of it`)
      if (state !== 'paid' && isUsed)
        problems.push(
          `${name} ${id} of ${payer} is ${state} (${String(reason)}), its settlement ${String(settlement)}, and the chain has the money moved`,
        )
      if (state === 'paid' && settlement !== 'settled') problems.push(`${name} ${id} is paid and not settled`)
    }
  }
  return [...problems, ...(await checkDeliveries(statements, evidence)), ...(await checkBalances(statements, evidence))]
}

interface Sale {
  id: string
  state: string
  reason: string | null
  payer: string
  nonce: string | null
  settlement: string | null
}

const SALES = [['the sale', 'sale']] as const

async function checkDeliveries(statements: Statements, { accepted }: Evidence): Promise<string[]> {
  const problems: string[] = []
  const paid = await statements.run<{
    id: string
    state: string
    waits: boolean
    input: { act: string }
    delivery: string | null
    delivered: string | null
    count: bigint
  }>(
    `SELECT s.id, s.state::text AS state, s.escrow IS NOT NULL AS waits, s.details->'input' AS input, min(d.id) AS delivery,
       min(d.state::text) AS delivered, count(d.id) AS count
     FROM sale s LEFT JOIN delivery d ON d.subject = s.id WHERE s.product = 'checkout' GROUP BY s.id`,
    [],
  )
  const known = new Set<string>()
  for (const { id, state, waits, input, delivery, delivered, count } of paid) {
    if (delivery !== null) known.add(delivery)
    // Its workflow runs before it is paid, so also for a sale that fails.
    if (waits) continue
    const expected = state === 'paid' ? 1n : 0n
    if (count !== expected) problems.push(`${id} is ${state} and has ${String(count)} deliveries`)
    if (delivery === null || state !== 'paid') continue
    if (delivered !== 'delivered') problems.push(`the delivery ${delivery} of ${id} is ${String(delivered)}`)
    const deliveries = (accepted.get(delivery) ?? []) as { input?: { act?: string } }[]
    if (deliveries.length === 0) problems.push(`the workflow never heard of ${id}`)
    if (deliveries.some((one) => one.input?.act !== input.act))
      problems.push(`the workflow was told another's input for ${id}`)
  }
  for (const [id, bodies] of accepted) {
    if (bodies.some((body) => (body as { input?: unknown }).input !== undefined) && !known.has(id))
      problems.push(`the workflow was told ${id}, which stands nowhere`)
  }
  return problems
}

/** Prepaid: the money that came on chain equals the money that was drawn and the money that is left. */
async function checkBalances(statements: Statements, { acts }: Evidence): Promise<string[]> {
  const problems: string[] = []
  const rows = await statements.run<
    Record<'available' | 'held' | 'paid' | 'drawn' | 'came' | 'went' | 'draws', bigint> & { payer: string }
  >(
    `SELECT b.payer, b.available, b.held, b.paid, b.drawn,
       (SELECT coalesce(sum(p.amount), 0)::bigint FROM sale p
        WHERE p.subject = b.paywall_id AND p.payer = b.payer AND p.details->>'kind' = 'balance' AND p.state = 'paid') AS came,
       (SELECT coalesce(sum(d.amount), 0)::bigint FROM paywall_draw d
        WHERE d.paywall_id = b.paywall_id AND d.payer = b.payer) AS went,
       (SELECT count(*) FROM paywall_draw d WHERE d.paywall_id = b.paywall_id AND d.payer = b.payer) AS draws
     FROM paywall_balance b`,
    [],
  )
  for (const { payer, available, held, paid, drawn, came, went, draws } of rows) {
    if (available + held + drawn !== paid || held !== 0n || available < 0n)
      problems.push(`the balance of ${payer} does not add up: ${[paid, drawn, held, available].join(', ')}`)
    if (came !== paid) problems.push(`${payer} paid ${String(came)} in and has ${String(paid)} to their name`)
    if (went !== drawn) problems.push(`${payer} drew ${String(went)} and it is counted as ${String(drawn)}`)
    const own = acts.filter(
      ({ kind, request }) => kind.startsWith('gate-') && kind !== 'gate-exact' && request.address === payer,
    )
    const served = own.filter(({ replies }) => replies.some(({ status }) => status === 200)).length
    const sent = own.reduce((sum, act) => sum + act.sent, 0)
    if (draws < BigInt(served) || draws > BigInt(sent))
      problems.push(
        `${payer} was served ${String(served)} times in ${String(sent)} asks and drew ${String(draws)} times`,
      )
  }
  return problems
}
