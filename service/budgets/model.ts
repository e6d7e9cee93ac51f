import type { Id } from '../kit/ids.ts'
import type { Usdc } from '../kit/money.ts'
import type { Reserve } from '../ledger/model.ts'
import type { Owner } from '../kit/owner.ts'
import type { Announcement } from '../queue/model.ts'

/** A program that spends its owner's money, and what it may do with it. */
export interface Agent {
  id: Id<'agt'>
  owner: Owner
  name: string
  status: AgentStatus
  policy: Policy
  createdAt: Date
  updatedAt: Date
}

export type AgentStatus = 'active' | 'paused'

export interface Policy {
  limits: Readonly<Record<Limit, Usdc | null>>
  rate: { callsPerMinute: number | null }
  tools: Patterns
  rdas: Patterns
  domains: Patterns
  /** A dearer call waits for a person. */
  approvalAbove: Usdc | null
  alerts: readonly Alert[]
  /** What follows when a limit refuses a call: only that, or the agent is paused as well. */
  onExceeded: 'refuse' | 'pause'
}

/** Of amounts; in the order in which people see them. */
export const LIMITS = ['perCall', 'perMinute', 'perDay', 'perWeek', 'perMonth', 'lifetime'] as const
export type Limit = (typeof LIMITS)[number]
/** The limits that fill up over a time. */
export type WindowLimit = Exclude<Limit, 'perCall'>

/** With `*` for any text. A list of allowed ones that is there denies all others; denied ones win. */
export interface Patterns {
  allow: readonly string[] | null
  deny: readonly string[]
}

/** Sent once in a window, when this share of the limit is reached; of every limit when none is named. */
export interface Alert {
  at: number
  limit: WindowLimit | null
}

export const KINDS = ['run', 'tool', 'pay'] as const
export type Kind = (typeof KINDS)[number]

/** Who wants to spend, and on what. */
export interface Spender {
  agentId: string
  kind: Kind
  /** A slug, or the address that is paid. */
  target: string
  /** The target's other name, its id, which patterns may mean as well. */
  alias?: string
  /** Of a run that was called as a tool: the tool's names, which must pass the agent's list of tools besides. */
  toolNames?: readonly string[]
  /** The host that gets the money, where there is one, and with its port. */
  domain?: string
  /** Names the very request: an approval of it holds for no other. */
  requestHash: string
  /** For a call that no caller waits for: announced when a person approves, so that it goes on by itself. */
  onApproved?: Announcement
}

/** A command to set money aside, and the agent that spends it. */
export type AgentReserve = Reserve & { spender?: Spender | null }

/** What an agent wants to spend, on what. */
export interface Expense {
  kind: Kind
  target: string
  alias: string | null
  toolNames?: readonly string[]
  domain: string | null
  amount: Usdc
}

/** How much of each limit is taken: captured, or reserved and not given back. Belongs to the windows of `at`. */
export interface Usage {
  at: Date
  perMinute: Usdc
  perDay: Usdc
  perWeek: Usdc
  perMonth: Usdc
  lifetime: Usdc
  /** Calls of this minute; one that failed was a call. */
  calls: number
}

/** The rule that decided. */
export type Rule =
  | Limit
  | 'callsPerMinute'
  | 'paused'
  | 'deleted'
  /** None is set, and money that leaves needs one. */
  | 'limits'
  | `${'tools' | 'rdas' | 'domains'}.${'allow' | 'deny'}`
  | 'approvalAbove'
  /** A person has refused this very act. */
  | 'approvalRefused'
  | 'balance'

export type Verdict =
  | { outcome: 'allowed' }
  | { outcome: 'refused'; refusal: Refusal }
  /** Allowed as soon as a person says so. */
  | { outcome: 'held' }

export interface Refusal {
  rule: Rule
  /** Of a limit: what is taken of it; of the rate: the calls. */
  spent: Usdc | number | null
  requested: Usdc
  limit: Usdc | number | null
  /** The pattern that denied. */
  pattern: string | null
  /** When the window is over; null where waiting does not help. */
  resetsAt: Date | null
}

/** A decision as it is stored. */
export interface Decision {
  id: string
  at: Date
  kind: Kind
  target: string
  alias: string | null
  domain: string | null
  amount: Usdc
  outcome: Verdict['outcome']
  /** Null when nothing stood against it. */
  rule: Rule | null
  pattern: string | null
  /** The lock, which is named like the run, the call or the payment. */
  reference: string | null
  /** What of the amount was given back. */
  returned: Usdc
  approvalId: Id<'apr'> | null
}

export interface Approval {
  id: Id<'apr'>
  owner: Owner
  agentId: Id<'agt'>
  agentName: string
  state: ApprovalState
  kind: Kind
  target: string
  amount: Usdc
  requestHash: string
  onApproved: Announcement | null
  createdAt: Date
  /** Until then a person may decide; once approved, until then the call may be made. */
  expiresAt: Date
  decidedAt: Date | null
  /** The lock that used it up. */
  usedBy: string | null
}

/** `approved` waits for its call, `used` had it. */
export const APPROVAL_STATES = ['pending', 'approved', 'refused', 'lapsed', 'used'] as const
export type ApprovalState = (typeof APPROVAL_STATES)[number]

/** What an agent has spent, by something. */
export interface Spent {
  key: string
  amount: Usdc
  calls: number
}

/** A call of the past that a policy would have refused or held. */
export interface Replayed {
  decision: Decision
  verdict: Exclude<Verdict, { outcome: 'allowed' }>
}

export interface Page {
  limit: number
  offset: number
}
