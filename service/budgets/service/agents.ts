import { breathing } from '../../kit/breath.ts'
import { accountOf, type Caller } from '../../kit/caller.ts'
import type { Clock } from '../../kit/clock.ts'
import { FairTurns } from '../../kit/fair-line.ts'
import { deriveId, type Id } from '../../kit/ids.ts'
import { usdc, ZERO, type Usdc } from '../../kit/money.ts'
import type { Statements } from '../../kit/transaction.ts'
import { agentMissing, simulationsBusy } from '../errors.ts'
import type { Agent, AgentStatus, Expense, Page, Policy, Replayed, Spent, Usage, Verdict } from '../model.ts'
import type { AgentStore, DecisionFilter, RevokeKeys, SpentBy } from '../ports.ts'
import { decide, defaultPerDayOf } from '../rules/decide.ts'
import { contradictions } from '../rules/contradictions.ts'
import { count, emptyUsage, roll } from '../rules/windows.ts'
import type { News } from './news.ts'

/** Lets owners create, change and read their agents. */
export function createAgents(deps: AgentsDeps) {
  const { store, clock, defaultPerDay } = deps
  const turns = new FairTurns(SIMULATION_TURNS)

  async function find(caller: Caller, id: string): Promise<Agent> {
    const agent = await store.find(accountOf(caller), id)
    if (agent === null) throw agentMissing()
    return agent
  }

  return {
    find,

    /** What an agent without limits may spend in a day on assets of other accounts; null where it has limits. */
    defaultPerDayOf: ({ policy }: Pick<Agent, 'policy'>) => defaultPerDayOf(policy, defaultPerDay),

    list: (caller: Caller, page: Page) => store.list(accountOf(caller), page),

    /** The operation names the agent: a repetition after a crash returns the same one. */
    async create(caller: Caller, input: AgentInput, operation: Id<'op'>): Promise<Agent> {
      const now = clock.now()
      const id = deriveId('agt', operation)
      return await store.add({ ...input, id, owner: accountOf(caller), createdAt: now, updatedAt: now })
    },

    /** Takes effect from the next decision on; a decision that is under way still uses the old policy. */
    async change(caller: Caller, id: string, change: (agent: Agent) => Agent): Promise<Agent> {
      const changed = await store.change(accountOf(caller), id, async (agent, inside) => {
        const after = { ...change(agent), updatedAt: clock.now() }
        if (agent.status === 'active' && after.status === 'paused') {
          await deps.announce(inside, { alerts: [], approvals: [], paused: [{ agent: after, limit: null }] })
        }
        return after
      })
      if (changed === null || changed === 'deleted') throw agentMissing()
      return changed
    },

    /** Its keys are revoked with it; its spending history stays. */
    async remove(caller: Caller, id: string): Promise<void> {
      const owner = accountOf(caller)
      // Revoked first: without its keys no request can use the agent, even if the process dies right after this.
      if ((await store.find(owner, id)) !== null) await deps.revokeKeys(owner, id as Id<'agt'>)
      const removed = await store.change(owner, id, () => Promise.resolve('deleted'))
      if (removed === null) throw agentMissing()
    },

    exists: async (owner: Agent['owner'], id: string): Promise<boolean> => (await store.find(owner, id)) !== null,

    async standing(caller: Caller, id: string): Promise<Standing> {
      const agent = await find(caller, id)
      return { agent, usage: await store.usage(agent.id, clock.now()), warnings: contradictions(agent.policy) }
    },

    /** The decision that a call would get now; creates no hold. */
    async check(caller: Caller, id: string, expense: Expense): Promise<Verdict> {
      const agent = await find(caller, id)
      const usage = await store.usage(agent.id, clock.now())
      return decide(agent, usage, withoutSeller(expense), { approved: false, defaultPerDay })
    },

    async decisions(caller: Caller, id: string, filter: DecisionFilter, page: Page) {
      return await store.decisions((await find(caller, id)).id, filter, page)
    },

    async spent(caller: Caller, id: string, by: SpentBy, days: number): Promise<readonly Spent[]> {
      const agent = await find(caller, id)
      return await store.spent(agent.id, by, daysAgo(clock.now(), days), GROUPS_MAX)
    },

    /** Which calls of the last `days` this policy would have refused or held. */
    async simulate(caller: Caller, id: string, policy: Policy, days: number): Promise<Simulation> {
      const { id: agentId, owner } = await find(caller, id)
      const from = daysAgo(clock.now(), days)
      return await turns.run(owner.userId, () => simulate(deps, { agentId, policy, from }), simulationsBusy)
    },
  }
}

export type Agents = ReturnType<typeof createAgents>

export interface AgentsDeps {
  store: AgentStore
  clock: Clock
  /** For agents without limits. */
  defaultPerDay: Usdc | null
  revokeKeys: RevokeKeys
  announce(inside: Statements, news: News): Promise<void>
}

export interface AgentInput {
  name: string
  status: AgentStatus
  policy: Policy
}

export interface Standing {
  agent: Agent
  usage: Usage
  warnings: readonly string[]
}

export interface Simulation {
  calls: number
  allowed: number
  refused: number
  held: number
  from: Date
  /** False when there were more calls than one simulation reads. */
  complete: boolean
  /** The first calls that would not have been allowed. */
  examples: Replayed[]
}

/**
 * Replays an agent's calls in order under this policy: a call that it would have refused uses no limit, and money that
 * came back later is not counted against the calls that followed.
 */
async function simulate(
  { store, defaultPerDay }: AgentsDeps,
  { agentId, policy, from }: { agentId: string; policy: Policy; from: Date },
): Promise<Simulation> {
  let usage = emptyUsage(from)
  const would: Simulation = { calls: 0, allowed: 0, refused: 0, held: 0, from, complete: true, examples: [] }
  let after: { at: Date; id: string } | null = null
  const breathe = breathing()
  while (would.calls < REPLAYED_MAX) {
    const piece = await store.history(agentId, from, after, PIECE)
    for (const decision of piece) {
      await breathe()
      would.calls++
      usage = roll(usage, decision.at)
      // Only what costs nothing was allowed without an amount.
      const isFree = decision.outcome === 'allowed' && decision.amount === ZERO
      const expense = { ...withoutSeller(decision), isFree }
      const verdict = decide({ status: 'active', policy }, usage, expense, { approved: false, defaultPerDay })
      if (verdict.outcome === 'allowed') {
        const { outcome, amount, returned } = decision
        usage = count(usage, outcome === 'allowed' ? usdc(amount - returned) : amount)
      } else if (would.examples.length < EXAMPLES_MAX) would.examples.push({ decision, verdict })
      would[verdict.outcome]++
    }
    const last = piece.at(-1)
    if (last === undefined || piece.length < PIECE) return would
    after = last
  }
  return { ...would, complete: false }
}

/** A dry run does not know who sells the asset: it takes each for another account's. */
function withoutSeller(expense: Expense): Expense {
  return { ...expense, paysAccount: expense.kind === 'run' || expense.target.startsWith('rda-') }
}

function daysAgo(now: Date, days: number): Date {
  return new Date(now.getTime() - days * 86_400_000)
}

const PIECE = 2_000
/** With as many patterns as a policy may have, each takes up to half a millisecond. */
const REPLAYED_MAX = 20_000
const SIMULATION_TURNS = { atOnce: 2, perAccount: 1, waitingPerAccount: 1, waiting: 20 }
const EXAMPLES_MAX = 100
const GROUPS_MAX = 100
