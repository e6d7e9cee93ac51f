import type { DomainError } from '../../kit/errors.ts'
import { newId } from '../../kit/ids.ts'
import { ZERO, type Usdc } from '../../kit/money.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { ActOutcome } from '../../ledger/model.ts'
import { approvalRefused, approvalRequired, spendingLimit } from '../errors.ts'
import type { Approval, Expense, Spender, Usage } from '../model.ts'
import type { DecisionStore, NewDecision, Taken, TakenAgent } from '../ports.ts'
import { agentGone, APPROVAL_MS, decide, isWindow, refusedByPerson, warnings } from '../rules/decide.ts'
import { count, roll } from '../rules/windows.ts'
import { Book, newVersion, type HoldRequest, type Judged } from './book.ts'
import type { Memory } from './memory.ts'
import type { News } from './news.ts'

/**
 * One batch of decisions in one transaction: each request is judged in turn, counting the requests before it; the
 * ledger creates the holds, and the results are written. If this process's memory of the agents allows everything, the
 * results are written at once, on condition that the memory is still right; otherwise the agents' rows are read.
 */
export async function openSession(
  deps: SessionDeps,
  batch: Requests,
  remembered: ReadonlyMap<string, TakenAgent> | null,
): Promise<Session> {
  const quick = remembered === null ? null : openQuickly(deps, batch, remembered)
  return quick ?? (await openCarefully(deps, batch))
}

/** The requests of a batch, with the transaction that decides about them and its time. */
interface Requests {
  inside: Statements
  requests: readonly HoldRequest[]
  now: Date
}

export interface Session {
  /** Null lets the ledger decide. */
  outcomes: readonly (ActOutcome | null)[]
  /** Writes the result of each request; returns the outcomes for their callers. */
  close(outcomes: readonly ActOutcome[]): Promise<readonly ActOutcome[]>
  /** Whether the results written ahead broke the transaction. */
  wroteTooEarly(): Promise<boolean>
  /** Stores the agents' new state in the memory after the commit. */
  remember(memory: Memory): void
}

/**
 * The memory was outdated, one of the holds was counted before, or the ledger refused one. Everything is undone, and
 * judged again from the rows.
 */
export class WroteTooEarly extends Error {
  override readonly name = 'WroteTooEarly'
}

/** Null if the memory does not allow all of the requests. */
function openQuickly(
  { store, defaultPerDay }: SessionDeps,
  { inside, requests, now }: Requests,
  agents: ReadonlyMap<string, TakenAgent>,
): Session | null {
  const usages = new Map([...agents].map(([id, { usage }]) => [id, roll(usage, now)]))
  const decisions: NewDecision[] = []
  const references = new Set<string>()
  for (const request of requests) {
    const { agentId } = request.spender
    const [found, usage] = [agents.get(agentId), usages.get(agentId)]
    if (found === undefined || usage === undefined) return null
    const expense = expenseOf(request, found)
    if (decide(found.agent, usage, expense, { approved: false, defaultPerDay }).outcome !== 'allowed') return null
    usages.set(agentId, count(usage, expense.amount, expense))
    references.add(request.reserve.id)
    decisions.push(allowedDecision(request, expense, usage))
  }
  if (references.size < requests.length) return null
  const after = [...agents].map(([id, taken]): [string, TakenAgent] => {
    return [id, { ...taken, usage: usages.get(id) ?? taken.usage, version: newVersion() }]
  })
  // Alerts are decided from the rows, because money that came back may have made them untrue.
  const tells = after.some(([id, { agent, usage }]) => {
    return warnings(agent.policy, roll(agents.get(id)?.usage ?? usage, now), usage).length > 0
  })
  if (tells) return null
  const counted = after.flatMap(([id, { agent, usage, version: next }]) => {
    const version = agents.get(id)?.version
    return version === undefined ? [] : [{ id, usage, status: agent.status, version, next }]
  })
  // Not awaited yet: it is sent before the ledger's statement, which is built meanwhile.
  const written = store.record(inside, counted, decisions).catch(() => false)
  return {
    outcomes: requests.map(() => null),
    async close(outcomes) {
      if (!(await written) || !outcomes.every((outcome) => 'hold' in outcome)) throw new WroteTooEarly()
      return outcomes
    },
    wroteTooEarly: async () => !(await written),
    remember(memory) {
      for (const [id, agent] of after) memory.giveBack(id, agent)
    },
  }
}

function allowedDecision({ reserve, spender }: HoldRequest, expense: Expense, usage: Usage): NewDecision {
  return {
    agentId: spender.agentId,
    at: usage.at,
    kind: expense.kind,
    target: expense.target,
    alias: expense.alias,
    domain: expense.domain,
    amount: expense.amount,
    outcome: 'allowed',
    rule: null,
    pattern: null,
    reference: reserve.id,
    approvalId: null,
  }
}

async function openCarefully(deps: SessionDeps, batch: Requests): Promise<Session> {
  const { store } = deps
  const { inside, requests, now } = batch
  const taken = await store.take(
    inside,
    requests.map(({ spender }) => spender.agentId),
    requests.map(({ reserve }) => reserve.id),
  )
  const approvals = await approvalsFor(store, batch, taken)
  const judged = await withoutFalseRefusals(store, inside, requests, judgeAll(deps, batch, taken, approvals))
  const book = new Book(taken, now)
  let sound = true
  return {
    outcomes: judged.map((one): ActOutcome | null => {
      if (one.kind === 'counted') return null
      if (one.kind === 'unclear') return { askAgain: true }
      if (one.kind === 'gone') return { refusal: spendingLimit(one.refusal) }
      switch (one.verdict.outcome) {
        case 'allowed':
          return null
        case 'refused':
          return {
            refusal:
              one.verdict.refusal.rule === 'approvalRefused' && one.approval !== null
                ? approvalRefused(one.approval)
                : spendingLimit(one.verdict.refusal),
          }
        case 'held':
          return { refusal: held(deps, one.approval) }
      }
    }),

    async close(outcomes) {
      const final = requests.map((request, place): ActOutcome => {
        const one = judged[place]
        const outcome = outcomes[place]
        if (one === undefined || outcome === undefined) throw new Error('a request ended without an outcome')
        if (one.kind === 'judged' && one.verdict.outcome === 'allowed' && !('hold' in outcome)) sound = false
        return one.kind === 'judged' ? book.enter(request, one, outcome) : outcome
      })
      if (!(await store.record(inside, book.counted(), book.decisions))) {
        throw new Error('an agent changed while its row was taken')
      }
      await store.recordApprovals(inside, book.ended, book.begun)
      const fresh = book.alerts.length === 0 ? [] : await store.tell(inside, book.alerts, now)
      await deps.announce(inside, { alerts: fresh, paused: book.paused, approvals: book.begun })
      return final
    },

    wroteTooEarly: () => Promise.resolve(false),

    remember(memory) {
      for (const [id, agent] of book.after()) {
        memory.learn(id, agent, taken.agents.get(id)?.version ?? agent.version, sound)
      }
    },
  }
}

/** Judges each request in turn, as if all allowed requests before it were paid. */
function judgeAll(
  { defaultPerDay }: SessionDeps,
  { requests, now }: Requests,
  taken: Taken,
  open: ReadonlyMap<string, Approval>,
): readonly Judged[] {
  const approvals = new Map(open)
  const usages = new Map([...taken.agents].map(([id, { usage }]) => [id, roll(usage, now)]))
  const judged = new Set<string>()
  const paused = new Set<string>()

  function judge({ reserve, spender }: HoldRequest): Judged {
    // It was counted when its hold was created: a repetition gets the ledger's same answer.
    if (taken.counted.has(reserve.id)) return { kind: 'counted' }
    // The same hold twice in one batch: the second request learns the first one's outcome in the next batch.
    if (judged.has(reserve.id)) return UNCLEAR
    judged.add(reserve.id)
    const found = taken.agents.get(spender.agentId)
    const usage = usages.get(spender.agentId)
    if (found === undefined || usage === undefined || found.deleted)
      return { kind: 'gone', refusal: agentGone(reserve.amount) }
    const expense = expenseOf({ reserve, spender }, found)
    const approval = approvals.get(keyOf(spender)) ?? null
    const approved = approval?.state === 'approved' && approval.expiresAt > now && approval.amount >= expense.amount
    const status = paused.has(spender.agentId) ? 'paused' : found.agent.status
    const verdict = decide({ ...found.agent, status }, usage, expense, { approved, defaultPerDay })
    if (verdict.outcome === 'allowed') {
      usages.set(spender.agentId, count(usage, expense.amount, expense))
      const { approvalAbove } = found.agent.policy
      const used = approved && approvalAbove !== null && expense.amount > approvalAbove
      // One approval is for one call: another identical request in the same batch needs its own.
      if (used) approvals.delete(keyOf(spender))
      return { kind: 'judged', expense, usage, verdict, approval: used ? approval : null, ended: null }
    }
    if (verdict.outcome === 'refused' && isWindow(verdict.refusal.rule) && found.agent.policy.onExceeded === 'pause') {
      paused.add(spender.agentId)
    }
    if (verdict.outcome === 'refused') return { kind: 'judged', expense, usage, verdict, approval: null, ended: null }
    // A person refused this exact request: until the refusal expires, no person is asked again.
    if (approval?.state === 'refused' && approval.expiresAt > now) {
      return { kind: 'judged', expense, usage, verdict: refusedByPerson(expense.amount), approval, ended: null }
    }
    const waiting = approval?.state === 'pending' && approval.expiresAt > now
    if (waiting && approval.amount >= expense.amount) {
      return { kind: 'judged', expense, usage, verdict, approval, ended: null }
    }
    // The existing approval was for less, or has expired: a person decides about this request.
    const begun = newApproval(found, spender, expense, now)
    approvals.set(keyOf(spender), begun)
    return { kind: 'judged', expense, usage, verdict, approval: begun, ended: approval, begins: true }
  }

  return requests.map(judge)
}

export interface SessionDeps {
  store: DecisionStore
  /** For agents without limits. */
  defaultPerDay: Usdc | null
  statusUrl(approval: Approval['id']): string
  announce(inside: Statements, news: News): Promise<void>
}

const UNCLEAR: Judged = { kind: 'unclear' }

/**
 * Another process may have created the same hold while this one waited for the agent's row. Then the counters already
 * include it, and the first check of the holds was too early. So a refusal counts only if a second check does not find
 * the hold either.
 */
async function withoutFalseRefusals(
  store: DecisionStore,
  inside: Statements,
  requests: readonly HoldRequest[],
  judged: readonly Judged[],
): Promise<readonly Judged[]> {
  const isRefused = (one: Judged): boolean => one.kind === 'judged' && one.verdict.outcome !== 'allowed'
  const references = requests.flatMap(({ reserve }, place) => (isRefused(judged[place] ?? UNCLEAR) ? [reserve.id] : []))
  if (references.length === 0) return judged
  const counted = await store.counted(inside, references)
  return judged.map((one, place) => (isRefused(one) && counted.has(requests[place]?.reserve.id ?? '') ? UNCLEAR : one))
}

async function approvalsFor(
  store: DecisionStore,
  { inside, requests, now }: Requests,
  taken: Taken,
): Promise<Map<string, Approval>> {
  const dear = requests.filter(({ reserve, spender }) => {
    const above = taken.agents.get(spender.agentId)?.agent.policy.approvalAbove ?? null
    return above !== null && reserve.amount > above
  })
  if (dear.length === 0) return new Map()
  const wanted = new Map(dear.map(({ spender }) => [keyOf(spender), spender]))
  const found = await store.approvals(inside, [...wanted.values()], now)
  return new Map(found.map((approval) => [keyOf(approval), approval]))
}

function expenseOf({ reserve, spender }: HoldRequest, { agent }: TakenAgent): Expense {
  const { kind, target, alias = null, toolNames = [], domain = null, ...known } = spender
  const { paysAccount = false, isFree = false, isUnpriced = false, isCounted = false } = known
  // A payment by another account counts as a call of this agent, but not as its owner's money.
  const own = reserve.owner.userId === agent.owner.userId && reserve.owner.environment === agent.owner.environment
  const amount = own ? reserve.amount : ZERO
  return { kind, target, alias, toolNames, domain, paysAccount, isFree, isUnpriced, isCounted, amount }
}

function newApproval({ agent }: TakenAgent, spender: Spender, { amount }: Expense, now: Date): Approval {
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

function held({ statusUrl }: SessionDeps, approval: Approval | null): DomainError {
  if (approval === null) throw new Error('a held call waits for an approval')
  return approvalRequired(approval, statusUrl(approval.id))
}

function keyOf({ agentId, requestHash }: { agentId: string; requestHash: string }): string {
  return `${agentId} ${requestHash}`
}
