import type { Usdc } from '../../kit/money.ts'
import type { Limit, Patterns, Policy } from '../model.ts'
import { covers } from './patterns.ts'

/** Policy settings that cannot do what they seem to do, each as a sentence for the author. */
export function contradictions(policy: Policy): string[] {
  return [...ofAmounts(policy), ...ofLists(policy), ...ofApprovals(policy), ...ofAlerts(policy)]
}

/** A window with a higher limit than a longer window can never be filled. */
function ofAmounts({ limits, rate }: Policy): string[] {
  const found: string[] = []
  for (const limit of NARROW_TO_WIDE) {
    if (limits[limit] === 0n) found.push(`limits.${limit} is 0, so only free calls are allowed.`)
  }
  NARROW_TO_WIDE.forEach((narrow, place) => {
    const own = limits[narrow]
    if (own === null) return
    // Months do not consist of whole weeks: a week in which a month begins can use both months' limits.
    if (narrow === 'perWeek' && below(limits.perMonth, own)) {
      found.push('limits.perWeek is higher than limits.perMonth, so it applies only in a week in which a month begins.')
    }
    // The tightest of the wider limits is enough to report.
    const tighter = NARROW_TO_WIDE.slice(place + 1)
      .filter((wide) => below(limits[wide], own) && !(narrow === 'perWeek' && wide === 'perMonth'))
      .sort((a, b) => (below(limits[a], limits[b]) ? -1 : 1))[0]
    if (tighter !== undefined) {
      found.push(`limits.${narrow} is higher than limits.${tighter}, so limits.${tighter} applies.`)
    }
  })
  if (rate.callsPerMinute === 0) found.push('rate.callsPerMinute is 0, so no call is allowed.')
  return found
}

function ofLists(policy: Policy): string[] {
  return (['tools', 'rdas', 'domains'] as const).flatMap((list) => ofPatterns(list, policy[list]))
}

function ofPatterns(list: string, { allow, deny }: Patterns): string[] {
  if (allow?.length === 0) return [`${list}.allow is an empty list, so none is allowed. Set it to null to allow all.`]
  const found: string[] = []
  for (const [kind, patterns] of [['allow', allow ?? []] as const, ['deny', deny] as const]) {
    patterns.forEach((pattern, place) => {
      const wider = patterns.find(
        (other, at) => at !== place && covers(other, pattern) && (!covers(pattern, other) || at < place),
      )
      if (wider !== undefined) found.push(`${list}.${kind}: "${pattern}" is already covered by "${wider}".`)
    })
  }
  for (const pattern of allow ?? []) {
    const wins = deny.find((other) => covers(other, pattern))
    if (wins !== undefined) {
      found.push(
        `${list}.allow: "${pattern}" has no effect, since ${list}.deny contains "${wins}" and deny takes precedence.`,
      )
    }
  }
  if (allow === null && deny.includes('*')) found.push(`${list}.deny contains "*", so none is allowed.`)
  return found
}

function ofApprovals({ approvalAbove, limits }: Policy): string[] {
  if (approvalAbove === null) return []
  const tightest = NARROW_TO_WIDE.find((limit) => {
    const own = limits[limit]
    return own !== null && own <= approvalAbove
  })
  return tightest === undefined
    ? []
    : [`approvalAbove is never reached: limits.${tightest} already refuses amounts above it.`]
}

function ofAlerts({ alerts, limits, onExceeded }: Policy): string[] {
  const windows = NARROW_TO_WIDE.filter((limit) => limit !== 'perCall' && limits[limit] !== null)
  const found = alerts.flatMap(({ limit }) =>
    limit !== null && limits[limit] === null ? [`alerts: limits.${limit} is not set, so it sends no alerts.`] : [],
  )
  if (alerts.some(({ limit }) => limit === null) && windows.length === 0) {
    found.push('alerts: no limit over time is set, so no alert is sent.')
  }
  if (onExceeded === 'pause' && windows.length === 0) {
    found.push('onExceeded is pause, but no limit over time is set, so it never applies.')
  }
  return found
}

const NARROW_TO_WIDE: readonly Limit[] = ['perCall', 'perMinute', 'perDay', 'perWeek', 'perMonth', 'lifetime']

function below(one: Usdc | null, other: Usdc | null): boolean {
  return one !== null && other !== null && one < other
}
