import { ONE_LINE } from '../../kit/text.ts'
import { z } from 'zod'
import { toWire, type Usdc } from '../../kit/money.ts'
import { amount, amountOut } from '../../kit/wire.ts'
import { LIMITS, NO_RULES, type Limit, type Patterns, type Policy } from '../model.ts'

/** A policy in a body: omitted fields keep their value, null removes it. */
const patterns = z
  .array(
    z
      .string()
      .min(1, 'must not be empty')
      .max(200, 'must have at most 200 characters')
      .regex(/^[!-~]+$/, 'must be of visible ASCII characters; "*" stands for any text'),
  )
  .max(200, 'must have at most 200')

const lists = z
  .strictObject({
    allow: patterns.nullish().meta({ description: 'Only what the list contains is allowed; null allows all' }),
    deny: patterns.nullish().meta({ description: 'Deny takes precedence over allow' }),
  })
  .optional()

export const windowLimit = z.enum(['perMinute', 'perDay', 'perWeek', 'perMonth', 'lifetime'])

const limits = z
  .strictObject(Object.fromEntries(LIMITS.map((limit) => [limit, amount.nullish()])) as LimitFields)
  .meta({ description: 'In USDC; 0 allows free calls only, null means no limit. Windows are in UTC.' })

type LimitFields = Record<Limit, z.ZodOptional<z.ZodNullable<typeof amount>>>

const policyFields = {
  limits: limits.optional(),
  rate: z.strictObject({ callsPerMinute: z.int().min(0).max(1_000_000).nullish() }).optional(),
  tools: lists.meta({
    description:
      'By slug or id. An asset that is called as a tool is `rda-{slug}` or the id of its tool here, and `rdas` applies to it as well',
  }),
  rdas: lists.meta({ description: 'Assets, by slug or id, however they are run' }),
  domains: lists.meta({ description: 'Hosts that are paid, and called for nothing where an account sells there' }),
  approvalAbove: amount.nullish(),
  alerts: z
    .array(
      z.strictObject({
        at: z
          .number()
          .gt(0, 'must be greater than 0')
          .max(1, 'must be at most 1')
          .refine((at) => Number.isInteger(Math.round(at * 1e8) / 1e4), 'must have at most 4 decimals'),
        limit: windowLimit.nullish(),
      }),
    )
    .max(20, 'must have at most 20')
    .nullish(),
  onExceeded: z.enum(['refuse', 'pause']).optional(),
}

const name = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(100, 'must have at most 100 characters')
  .regex(ONE_LINE, 'must be one line of text')
export const status = z.enum(['active', 'paused'])

export const newAgent = z.strictObject({ name, status: status.default('active'), ...policyFields })
export const changedAgent = z.strictObject({ name: name.optional(), status: status.optional(), ...policyFields })
export const policyBody = z.strictObject(policyFields)

type PolicyFields = z.output<typeof policyBody>

/** The previous policy, with the body's fields in place of its own. */
export function toPolicy(fields: PolicyFields, before: Policy = NO_RULES): Policy {
  return {
    limits: Object.fromEntries(
      LIMITS.map((limit) => [limit, or(fields.limits?.[limit], before.limits[limit])]),
    ) as Policy['limits'],
    rate: { callsPerMinute: or(fields.rate?.callsPerMinute, before.rate.callsPerMinute) },
    tools: toPatterns(fields.tools, before.tools),
    rdas: toPatterns(fields.rdas, before.rdas),
    domains: toPatterns(fields.domains, before.domains, (pattern) => pattern.toLowerCase()),
    approvalAbove: or(fields.approvalAbove, before.approvalAbove),
    alerts:
      fields.alerts === undefined
        ? before.alerts
        : (fields.alerts ?? []).map(({ at, limit }) => ({ at, limit: limit ?? null })),
    onExceeded: fields.onExceeded ?? before.onExceeded,
  }
}

function toPatterns(fields: z.output<typeof lists>, before: Patterns, as = (pattern: string) => pattern): Patterns {
  const allow = or(fields?.allow, before.allow)
  const deny = fields?.deny === undefined ? before.deny : (fields.deny ?? [])
  return { allow: allow?.map(as) ?? null, deny: deny.map(as) }
}

function or<T>(value: T | null | undefined, before: T | null): T | null {
  return value === undefined ? before : value
}

export const amountOrNull = amountOut.nullable()
const patternsOut = z.object({ allow: z.array(z.string()).nullable(), deny: z.array(z.string()) })
export const policyOut = {
  limits: z.object(
    Object.fromEntries(LIMITS.map((limit) => [limit, amountOrNull])) as Record<Limit, typeof amountOrNull>,
  ),
  rate: z.object({ callsPerMinute: z.int().nullable() }),
  tools: patternsOut,
  rdas: patternsOut,
  domains: patternsOut,
  approvalAbove: amountOrNull,
  alerts: z.array(z.object({ at: z.number(), limit: windowLimit.nullable() })),
  onExceeded: z.enum(['refuse', 'pause']),
}

export function fromPolicy(policy: Policy) {
  return {
    limits: Object.fromEntries(LIMITS.map((limit) => [limit, figure(policy.limits[limit])])) as Record<
      Limit,
      number | null
    >,
    rate: policy.rate,
    tools: fromPatterns(policy.tools),
    rdas: fromPatterns(policy.rdas),
    domains: fromPatterns(policy.domains),
    approvalAbove: figure(policy.approvalAbove),
    alerts: [...policy.alerts],
    onExceeded: policy.onExceeded,
  }
}

function fromPatterns({ allow, deny }: Patterns) {
  return { allow: allow === null ? null : [...allow], deny: [...deny] }
}

export function figure(value: Usdc | null): number | null {
  return value === null ? null : toWire(value)
}
