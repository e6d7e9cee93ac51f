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
 * Whether an agent may make a call now. `usage` is rolled to the call's moment; `approved` says that a person
 * agreed to this very request. A longer window's refusal comes before a shorter one's: its end is the one
 * that has to be waited for.
 */
export function decide(
  agent: Pick<Agent, 'status' | 'policy'>,
  usage: Usage,
  expense: Expense,
  approved: boolean,
): Verdict {
  if (agent.status === 'paused') return refused({ rule: 'paused', requested: expense.amount })
  const { policy } = agent
  const denied = deniedBy(policy, expense)
  if (denied !== null) return refused(denied)
  if (expense.kind === 'pay' && !LIMITS.some((limit) => policy.limits[limit] !== null)) {
    return refused({ rule: 'limits', requested: expense.amount })
  }
  const { perCall } = policy.limits
  if (perCall !== null && expense.amount > perCall) {
    return refused({ rule: 'perCall', requested: expense.amount, limit: perCall, spent: ZERO })
  }
  for (const window of LONGEST_FIRST) {
    const limit = policy.limits[window]
    const spent = usage[window]
    // What costs nothing passes even a limit of 0.
    if (limit !== null && expense.amount > 0n && spent + expense.amount > limit) {
      return refused({ rule: window, requested: expense.amount, limit, spent, resetsAt: endOf(window, usage.at) })
    }
  }
  const { callsPerMinute } = policy.rate
  if (callsPerMinute !== null && usage.calls >= callsPerMinute) {
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

/** What its lists say about a target, at any price: checked before a stranger is called. */
function deniedBy(policy: Policy, expense: Expense): (Partial<Refusal> & Pick<Refusal, 'rule' | 'requested'>) | null {
  const names = expense.alias === null ? [expense.target] : [expense.target, expense.alias]
  const checks = [
    expense.kind === 'tool' ? (['tools', names] as const) : null,
    expense.kind === 'run' ? (['rdas', names] as const) : null,
    // Who asks beforehand names the tool alone.
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

/** Which warnings are due: a threshold that this call passed. Sent once in a window, by the process that writes them down. */
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

/** A person has refused this very request. */
export function refusedByPerson(requested: Usdc): Verdict {
  return refused({ rule: 'approvalRefused', requested })
}

export function isWindow(rule: string): rule is WindowLimit {
  return (LONGEST_FIRST as readonly string[]).includes(rule)
}

/** How long a person has to decide, and after that the caller to call. */
export const APPROVAL_MS = 15 * 60_000

const LONGEST_FIRST: readonly WindowLimit[] = ['lifetime', 'perMonth', 'perWeek', 'perDay', 'perMinute']

/** In micro-dollars, up: four fifths of 3 are reached at 3, not at 2. */
function thresholdOf(limit: Usdc, at: number): Usdc {
  const share = BigInt(Math.round(at * 10_000))
  return usdc((limit * share + 9_999n) / 10_000n)
}

function sameStart(window: WindowLimit, before: Usage, after: Usage): boolean {
  return startOf(window, before.at).getTime() === startOf(window, after.at).getTime()
}

/** `api.example.com:8443` is meant by its host's pattern and by its own. */
function namesOfHost(domain: string): string[] {
  const host = domain.toLowerCase()
  const name = host.replace(/:\d{1,5}$/, '').replace(/\.$/, '')
  return host === name ? [name] : [name, host]
}

function refused(refusal: Partial<Refusal> & Pick<Refusal, 'rule' | 'requested'>): Verdict {
  return { outcome: 'refused', refusal: { ...NOTHING_COUNTED, ...refusal } }
}

const NOTHING_COUNTED = { spent: null, limit: null, pattern: null, resetsAt: null } as const
