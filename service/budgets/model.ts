import type { Id } from '../kit/ids.ts'
import type { Usdc } from '../kit/money.ts'
import type { Reserve } from '../ledger/model.ts'
import type { Owner } from '../kit/owner.ts'
import type { Announcement } from '../queue/model.ts'

/** A program that spends its owner's money, and the rules for it. */
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
  /** A call above this amount waits for a person's approval. */
  approvalAbove: Usdc | null
  alerts: readonly Alert[]
  /** What happens when a limit refuses a call: only the refusal, or the agent is paused too. */
  onExceeded: 'refuse' | 'pause'
}

/** The limits on amounts, in the order in which people see them. */
export const LIMITS = ['perCall', 'perMinute', 'perDay', 'perWeek', 'perMonth', 'lifetime'] as const
export type Limit = (typeof LIMITS)[number]
/** The limits that count over a time window. */
export type WindowLimit = Exclude<Limit, 'perCall'>

/** The policy of an agent that may spend all of its owner's money. */
export const NO_RULES: Policy = {
  limits: { perCall: null, perMinute: null, perDay: null, perWeek: null, perMonth: null, lifetime: null },
  rate: { callsPerMinute: null },
  tools: { allow: null, deny: [] },
  rdas: { allow: null, deny: [] },
  domains: { allow: null, deny: [] },
  approvalAbove: null,
  alerts: [],
  onExceeded: 'refuse',
}

/** Patterns with `*` for any text. A list in `allow` denies everything else; `deny` takes precedence. */
export interface Patterns {
  allow: readonly string[] | null
  deny: readonly string[]
}

/** Sent once per window, when this share of the limit is reached; for every limit if none is named. */
export interface Alert {
  at: number
  limit: WindowLimit | null
}

export const KINDS = ['run', 'tool', 'pay'] as const
export type Kind = (typeof KINDS)[number]

/** The agent that wants to spend, and what it wants to buy. */
export interface Spender {
  agentId: string
  kind: Kind
  /** A slug, or the address that receives the money. */
  target: string
  /** The target's other name, its id; patterns may match it as well. */
  alias?: string
  /** For a run that was called as a tool: the tool's names, which must pass the agent's tool patterns as well. */
  toolNames?: readonly string[]
  /** The host that gets the money, if there is one, with its port. */
  domain?: string
  /** For a run: its price goes to another account. */
  paysAccount?: boolean
  /** For a payment: it is known to cost nothing. */
  isFree?: boolean
  /** For a payment: its price is not known before it is sent. It is judged and counted as a call; what it cost is recorded later. */
  isUnpriced?: boolean
  /** For a payment: it was counted as a call before it was sent. */
  isCounted?: boolean
  /** Identifies the exact request: its approval is valid for no other. */
  requestHash: string
  /** For a call that no caller waits for: announced when a person approves, so that the call resumes by itself. */
  onApproved?: Announcement
}

/** A command to create a hold, and the agent that spends it. */
export type AgentReserve = Reserve & { spender?: Spender | null }

/** A call of an agent that costs nothing, or whose price is not known yet. */
export interface FreeCall {
  /** Of this very call: each attempt counts. Of one without a price: its payment's, under which a refusal is recorded. */
  id: Id<'op' | 'pay'>
  owner: Owner
  spender: Spender
}

/** The amount that an agent wants to spend, and its target. */
export interface Expense {
  kind: Kind
  target: string
  alias: string | null
  toolNames?: readonly string[]
  domain: string | null
  paysAccount?: boolean
  isFree?: boolean
  isUnpriced?: boolean
  isCounted?: boolean
  amount: Usdc
}

/**
 * How much of each limit is used: captured money, and holds that were not released. It belongs to the windows of `at`.
 */
export interface Usage {
  at: Date
  perMinute: Usdc
  perDay: Usdc
  perWeek: Usdc
  perMonth: Usdc
  lifetime: Usdc
  /** The calls of this minute, including failed ones. */
  calls: number
}

/** The rule that decided. */
export type Rule =
  | Limit
  | 'callsPerMinute'
  | 'paused'
  | 'deleted'
  /** No limit is set: a payment that leaves the platform needs one, and runs of others' assets have a default one. */
  | 'limits'
  | `${'tools' | 'rdas' | 'domains'}.${'allow' | 'deny'}`
  | 'approvalAbove'
  /** A person has refused this exact request. */
  | 'approvalRefused'
  | 'balance'

export type Verdict =
  | { outcome: 'allowed' }
  | { outcome: 'refused'; refusal: Refusal }
  /** Allowed once a person approves. */
  | { outcome: 'held' }

export interface Refusal {
  rule: Rule
  /** For a limit, the amount used; for the rate, the number of calls. */
  spent: Usdc | number | null
  requested: Usdc
  limit: Usdc | number | null
  /** The pattern that denied. */
  pattern: string | null
  /** When the window ends; null if waiting does not help. */
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
  /** Null when no rule was against it. */
  rule: Rule | null
  pattern: string | null
  /** The id of the hold, which is also the id of the run, the call or the payment. */
  reference: string | null
  /** The part of the amount that was returned. */
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
  /** While pending, a person may decide until then; once approved, the call may be made until then. */
  expiresAt: Date
  decidedAt: Date | null
  /** The id of the hold that used the approval. */
  usedBy: string | null
}

/** An `approved` one waits for its call; a `used` one had it. */
export const APPROVAL_STATES = ['pending', 'approved', 'refused', 'lapsed', 'used'] as const
export type ApprovalState = (typeof APPROVAL_STATES)[number]

/** An agent's spending, grouped by `key`. */
export interface Spent {
  key: string
  amount: Usdc
  calls: number
}

/** A past call that a policy would have refused or held. */
export interface Replayed {
  decision: Decision
  verdict: Exclude<Verdict, { outcome: 'allowed' }>
}

export interface Page {
  limit: number
  offset: number
}
