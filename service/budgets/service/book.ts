import { randomBytes } from 'node:crypto'
import type { DomainError } from '../../kit/errors.ts'
import { ZERO } from '../../kit/money.ts'
import type { ActOutcome } from '../../ledger/model.ts'
import type { Agent, AgentReserve, Approval, Decision, Expense, Refusal, Spender, Usage, Verdict } from '../model.ts'
import type { Counted, EndedApproval, NewAlert, NewDecision, Taken, TakenAgent } from '../ports.ts'
import { isWindow, warnings } from '../rules/decide.ts'
import { count, roll, startOf } from '../rules/windows.ts'

/** The results of a batch, built up in the order of its requests. */
export class Book {
  readonly decisions: NewDecision[] = []
  readonly ended: EndedApproval[] = []
  readonly begun: Approval[] = []
  readonly alerts: NewAlert[] = []
  readonly paused: { agent: Agent; limit: string }[] = []
  private readonly usages: Map<string, Usage>
  private readonly statuses: Map<string, Counted['status']>
  /** Agents with a call that the ledger refused: later calls of theirs in the batch are judged again. */
  private readonly retryAgents = new Set<string>()
  private readonly stamps = new Map<string, bigint>()
  private readonly taken: Taken

  constructor(taken: Taken, now: Date) {
    this.taken = taken
    this.usages = new Map([...taken.agents].map(([id, { usage }]) => [id, roll(usage, now)]))
    this.statuses = new Map(
      [...taken.agents].map(([id, { agent, deleted }]) => [id, deleted ? 'deleted' : agent.status]),
    )
  }

  enter({ reserve, spender }: HoldRequest, one: Extract<Judged, { kind: 'judged' }>, outcome: ActOutcome): ActOutcome {
    const { agentId } = spender
    const { verdict, expense } = one
    const usage = this.usages.get(agentId)
    const found = this.taken.agents.get(agentId)
    if (usage === undefined || found === undefined) throw new Error('a judged expense has its agent')
    const write = (what: Pick<Decision, 'outcome' | 'rule' | 'pattern'>): void => {
      const { kind, target, alias, domain, amount } = expense
      const approvalId = one.approval?.id ?? null
      const named = { agentId, reference: reserve.id, at: usage.at, kind, target, alias, domain, amount, approvalId }
      this.decisions.push({ ...named, ...what })
    }
    switch (verdict.outcome) {
      case 'allowed': {
        if (!('hold' in outcome)) {
          this.retryAgents.add(agentId)
          if ('refusal' in outcome && codeOf(outcome.refusal) === 'insufficient_balance') {
            write({ outcome: 'refused', rule: 'balance', pattern: null })
          }
          return outcome
        }
        const after = count(usage, expense.amount, expense)
        this.usages.set(agentId, after)
        if (one.approval !== null) this.ended.push({ id: one.approval.id, state: 'used', usedBy: reserve.id })
        if (expense.isUnpriced !== true) write({ outcome: 'allowed', rule: null, pattern: null })
        this.warn(found, usage, after)
        return outcome
      }
      case 'refused': {
        const { rule, pattern } = verdict.refusal
        // It was judged as if an earlier call were paid, but the ledger refused that one: the next batch judges it
        // again.
        if (this.retryAgents.has(agentId) && (isWindow(rule) || rule === 'callsPerMinute' || rule === 'limits'))
          return { askAgain: true }
        if (rule === 'paused' && this.statuses.get(agentId) !== 'paused') return { askAgain: true }
        write({ outcome: 'refused', rule, pattern })
        this.exceed(found, verdict.refusal, usage)
        return outcome
      }
      case 'held':
        if (one.begins === true && one.approval !== null) {
          this.begun.push(one.approval)
          if (one.ended !== null) this.ended.push({ id: one.ended.id, state: 'lapsed', usedBy: null })
        }
        write({ outcome: 'held', rule: 'approvalAbove', pattern: null })
        return outcome
    }
  }

  counted(): Counted[] {
    return [...this.taken.agents].map(([id, { version, usage }]) => {
      const next = this.stamps.get(id) ?? newVersion()
      this.stamps.set(id, next)
      return { id, version, next, usage: this.usages.get(id) ?? usage, status: this.statuses.get(id) ?? 'active' }
    })
  }

  /** The agents as they are after this is written. */
  after(): [string, TakenAgent][] {
    return this.counted().map(({ id, usage, status, next }) => {
      const found = this.taken.agents.get(id)
      if (found === undefined) throw new Error('a counted agent was taken')
      const agent = status === 'deleted' ? found.agent : { ...found.agent, status }
      return [id, { agent, deleted: found.deleted, usage, version: next }]
    })
  }

  private warn({ agent }: TakenAgent, before: Usage, after: Usage): void {
    for (const { limit, at, window } of warnings(agent.policy, before, after)) {
      const allowed = agent.policy.limits[limit] ?? ZERO
      this.alerts.push({ agent, event: 'agent.spending.warning', limit, at, window, spent: after[limit], allowed })
    }
  }

  private exceed({ agent }: TakenAgent, { rule, limit }: Refusal, usage: Usage): void {
    if (!isWindow(rule) || typeof limit !== 'bigint') return
    const window = startOf(rule, usage.at)
    this.alerts.push({
      agent,
      event: 'agent.spending.exceeded',
      limit: rule,
      at: 1,
      window,
      spent: usage[rule],
      allowed: limit,
    })
    if (agent.policy.onExceeded !== 'pause' || this.statuses.get(agent.id) !== 'active') return
    this.statuses.set(agent.id, 'paused')
    this.paused.push({ agent, limit: rule })
  }
}

/**
 * Random instead of counted: a database server that lost its last moments would assign some numbers twice, and a
 * process that remembers the first use could not tell it from the second.
 */
export function newVersion(): bigint {
  return randomBytes(8).readBigInt64BE() >> 1n
}

/** A request for a hold for an agent, or a call that costs nothing and needs none. */
export interface HoldRequest {
  reserve: Pick<AgentReserve, 'id' | 'owner' | 'amount'>
  spender: Spender
}

/** The rules' decision about a request. */
export type Judged =
  | { kind: 'counted' }
  /** Its hold was counted while this batch waited: the next batch sees it. */
  | { kind: 'unclear' }
  | { kind: 'gone'; refusal: Refusal }
  | {
      kind: 'judged'
      expense: Expense
      /** The usage before this expense, including all earlier ones. */
      usage: Usage
      verdict: Verdict
      /** The approval that it uses or waits for. */
      approval: Approval | null
      /** The open approval that it replaces. */
      ended: Approval | null
      begins?: true
    }

function codeOf(error: Error): string {
  return (error as Partial<DomainError>).code ?? ''
}
