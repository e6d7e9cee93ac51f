import type { DomainError } from '../../kit/errors.ts'
import { newId } from '../../kit/ids.ts'
import { usdc, ZERO } from '../../kit/money.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { ActOutcome } from '../../ledger/model.ts'
import { approvalRequired, spendingLimit } from '../errors.ts'
import type { AgentReserve, Approval, Ask, Refusal, Spender } from '../model.ts'
import type { DecisionStore, Taken, TakenAgent } from '../ports.ts'
import { APPROVAL_MS, decide, isWindow } from '../rules.ts'
import { count, roll } from '../rules/windows.ts'
import { Book, type Asked, type Judged } from './book.ts'
import type { News } from './news.ts'

/**
 * One batch of decisions in one transaction: the agents are taken, each ask is judged in its turn against what
 * those before it would take, the ledger is asked for the locks, and `close` writes down what came of it.
 */
export async function openSession(parts: SessionParts, inside: Statements, asks: readonly Asked[], now: Date) {
  const { store } = parts
  const taken = await store.take(
    inside,
    asks.map(({ spender }) => spender.agentId),
    asks.map(({ reserve }) => reserve.id),
  )
  const approvals = await approvalsFor(store, inside, asks, taken)
  const usages = new Map([...taken.agents].map(([id, { usage }]) => [id, roll(usage, now)]))
  const asked = new Set<string>()
  const paused = new Set<string>()
  const judged = await withoutFalseRefusals(
    store,
    inside,
    asks,
    asks.map((asked) => judge(asked)),
  )

  function judge({ reserve, spender }: Asked): Judged {
    // It was counted when the lock was taken: whoever asks again gets the ledger's same answer.
    if (taken.counted.has(reserve.id)) return { kind: 'counted' }
    // Twice in one batch: the second learns in the next what became of the first.
    if (asked.has(reserve.id)) return UNCLEAR
    asked.add(reserve.id)
    const found = taken.agents.get(spender.agentId)
    const usage = usages.get(spender.agentId)
    if (found === undefined || usage === undefined || found.deleted) return { kind: 'gone', refusal: gone(reserve) }
    const ask = askOf({ reserve, spender }, found)
    const approval = approvals.get(keyOf(spender)) ?? null
    const approved = approval?.state === 'approved' && approval.expiresAt > now && approval.amount >= ask.amount
    const status = paused.has(spender.agentId) ? 'paused' : found.agent.status
    const verdict = decide({ ...found.agent, status }, usage, ask, approved)
    if (verdict.outcome === 'allowed') {
      usages.set(spender.agentId, count(usage, ask.amount))
      const { approvalAbove } = found.agent.policy
      const used = approved && approvalAbove !== null && ask.amount > approvalAbove
      // One approval is one call: the next of the same request in this very batch needs its own.
      if (used) approvals.delete(keyOf(spender))
      return { kind: 'judged', ask, usage, verdict, approval: used ? approval : null, ended: null }
    }
    if (verdict.outcome === 'refused' && isWindow(verdict.refusal.rule) && found.agent.policy.onExceeded === 'pause') {
      paused.add(spender.agentId)
    }
    if (verdict.outcome === 'refused') return { kind: 'judged', ask, usage, verdict, approval: null, ended: null }
    const waiting = approval !== null && approval.state === 'pending' && approval.expiresAt > now
    if (waiting && approval.amount >= ask.amount) {
      return { kind: 'judged', ask, usage, verdict, approval, ended: null }
    }
    // What was agreed to, or asked for, was cheaper or is over: a person decides about this one.
    const begun = newApproval(found, spender, ask, now)
    approvals.set(keyOf(spender), begun)
    return { kind: 'judged', ask, usage, verdict, approval: begun, ended: approval, begins: true }
  }

  return {
    /** Null lets the ledger decide. */
    outcomes: judged.map((one): ActOutcome | null => {
      if (one.kind === 'counted') return null
      if (one.kind === 'unclear') return { askAgain: true }
      if (one.kind === 'gone') return { refusal: spendingLimit(one.refusal) }
      switch (one.verdict.outcome) {
        case 'allowed':
          return null
        case 'refused':
          return { refusal: spendingLimit(one.verdict.refusal) }
        case 'held':
          return { refusal: held(parts, one.approval) }
      }
    }),

    /** Writes what became of each; answers the outcomes as the askers shall have them. */
    async close(outcomes: readonly ActOutcome[]): Promise<readonly ActOutcome[]> {
      const book = new Book(taken, now)
      const final = asks.map((asked, place): ActOutcome => {
        const one = judged[place]
        const outcome = outcomes[place]
        if (one === undefined || outcome === undefined) throw new Error('an ask was left without an outcome')
        return one.kind === 'judged' ? book.enter(asked, one, outcome) : outcome
      })
      await store.record(inside, book.counted(), book.decisions)
      await store.recordApprovals(inside, book.ended, book.begun)
      const told = book.alerts.length === 0 ? [] : await store.tell(inside, book.alerts, now)
      await parts.announce(inside, { alerts: told, paused: book.paused, approvals: book.begun })
      return final
    },
  }
}

export interface SessionParts {
  store: DecisionStore
  statusUrl(approval: Approval['id']): string
  announce(inside: Statements, news: News): Promise<void>
}

const UNCLEAR: Judged = { kind: 'unclear' }

/**
 * Another process may have taken the very same lock while this one waited for the agent's row: then the counters
 * have it already, and the look at the locks was too early. So a refusal counts only when a later look does not
 * know the lock either.
 */
async function withoutFalseRefusals(
  store: DecisionStore,
  inside: Statements,
  asks: readonly Asked[],
  judged: readonly Judged[],
): Promise<readonly Judged[]> {
  const isRefused = (one: Judged): boolean => one.kind === 'judged' && one.verdict.outcome !== 'allowed'
  const references = asks.flatMap(({ reserve }, place) => (isRefused(judged[place] ?? UNCLEAR) ? [reserve.id] : []))
  if (references.length === 0) return judged
  const counted = await store.counted(inside, references)
  return judged.map((one, place) => (isRefused(one) && counted.has(asks[place]?.reserve.id ?? '') ? UNCLEAR : one))
}

async function approvalsFor(
  store: DecisionStore,
  inside: Statements,
  asks: readonly Asked[],
  taken: Taken,
): Promise<Map<string, Approval>> {
  const dear = asks.filter(({ reserve, spender }) => {
    const above = taken.agents.get(spender.agentId)?.agent.policy.approvalAbove ?? null
    return above !== null && reserve.amount > above
  })
  if (dear.length === 0) return new Map()
  const wanted = new Map(dear.map(({ spender }) => [keyOf(spender), spender]))
  const found = await store.approvals(inside, [...wanted.values()])
  return new Map(found.map((approval) => [keyOf(approval), approval]))
}

function askOf({ reserve, spender }: Asked, { agent }: TakenAgent): Ask {
  const { kind, target, alias = null, domain = null } = spender
  // What somebody else pays is a call of this agent, but none of its owner's money.
  const own = reserve.owner.userId === agent.owner.userId && reserve.owner.environment === agent.owner.environment
  return { kind, target, alias, domain, amount: own ? reserve.amount : ZERO }
}

function newApproval({ agent }: TakenAgent, spender: Spender, { amount }: Ask, now: Date): Approval {
  return {
    id: newId('apr', now),
    owner: agent.owner,
    agentId: agent.id,
    agentName: agent.name,
    state: 'pending',
    kind: spender.kind,
    target: spender.target,
    amount,
    requestHash: spender.requestHash,
    onApproved: spender.onApproved ?? null,
    createdAt: now,
    expiresAt: new Date(now.getTime() + APPROVAL_MS),
    decidedAt: null,
    usedBy: null,
  }
}

function held({ statusUrl }: SessionParts, approval: Approval | null): DomainError {
  if (approval === null) throw new Error('a held call waits for an approval')
  return approvalRequired(approval, statusUrl(approval.id))
}

function gone({ amount }: AgentReserve): Refusal {
  return { rule: 'deleted', spent: null, requested: usdc(amount), limit: null, pattern: null, resetsAt: null }
}

function keyOf({ agentId, requestHash }: { agentId: string; requestHash: string }): string {
  return `${agentId} ${requestHash}`
}
