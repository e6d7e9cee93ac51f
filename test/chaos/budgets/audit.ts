import type { Statements } from '../../../service/kit/transaction.ts'
import type { WindowLimit } from '../../../service/budgets/model.ts'
import { startOf, WINDOWS } from '../../../service/budgets/rules/windows.ts'
import type { ChaosAgent } from './world.ts'

export interface Audit {
  problems: string[]
  figures: {
    locks: number
    refused: number
    captured: number
    windows: Record<string, number>
    /** How much of each limit was used at its peak. */
    fullest: { limit: string; most: number; of: number; share: number }[]
  }
}

/**
 * From the ledger's postings, in the order in which they changed the wallet, which is the order of its commits: what
 * was reserved or captured of each window after every single one of them. Each agent has a wallet of its own.
 */
export async function audit(statements: Statements, agents: readonly ChaosAgent[]): Promise<Audit> {
  const found: Audit = { problems: [], figures: { locks: 0, refused: 0, captured: 0, windows: {}, fullest: [] } }
  for (const agent of agents) await auditOne(statements, agent, found)
  return found
}

async function auditOne(statements: Statements, agent: ChaosAgent, found: Audit): Promise<void> {
  const decisions = await statements.run<{ reference: string; at: Date; amount: bigint; outcome: string }>(
    'SELECT reference, at, amount, outcome FROM spending_decision WHERE agent_id = $1',
    [agent.id],
  )
  const allowed = new Map(decisions.filter(({ outcome }) => outcome === 'allowed').map((one) => [one.reference, one]))
  found.figures.refused += decisions.length - allowed.size
  const steps = await statements.run<{ hold: string; kind: string; amount: bigint; captured: bigint }>(
    `SELECT h.id AS hold, p.kind, h.amount, h.captured
     FROM ledger_account a
     JOIN ledger_posting p ON p.account_id = a.id AND p.side = 'payer'
     JOIN ledger_hold h ON h.id = regexp_replace(p.movement_id, '\\.(reserve|end)$', '')
     WHERE a.owner = $1 AND a.kind = 'wallet' AND a.environment = 'sandbox'
     ORDER BY p.sequence`,
    [agent.userId],
  )
  const charged = new Map<string, bigint>()
  const calls = new Map<string, number>()
  const most = new Map<string, bigint | number>()
  const seen = new Set<string>()
  for (const { hold, kind, amount, captured } of steps) {
    const decision = allowed.get(hold)
    if (decision === undefined) {
      found.problems.push(`${agent.id}: the lock ${hold} was never allowed`)
      continue
    }
    const reserving = kind === 'reserve'
    if (reserving) {
      found.figures.locks++
      seen.add(hold)
      if (decision.amount !== amount)
        found.problems.push(`${hold} was allowed ${String(decision.amount)} and took ${String(amount)}`)
      const minute = startOf('perMinute', decision.at).toISOString()
      calls.set(minute, (calls.get(minute) ?? 0) + 1)
      note('callsPerMinute', calls.get(minute) ?? 0, agent.callsPerMinute)
      note('perCall', amount, agent.limits.perCall)
    } else found.figures.captured += Number(captured)
    for (const window of WINDOWS) {
      const key = `${window} ${startOf(window, decision.at).toISOString()}`
      const now = (charged.get(key) ?? 0n) + (reserving ? amount : captured - amount)
      charged.set(key, now)
      note(window, now, agent.limits[window])
    }
  }
  for (const reference of allowed.keys())
    if (!seen.has(reference)) found.problems.push(`${reference} was allowed without a lock`)
  for (const key of charged.keys()) {
    const window = key.split(' ')[0] ?? ''
    found.figures.windows[window] = (found.figures.windows[window] ?? 0) + 1
  }
  for (const [limit, share] of most) {
    const of = limit === 'callsPerMinute' ? agent.callsPerMinute : agent.limits[limit as WindowLimit]
    if (of != null && isTightest(agent, limit)) {
      found.figures.fullest.push({ limit, most: Number(share), of, share: Number(share) / of })
    }
  }
  await countersAgree(statements, agent, charged, found)

  function note(limit: string, now: bigint | number, of: number | null | undefined): void {
    if (now > (most.get(limit) ?? 0)) most.set(limit, now)
    if (of != null && now > of) found.problems.push(`${agent.id}: ${limit} ${String(of)} was passed: ${String(now)}`)
  }
}

/** Only an agent's tightest limit must have been reached; otherwise the test did not try it. */
function isTightest({ limits, callsPerMinute }: ChaosAgent, limit: string): boolean {
  return Object.keys(limits).length + (callsPerMinute === null ? 0 : 1) === 1 && limit !== 'perCall'
}

/** The counters, less released amounts that are not folded in yet, must equal the ledger's sums. */
async function countersAgree(
  statements: Statements,
  agent: ChaosAgent,
  charged: Map<string, bigint>,
  found: Audit,
): Promise<void> {
  const [row] = await statements.run<Record<string, bigint> & { counted_at: Date }>(
    'SELECT * FROM spending_agent WHERE id = $1',
    [agent.id],
  )
  const returns = await statements.run<{ at: Date; amount: bigint }>(
    'SELECT at, amount FROM spending_return WHERE agent_id = $1',
    [agent.id],
  )
  if (row === undefined) throw new Error('the agent is gone')
  const columns: Record<WindowLimit, string> = {
    perMinute: 'minute_spent',
    perDay: 'day_spent',
    perWeek: 'week_spent',
    perMonth: 'month_spent',
    lifetime: 'lifetime_spent',
  }
  for (const window of WINDOWS) {
    const start = startOf(window, row.counted_at).toISOString()
    const back = returns
      .filter(({ at }) => startOf(window, at).toISOString() === start)
      .reduce((sum, { amount }) => sum + amount, 0n)
    const counted = (row[columns[window]] ?? 0n) - back
    const real = charged.get(`${window} ${start}`) ?? 0n
    if (counted !== real)
      found.problems.push(`${agent.id}: ${window} is counted as ${String(counted)}, the ledger has ${String(real)}`)
  }
}
