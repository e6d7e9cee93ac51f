import type { Input, Output } from '../../api/ask.ts'
import { toAmount } from '../wallet/AddFunds.tsx'

export type Agent = Output<'spending.agent'>
type Body = Input<'spending.createAgent'>

/** A policy as its form holds it, under the names of the API's body. */
export interface Rules {
  name: string
  limits: Record<Limit, string>
  rate: { callsPerMinute: string }
  tools: Lists
  rdas: Lists
  domains: Lists
  approvalAbove: string
  alerts: string
  onExceeded: 'refuse' | 'pause'
}

interface Lists {
  allow: string
  deny: string
}

export const LIMITS = {
  perCall: 'A call',
  perMinute: 'A minute',
  perDay: 'A day',
  perWeek: 'A week',
  perMonth: 'A month',
  lifetime: 'For ever',
} as const
export type Limit = keyof typeof LIMITS
export const LIMIT_NAMES = Object.keys(LIMITS) as Limit[]

export function toRules(agent: Agent | null): Rules {
  const lists = (of: 'tools' | 'rdas' | 'domains'): Lists => ({
    allow: (agent?.[of].allow ?? []).join('\n'),
    deny: (agent?.[of].deny ?? []).join('\n'),
  })
  return {
    name: agent?.name ?? '',
    limits: Object.fromEntries(
      LIMIT_NAMES.map((limit) => [limit, agent === null ? (DEFAULTS[limit] ?? '') : textOf(agent.limits[limit])]),
    ) as Rules['limits'],
    rate: { callsPerMinute: textOf(agent?.rate.callsPerMinute ?? null) },
    tools: lists('tools'),
    rdas: lists('rdas'),
    domains: lists('domains'),
    approvalAbove: textOf(agent?.approvalAbove ?? null),
    alerts:
      agent === null
        ? '80'
        : agent.alerts
            .filter(({ limit }) => limit === null)
            .map(({ at }) => Math.round(at * 10_000) / 100)
            .join(', '),
    onExceeded: agent?.onExceeded ?? 'refuse',
  }
}

/** Somebody who fills in nothing else has bounded what can go wrong. */
const DEFAULTS: Partial<Record<Limit, string>> = { perCall: '1', perDay: '10' }

export function toPolicy(rules: Rules, before: Agent | null): Body {
  const lists = ({ allow, deny }: Lists, was: { allow: readonly string[] | null } | undefined) => ({
    // An empty list that was there denies everything: that must not turn into "all" by a visit to this form.
    allow: allow.trim() === '' ? (was?.allow?.length === 0 ? [] : null) : linesOf(allow),
    deny: linesOf(deny),
  })
  // Alerts at one limit only are made over the API; here they stay as they are.
  const others = (before?.alerts ?? []).filter(({ limit }) => limit !== null)
  return {
    name: rules.name,
    limits: Object.fromEntries(LIMIT_NAMES.map((limit) => [limit, numberOf(rules.limits[limit])])),
    rate: { callsPerMinute: numberOf(rules.rate.callsPerMinute) },
    tools: lists(rules.tools, before?.tools),
    rdas: lists(rules.rdas, before?.rdas),
    domains: lists(rules.domains, before?.domains),
    approvalAbove: numberOf(rules.approvalAbove),
    alerts: [
      ...rules.alerts
        .split(',')
        .filter((text) => text.trim() !== '')
        .map((text) => ({ at: Number(text.replace('%', '')) / 100 })),
      ...others,
    ],
    onExceeded: rules.onExceeded,
  }
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function numberOf(text: string): number | null {
  return text.trim() === '' ? null : toAmount(text)
}

function textOf(value: number | null): string {
  return value === null ? '' : String(value)
}
