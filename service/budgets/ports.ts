import type { Id } from '../kit/ids.ts'
import type { Usdc } from '../kit/money.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Owner } from '../kit/owner.ts'
import type { Announcement } from '../queue/model.ts'
import type { NewEvent } from '../deliveries/model.ts'
import type { Agent, AgentStatus, Approval, Decision, Kind, Page, Spent, Usage } from './model.ts'

/** What decisions need of the database, in their transaction. */
export interface DecisionStore {
  /**
   * Takes the agents' rows in the order of their ids, until the transaction ends, and folds in what came back since
   * their last decision. Of the references, those whose lock was counted already.
   */
  take(inside: Statements, agents: readonly string[], references: readonly string[]): Promise<Taken>
  /** Of these, the references whose lock was counted, as of now: `take` looked before it had the agents' rows. */
  counted(inside: Statements, references: readonly string[]): Promise<ReadonlySet<string>>
  /** The open approval of each request; at most one. */
  approvals(inside: Statements, keys: readonly ApprovalKey[], now: Date): Promise<readonly Approval[]>
  /**
   * The counters of every agent, and the decisions. Takes the agents' rows as `take` does; false where one of them is
   * not at the version any more that was counted from: the transaction must then be undone.
   */
  record(inside: Statements, agents: readonly Counted[], decisions: readonly NewDecision[]): Promise<boolean>
  /** Ends approvals for another state, in one statement with those that begin. */
  recordApprovals(inside: Statements, ended: readonly EndedApproval[], begun: readonly Approval[]): Promise<void>
  /** Those of the alerts that were not sent before. */
  tell(inside: Statements, alerts: readonly NewAlert[], now: Date): Promise<readonly NewAlert[]>
}

export interface Taken {
  agents: ReadonlyMap<string, TakenAgent>
  /** References of locks that were counted before. */
  counted: ReadonlySet<string>
}

export interface TakenAgent {
  agent: Agent
  deleted: boolean
  usage: Usage
  version: bigint
}

export interface ApprovalKey {
  agentId: string
  requestHash: string
}

export interface Counted {
  id: string
  status: AgentStatus | 'deleted'
  usage: Usage
  /** The row's before, and afterwards. */
  version: bigint
  next: bigint
}

export type NewDecision = Omit<Decision, 'id' | 'returned' | 'reference'> & { agentId: string; reference: string }

export interface EndedApproval {
  id: string
  state: 'used' | 'lapsed'
  usedBy: string | null
}

export interface NewAlert {
  agent: Agent
  event: 'agent.spending.warning' | 'agent.spending.exceeded'
  limit: string
  /** The share of the limit; 1 for exceeded. */
  at: number
  window: Date
  spent: Usdc
  allowed: Usdc
}

/** Agents, as their owners keep and look at them. */
export interface AgentStore {
  add(agent: Agent): Promise<Agent>
  find(owner: Owner, id: string): Promise<Agent | null>
  list(owner: Owner, page: Page): Promise<{ agents: readonly Agent[]; total: number }>
  /** Takes the agent's row as decisions do, and writes what `change` makes of it. */
  change(
    owner: Owner,
    id: string,
    change: (agent: Agent, inside: Statements) => Promise<Agent | 'deleted'>,
  ): Promise<Agent | 'deleted' | null>
  usage(id: string, now: Date): Promise<Usage>
  decisions(id: string, filter: DecisionFilter, page: Page): Promise<{ decisions: readonly Decision[]; total: number }>
  /** Oldest first, of a time, in pieces. */
  history(id: string, from: Date, after: { at: Date; id: string } | null, limit: number): Promise<readonly Decision[]>
  locksOf(id: string, locks: readonly string[]): Promise<ReadonlySet<string>>
  spent(id: string, by: SpentBy, from: Date, limit: number): Promise<readonly Spent[]>
}

export interface DecisionFilter {
  outcome: Decision['outcome'] | null
  kind: Kind | null
}

export type SpentBy = 'day' | 'target' | 'kind'

export interface ApprovalStore {
  list(
    owner: Owner,
    filter: { state: Approval['state'] | null; agentId: string | null },
    page: Page,
  ): Promise<{ approvals: readonly Approval[]; total: number }>
  find(id: string): Promise<Approval | null>
  /** From pending to decided, unless its time is over, with what `also` writes; the approval as it is then. */
  decide(
    id: string,
    decided: { state: 'approved' | 'refused'; now: Date; expiresAt: Date },
    also: (inside: Statements, approval: Approval) => Promise<void>,
  ): Promise<Decided | null>
  /** Those whose time is over. */
  lapse(now: Date, limit: number): Promise<readonly Approval[]>
}

export interface Decided {
  approval: Approval
  /** False: it was decided, or over, before. */
  changed: boolean
}

/** Writes announcements in another party's transaction. */
export type Announce = (inside: Statements, announcements: readonly Announcement[]) => Promise<void>

/** Tells the account's own endpoints of an event; telling it twice under one id is telling it once. */
export type TellEvent = (event: NewEvent) => Promise<void>

export type Pause = (ms: number) => Promise<void>

/** Ends the keys that are bound to an agent. */
export type RevokeKeys = (owner: Owner, agentId: Id<'agt'>) => Promise<void>

/** Signs what a link may do, so that the link alone proves it. */
export interface Tickets {
  of(approvalId: string): string
  proves(approvalId: string, ticket: string): boolean
}

/** An owner's address for mail, and the mail itself; null where none can be sent. */
export interface Post {
  send(owner: Owner, mail: { id: string; subject: string; text: string }): Promise<void>
}
