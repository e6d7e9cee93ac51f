import type { Id } from '../kit/ids.ts'
import type { Usdc } from '../kit/money.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Owner } from '../kit/owner.ts'
import type { Announcement } from '../queue/model.ts'
import type { NewEvent } from '../deliveries/model.ts'
import type { Agent, AgentStatus, Approval, Decision, Kind, Page, Spent, Usage } from './model.ts'

/** The database operations of decisions, in their transaction. */
export interface DecisionStore {
  /**
   * Locks the agents' rows in the order of their ids until the transaction ends, and adds the money that came back
   * since their last decision. Also returns which of the references belong to a hold that was already counted.
   */
  take(inside: Statements, agents: readonly string[], references: readonly string[]): Promise<Taken>
  /**
   * Which of these references belong to a hold that is counted by now: `take` checked before it had locked the agents'
   * rows.
   */
  counted(inside: Statements, references: readonly string[]): Promise<ReadonlySet<string>>
  /** The open approval of each request, at most one. */
  approvals(inside: Statements, keys: readonly ApprovalKey[], now: Date): Promise<readonly Approval[]>
  /**
   * Writes the counters of every agent, and the decisions. Locks the agents' rows as `take` does. Returns false if an
   * agent's version is no longer the one that was counted from: the transaction must then be undone.
   */
  record(inside: Statements, agents: readonly Counted[], decisions: readonly NewDecision[]): Promise<boolean>
  /** Gives ended approvals their final state, and inserts new ones in the same statement. */
  recordApprovals(inside: Statements, ended: readonly EndedApproval[], begun: readonly Approval[]): Promise<void>
  /** Returns the alerts that were not sent before. */
  tell(inside: Statements, alerts: readonly NewAlert[], now: Date): Promise<readonly NewAlert[]>
}

export interface Taken {
  agents: ReadonlyMap<string, TakenAgent>
  /** References of holds that were counted before. */
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
  /** The row's version before and after the write. */
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

/** Stores agents for their owners. */
export interface AgentStore {
  add(agent: Agent): Promise<Agent>
  find(owner: Owner, id: string): Promise<Agent | null>
  list(owner: Owner, page: Page): Promise<{ agents: readonly Agent[]; total: number }>
  /** Locks the agent's row as decisions do, and writes the result of `change`. */
  change(
    owner: Owner,
    id: string,
    change: (agent: Agent, inside: Statements) => Promise<Agent | 'deleted'>,
  ): Promise<Agent | 'deleted' | null>
  usage(id: string, now: Date): Promise<Usage>
  decisions(id: string, filter: DecisionFilter, page: Page): Promise<{ decisions: readonly Decision[]; total: number }>
  /** Decisions since `from`, oldest first, page by page. */
  history(id: string, from: Date, after: { at: Date; id: string } | null, limit: number): Promise<readonly Decision[]>
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
  /**
   * Moves an approval from pending to decided, unless it has expired, together with the writes of `also`. Returns the
   * approval after that.
   */
  decide(
    id: string,
    decided: { state: 'approved' | 'refused'; now: Date; expiresAt: Date },
    also: (inside: Statements, approval: Approval) => Promise<void>,
  ): Promise<Decided | null>
  /** Ends expired approvals and returns them. */
  lapse(now: Date, limit: number): Promise<readonly Approval[]>
}

export interface Decided {
  approval: Approval
  /** False when it was decided or had expired before. */
  changed: boolean
}

/** Writes announcements in another party's transaction. */
export type Announce = (inside: Statements, announcements: readonly Announcement[]) => Promise<void>

/** Sends an event to the account's own endpoints; sending it twice under one id counts once. */
export type TellEvent = (event: NewEvent) => Promise<void>

export type Pause = (ms: number) => Promise<void>

/** Revokes the keys of an agent. */
export type RevokeKeys = (owner: Owner, agentId: Id<'agt'>) => Promise<void>

/** Signs the permission of a link, so that the link alone proves it. */
export interface Tickets {
  of(approvalId: string): string
  proves(approvalId: string, ticket: string): boolean
}

/** Mails an owner; null if the server cannot send mail. */
export interface Post {
  send(
    owner: Owner,
    mail: { id: string; subject: string; text: string },
    /** An account is sent a limited number of mails of a kind. */
    counted: { kind: string; attempt: number },
  ): Promise<void>
}
