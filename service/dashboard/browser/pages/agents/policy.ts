import type { Input, Output } from '../../api/procedures.ts'
import { fromTexts, linesOf, toTexts } from '../../parts/texts.ts'

export type Agent = Output<'spending.agent'>
type Body = Input<'spending.createAgent'>

/** A policy as its form holds it, under the names of the API's body. */
export interface PolicyDraft extends Required<Pick<Body, 'name' | 'onExceeded'>> {
  limits: Record<Limit, string>
  rate: { callsPerMinute: string }
  tools: Lists
  rdas: Lists
  domains: Lists
  approvalAbove: string
  alerts: string
}

type Lists = Record<'allow' | 'deny', string>

export const LIMITS = {
  perCall: 'Per call',
  perMinute: 'Per minute',
  perDay: 'Per day',
  perWeek: 'Per week',
  perMonth: 'Per month',
  lifetime: 'Lifetime',
} as const
export type Limit = keyof typeof LIMITS
export const LIMIT_NAMES = Object.keys(LIMITS) as Limit[]

export function toRules(agent: Agent | null): PolicyDraft {
  const lists = (of: 'tools' | 'rdas' | 'domains'): Lists =>
    toTexts({ allow: 'lines', deny: 'lines' }, agent?.[of] ?? null)
  return {
    name: agent?.name ?? '',
    limits: toTexts(LIMIT_KINDS, agent === null ? DEFAULTS : agent.limits),
    rate: toTexts(RATE, agent?.rate ?? null),
    tools: lists('tools'),
    rdas: lists('rdas'),
    domains: lists('domains'),
    ...toTexts(ABOVE, agent),
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

/** Defaults that limit the damage when nothing else is filled in. */
const DEFAULTS: Partial<Record<Limit, number>> = { perCall: 1, perDay: 10 }

const LIMIT_KINDS = Object.fromEntries(LIMIT_NAMES.map((limit) => [limit, 'number'])) as Record<Limit, 'number'>
const RATE = { callsPerMinute: 'number' } as const
const ABOVE = { approvalAbove: 'number' } as const

export function toPolicy(rules: PolicyDraft, before: Agent | null): Body {
  const lists = ({ allow, deny }: Lists, was: { allow: readonly string[] | null } | undefined) => ({
    // An empty existing list denies everything; opening and saving this form must not turn it into "allow all".
    allow: allow.trim() === '' ? (was?.allow?.length === 0 ? [] : null) : linesOf(allow),
    deny: linesOf(deny),
  })
  // Alerts for a single limit can only be set over the API; this form does not change them.
  const others = (before?.alerts ?? []).filter(({ limit }) => limit !== null)
  return {
    name: rules.name,
    limits: fromTexts(LIMIT_KINDS, rules.limits),
    rate: fromTexts(RATE, rules.rate),
    tools: lists(rules.tools, before?.tools),
    rdas: lists(rules.rdas, before?.rdas),
    domains: lists(rules.domains, before?.domains),
    ...fromTexts(ABOVE, rules),
    alerts: [...linesOf(rules.alerts, ',').map((text) => ({ at: Number(text.replace('%', '')) / 100 })), ...others],
    onExceeded: rules.onExceeded,
  }
}
