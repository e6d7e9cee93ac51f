import { usdc, ZERO, type Usdc } from '../../kit/money.ts'
import {
  LIMITS,
  type Agent,
  type Expense,
  type Policy,
  type Refusal,
  type Usage,
  type Verdict,
  type WindowLimit,
} from '../model.ts'
import { denial } from './patterns.ts'
import { endOf, startOf } from './windows.ts'

/**
 * Whether an agent may make a call now. `usage` is rolled to the time of the call. A longer window's refusal is reported before a shorter one's, because the caller must
 * wait for the longer one's end.
 */
export function decide(
  agent: Pick<Agent, 'status' | 'policy'>,
  usage: Usage,
  expense: Expense,
  { approved, defaultPerDay }: Terms,
): Verdict {
  // It has been made: it is only recorded.
  if (expense.isFree === true && expense.isCounted === true) return { outcome: 'allowed' }
  if (agent.status === 'paused') return refused({ rule: 'paused', requested: expense.amount })
  const { policy } = agent
  const denied = deniedBy(policy, expense)
  if (denied !== null) return refused(denied)
  const unlimited = refusalWithoutLimits(policy, usage, expense, defaultPerDay)
  if (unlimited !== null) return refused(unlimited)
  const { perCall } = policy.limits
  if (perCall !== null && expense.amount > perCall) {
    return refused({ rule: 'perCall', requested: expense.amount, limit: perCall, spent: ZERO })
  }
  for (const window of LONGEST_FIRST) {
    const limit = policy.limits[window]
    const spent = usage[window]
    // A free call passes even a limit of 0.
    if (limit !== null && expense.amount > 0n && spent + expense.amount > limit) {
      return refused({ rule: window, requested: expense.amount, limit, spent, resetsAt: endOf(window, usage.at) })
    }
  }
  const { callsPerMinute } = policy.rate
  if (callsPerMinute !== null && expense.isCounted !== true && usage.calls >= callsPerMinute) {
    const resetsAt = endOf('perMinute', usage.at)
    return refused({
      rule: 'callsPerMinute',
      requested: expense.amount,
      limit: callsPerMinute,
      spent: usage.calls,
      resetsAt,
    })
  }
  if (policy.approvalAbove !== null && expense.amount > policy.approvalAbove && !approved) return { outcome: 'held' }
  return { outcome: 'allowed' }
}

export interface Terms {
  /** A person approved this exact request. */
  approved: boolean
  defaultPerDay: Usdc | null
}

/** What an agent without limits may spend in a day on assets of other accounts. Null: it has limits, or there is none. */
export function defaultPerDayOf({ limits }: Pick<Policy, 'limits'>, defaultPerDay: Usdc | null): Usdc | null {
  return LIMITS.some((limit) => limits[limit] !== null) ? null : defaultPerDay
}

/** All that it spent in the day counts, as for a limit of its own. A call above `approvalAbove` is for a person to decide. */
function refusalWithoutLimits(
  policy: Policy,
  usage: Usage,
  { kind, amount, paysAccount = false, isFree = false }: Expense,
  defaultPerDay: Usdc | null,
): Refused | null {
  if (LIMITS.some((limit) => policy.limits[limit] !== null)) return null
  if (kind === 'pay') return isFree ? null : { rule: 'limits', requested: amount }
  const held = policy.approvalAbove !== null && amount > policy.approvalAbove
  if (!paysAccount || held || amount === ZERO || defaultPerDay === null) return null
  const spent = usage.perDay
  if (spent + amount <= defaultPerDay) return null
  return { rule: 'limits', requested: amount, limit: defaultPerDay, spent, resetsAt: endOf('perDay', usage.at) }
}

type Refused = Partial<Refusal> & Pick<Refusal, 'rule' | 'requested'>

/** Checks the agent's pattern lists for a target, at any price, before a third party is called. */
function deniedBy(policy: Policy, expense: Expense): Refused | null {
  const names = expense.alias === null ? [expense.target] : [expense.target, expense.alias]
  const checks = [
    expense.kind === 'tool' ? (['tools', names] as const) : null,
    expense.kind === 'run' ? (['rdas', names] as const) : null,
    // A dry run names the tool only.
    expense.kind === 'tool' && expense.target.startsWith('rda-')
      ? (['rdas', [expense.target.slice(4)]] as const)
      : null,
    expense.toolNames !== undefined && expense.toolNames.length > 0 ? (['tools', expense.toolNames] as const) : null,
    expense.domain === null ? null : (['domains', namesOfHost(expense.domain)] as const),
  ]
  for (const check of checks) {
    if (check === null) continue
    const [list, of] = check
    const found = denial(policy[list], of)
    if (found !== null) return { rule: `${list}.${found.by}`, requested: expense.amount, pattern: found.pattern }
  }
  return null
}

/**
 * The warnings that are due because this call passed a threshold. Each is sent once per window, by the process that
 * records it first.
 */
export function warnings(
  policy: Policy,
  before: Usage,
  after: Usage,
): { limit: WindowLimit; at: number; window: Date }[] {
  return policy.alerts.flatMap((alert) =>
    LONGEST_FIRST.filter((window) => alert.limit === null || alert.limit === window).flatMap((window) => {
      const limit = policy.limits[window]
      if (limit === null || limit === 0n) return []
      const threshold = thresholdOf(limit, alert.at)
      const passed = after[window] >= threshold && (before[window] < threshold || !sameStart(window, before, after))
      return passed ? [{ limit: window, at: alert.at, window: startOf(window, after.at) }] : []
    }),
  )
}

export function agentGone(requested: Usdc): Refusal {
  return { ...NOTHING_COUNTED, rule: 'deleted', requested }
}

/** The decision for a request that a person has refused. */
export function refusedByPerson(requested: Usdc): Verdict {
  return refused({ rule: 'approvalRefused', requested })
}

export function isWindow(rule: string): rule is WindowLimit {
  return (LONGEST_FIRST as readonly string[]).includes(rule)
}

/** How long a person has to decide, and then the caller to make the call. */
export const APPROVAL_MS = 15 * 60_000

const LONGEST_FIRST: readonly WindowLimit[] = ['lifetime', 'perMonth', 'perWeek', 'perDay', 'perMinute']

/** In micro-dollars, rounded up: four fifths of 3 are reached at 3, not at 2. */
function thresholdOf(limit: Usdc, at: number): Usdc {
  const share = BigInt(Math.round(at * 10_000))
  return usdc((limit * share + 9_999n) / 10_000n)
}

function sameStart(window: WindowLimit, before: Usage, after: Usage): boolean {
  return startOf(window, before.at).getTime() === startOf(window, after.at).getTime()
}

/** `api.example.com:8443` matches a pattern for its host name and one with the port. */
function namesOfHost(domain: string): string[] {
  const host = domain.toLowerCase()
  const name = host.replace(/:\d{1,5}$/, '').replace(/\.$/, '')
  return host === name ? [name] : [name, host]
}

function refused(refusal: Refused): Verdict {
  return { outcome: 'refused', refusal: { ...NOTHING_COUNTED, ...refusal } }
}

const NOTHING_COUNTED = { spent: null, limit: null, pattern: null, resetsAt: null } as const
