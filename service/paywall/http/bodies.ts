import { z } from 'zod'
import type { Address } from '../../chain/model.ts'
import { recipientAddress } from '../../kit/address.ts'
import { isWebAddress, plainText } from '../../kit/fields.ts'
import { toWire, usdc } from '../../kit/money.ts'
import { amount, amountOut, positiveAmount, timestamp } from '../../kit/wire.ts'
import type { Paywall, Pricing, Route } from '../model.ts'
import { faultOfOwned } from '../rules/headers.ts'
import { SIGN_IN_MS_MAX, sortedMilestones } from '../rules/payment.ts'
import { faultsOfPricing } from '../rules/pricing.ts'
import { faultOfPattern, hiddenRoute, keyOf } from '../rules/routes.ts'
import type { Change, Wanted } from '../service/owner.ts'
import { withoutTrailing } from '../../kit/text.ts'

const NETWORK_NAMES = ['base', 'base-sepolia'] as const
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', '*'] as const
const WINDOWS = ['day', 'week', 'month', 'lifetime'] as const

const slug = z
  .string()
  .max(64)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be lower-case letters, digits and single hyphens')
  .refine((text) => !RESERVED.has(text), 'is reserved for the gateway')
  .meta({ description: 'The name in the public address; must be unique', examples: ['weather'] })

const RESERVED: ReadonlySet<string> = new Set(['payments', 'assets'])

const upstreamUrl = plainText(2_048)
  .refine(isWebAddress, 'must be an http or https address')
  .refine((text) => !isWebAddress(text) || new URL(text).search + new URL(text).hash === '', 'must have no query')
  .meta({ description: 'The address of the API; the path below the gate is appended' })

const metered = { minimum: amount, maximum: positiveAmount }
const pricing = z
  .discriminatedUnion('model', [
    z.strictObject({ model: z.literal('free') }),
    z.strictObject({ model: z.literal('per-request'), amount: positiveAmount }),
    z.strictObject({
      model: z.literal('tiered'),
      tiers: z
        .array(z.strictObject({ upTo: z.int().min(1).max(1_000_000_000).nullish(), amount: positiveAmount }))
        .min(1)
        .max(20),
      window: z.enum(WINDOWS),
    }),
    z.strictObject({
      model: z.literal('per-token'),
      input: amount.meta({ description: 'USDC for 1,000 tokens of the request' }),
      output: amount.meta({ description: 'USDC for 1,000 tokens of the answer' }),
      ...metered,
    }),
    z.strictObject({ model: z.literal('per-minute'), amount: positiveAmount, ...metered }),
  ])
  .transform((given): Pricing => {
    if (given.model !== 'tiered') return given
    return { ...given, tiers: given.tiers.map((tier) => ({ amount: tier.amount, upTo: tier.upTo ?? null })) }
  })
  .superRefine((given, context) => {
    for (const [field, message] of faultsOfPricing(given)) {
      context.addIssue({ code: 'custom', path: field.split('.'), message })
    }
  })

const routes = z
  .array(
    z
      .strictObject({
        method: z.enum(METHODS),
        path: z
          .string()
          .superRefine((path, context) => {
            const fault = faultOfPattern(path)
            if (fault !== null) context.addIssue({ code: 'custom', message: fault })
          })
          .meta({
            description: 'Below the gate, like `/today/:city` or `/*`',
            pattern: '^/[!-~]*$',
            maxLength: 500,
            examples: ['/today/:city'],
          }),
        pricing,
        description: plainText(500).nullish(),
        settle: z.enum(['after', 'before']).nullish().meta({
          description: '`before`: the payment is settled before the upstream is called; defaults to `after`',
        }),
        paymentIdentifier: z.enum(['optional', 'required']).nullish().meta({
          description:
            '`required`: a payment must have an id of the extension `payment-identifier`, which only x402 version 2 has; defaults to `optional`',
        }),
        signIn: z
          .strictObject({
            seconds: z
              .int()
              .min(60, 'must be at least 60')
              .max(SIGN_IN_MS_MAX / 1_000, 'must be at most 30 days'),
          })
          .nullish()
          .meta({
            description:
              'Who has paid for a path may sign in by wallet (`sign-in-with-x`) instead of paying for it again, for this long after the payment',
          }),
      })
      .superRefine(({ pricing, signIn }, context) => {
        if (signIn == null || pricing.model === 'per-request' || pricing.model === 'tiered') return
        context.addIssue({ code: 'custom', path: ['signIn'], message: 'needs a price per request or tiers' })
      })
      .transform((given): Route => ({
        ...given,
        description: given.description ?? null,
        settle: given.settle ?? 'after',
        paymentIdentifier: given.paymentIdentifier ?? 'optional',
        signIn: given.signIn ?? null,
      })),
  )
  .min(1)
  .max(100)
  .superRefine((given, context) => {
    const keys = given.map(keyOf)
    const twice = keys.findIndex((key, place) => keys.indexOf(key) < place)
    if (twice >= 0) context.addIssue({ code: 'custom', path: [twice], message: 'repeats a route' })
    const hidden = hiddenRoute(given)
    if (hidden !== null && twice < 0) {
      const message = `is never reached: route ${String(hidden.by)} comes first and matches all of it`
      context.addIssue({ code: 'custom', path: [hidden.place], message })
    }
  })
  .meta({ description: 'The first route that matches applies; a request that matches no route is not forwarded' })

const upstreamHeaders = z
  .record(z.string().max(100), z.string().max(8_192))
  .superRefine((given, context) => {
    for (const name of Object.keys(given)) {
      const fault = faultOfOwned(name)
      if (fault !== null) context.addIssue({ code: 'custom', path: [name], message: fault })
    }
    if (Object.keys(given).length > 50) context.addIssue({ code: 'custom', message: 'must have at most 50 headers' })
  })
  .meta({
    description: 'Added to each upstream request, such as an API key. Encrypted, and never shown again',
    maxProperties: 50,
  })

export const terms = {
  slug,
  name: plainText(200),
  upstreamUrl,
  routes,
  recipient: recipientAddress
    .transform((text) => text.toLowerCase() as Address)
    .nullable()
    .meta({ description: "The address that receives the payments; defaults to the owner's wallet" }),
  network: z.enum(NETWORK_NAMES).meta({ examples: ['base-sepolia'] }),
  testMode: z.boolean().meta({ description: 'Payments are simulated with the test token; nothing goes on chain' }),
  status: z.enum(['active', 'paused']),
  upstreamHeaders,
  milestones: z
    .array(positiveAmount)
    .max(50)
    .transform(sortedMilestones)
    .meta({ description: 'Revenue at which `revenue.milestone` is sent' }),
}

export const newPaywall = z
  .strictObject({
    slug: terms.slug,
    name: terms.name,
    upstreamUrl: terms.upstreamUrl,
    routes: terms.routes,
    network: terms.network,
    recipient: terms.recipient.optional(),
    testMode: terms.testMode.nullish(),
    status: terms.status.nullish(),
    upstreamHeaders: terms.upstreamHeaders.nullish(),
    milestones: terms.milestones.nullish(),
  })
  .meta({ id: 'NewPaywall' })

export function toWanted(body: z.output<typeof newPaywall>): Wanted {
  return {
    slug: body.slug,
    name: body.name,
    upstreamUrl: withoutTrailing(body.upstreamUrl, '/'),
    routes: body.routes,
    recipient: body.recipient ?? null,
    network: body.network,
    testMode: body.testMode ?? false,
    status: body.status ?? 'active',
    headers: body.upstreamHeaders ?? {},
    milestones: body.milestones ?? MILESTONES,
  }
}

const MILESTONES = [1n, 10n, 100n, 1_000n, 10_000n, 100_000n, 1_000_000n].map((dollars) => usdc(dollars * 1_000_000n))

/** The terms that an owner changes. What is absent stays. */
export const paywallChange = z
  .strictObject({
    ...terms,
    version: z.int().min(1).meta({
      description: 'The version that you have read: if there is a newer one, nothing is changed (409)',
    }),
  })
  .partial()
  .meta({ id: 'PaywallChange' })

export function toChange(body: z.output<typeof paywallChange>): Change {
  const { upstreamHeaders: headers, upstreamUrl: url, version = null, ...rest } = body
  return { ...rest, upstreamUrl: url === undefined ? undefined : withoutTrailing(url, '/'), headers, version }
}

const pricingOut = z.looseObject({ model: z.enum(['free', 'per-request', 'tiered', 'per-token', 'per-minute']) })

export const paywallOut = z
  .object({
    id: z.string(),
    slug: z.string(),
    url: z.string().meta({ description: 'The public address of the gate' }),
    name: z.string(),
    upstreamUrl: z.string(),
    upstreamHeaders: z.array(z.string()).meta({ description: 'The names of the headers' }),
    routes: z.array(
      z.object({
        method: z.string(),
        path: z.string(),
        pricing: pricingOut,
        description: z.string().nullable(),
        settle: z.enum(['after', 'before']),
        paymentIdentifier: z.enum(['optional', 'required']),
        signIn: z.object({ seconds: z.int() }).nullable(),
      }),
    ),
    recipient: z.string().nullable(),
    network: z.enum(NETWORK_NAMES),
    testMode: z.boolean(),
    testToken: z
      .string()
      .nullable()
      .meta({ description: 'In test mode: send it as X-Payment-Token to simulate a payment' }),
    status: z.enum(['active', 'paused']),
    milestones: z.array(amountOut),
    version: z.int(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Paywall' })

export function toPaywallBody(
  paywall: Paywall,
  { gate, testToken }: { gate: string; testToken: string | null },
): z.input<typeof paywallOut> {
  const { id, slug: name, createdAt, updatedAt } = paywall
  return {
    id,
    slug: name,
    url: `${gate}/${name}`,
    name: paywall.name,
    upstreamUrl: paywall.upstreamUrl,
    upstreamHeaders: [...paywall.upstreamHeaders],
    routes: paywall.routes.map((route) => ({ ...route, pricing: toPricingBody(route.pricing) })),
    recipient: paywall.recipient,
    network: paywall.network,
    testMode: paywall.testMode,
    testToken,
    status: paywall.status,
    milestones: paywall.milestones.map(toWire),
    version: paywall.version,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  }
}

function toPricingBody(pricing: Pricing): z.input<typeof pricingOut> {
  switch (pricing.model) {
    case 'free':
      return pricing
    case 'per-request':
      return { model: pricing.model, amount: toWire(pricing.amount) }
    case 'tiered': {
      const tiers = pricing.tiers.map((tier) => ({ upTo: tier.upTo, amount: toWire(tier.amount) }))
      return { model: pricing.model, tiers, window: pricing.window }
    }
    case 'per-token':
      return {
        model: pricing.model,
        input: toWire(pricing.input),
        output: toWire(pricing.output),
        minimum: toWire(pricing.minimum),
        maximum: toWire(pricing.maximum),
      }
    case 'per-minute':
      return {
        model: pricing.model,
        amount: toWire(pricing.amount),
        minimum: toWire(pricing.minimum),
        maximum: toWire(pricing.maximum),
      }
  }
}
