import type { Input, Output } from '../../api/ask.ts'
import { toAmount } from '../wallet/AddFunds.tsx'

export type Paywall = Output<'paywalls.get'>
type Body = Input<'paywalls.create'>
type RouteBody = Body['routes'][number]

/** A paywall as its form holds it: texts, under the names of the API's body. */
export interface Draft {
  name: string
  slug: string
  upstreamUrl: string
  upstreamHeaders: string
  routes: RouteDraft[]
  network: 'base' | 'base-sepolia'
  recipient: string
  testMode: boolean
}

export interface RouteDraft {
  method: RouteBody['method']
  path: string
  description: string
  settle: 'after' | 'before'
  pricing: {
    model: RouteBody['pricing']['model']
    amount: string
    tiers: string
    window: 'day' | 'week' | 'month' | 'lifetime'
    input: string
    output: string
    minimum: string
    maximum: string
  }
}

export const NEW_ROUTE: RouteDraft = {
  method: '*',
  path: '/*',
  description: '',
  settle: 'after',
  pricing: {
    model: 'per-request',
    amount: '0.01',
    tiers: '100: 0.01\nrest: 0.005',
    window: 'month',
    input: '0.001',
    output: '0.002',
    minimum: '0.001',
    maximum: '0.1',
  },
}

export function toDraft(paywall: Paywall | null): Draft {
  return {
    name: paywall?.name ?? '',
    slug: paywall?.slug ?? '',
    upstreamUrl: paywall?.upstreamUrl ?? '',
    upstreamHeaders: '',
    routes: paywall?.routes.map(toRouteDraft) ?? [NEW_ROUTE],
    network: paywall?.network ?? 'base-sepolia',
    recipient: paywall?.recipient ?? '',
    testMode: paywall?.testMode ?? true,
  }
}

function toRouteDraft({ method, path, description, settle, pricing }: Paywall['routes'][number]): RouteDraft {
  const { model, amount, tiers, window, input, output, minimum, maximum } = pricing as {
    model: RouteDraft['pricing']['model']
    tiers?: { upTo: number | null; amount: number }[]
    window?: RouteDraft['pricing']['window']
  } & Partial<Record<'amount' | 'input' | 'output' | 'minimum' | 'maximum', number>>
  const other = NEW_ROUTE.pricing
  return {
    method: method as RouteDraft['method'],
    path,
    description: description ?? '',
    settle,
    pricing: {
      model,
      amount: textOf(amount, other.amount),
      tiers:
        tiers?.map((tier) => `${tier.upTo === null ? 'rest' : String(tier.upTo)}: ${String(tier.amount)}`).join('\n') ??
        other.tiers,
      window: window ?? other.window,
      input: textOf(input, other.input),
      output: textOf(output, other.output),
      minimum: textOf(minimum, other.minimum),
      maximum: textOf(maximum, other.maximum),
    },
  }
}

type Terms = Required<Pick<Body, 'name' | 'slug' | 'upstreamUrl' | 'routes' | 'network'>> & {
  recipient: string | null
  testMode: boolean
  upstreamHeaders?: Record<string, string>
}

export function toBody(draft: Draft): Terms {
  const headers = toHeaders(draft.upstreamHeaders)
  return {
    name: draft.name,
    slug: draft.slug,
    upstreamUrl: draft.upstreamUrl,
    routes: draft.routes.map((route) => ({
      method: route.method,
      path: route.path,
      description: route.description.trim() === '' ? null : route.description,
      settle: route.settle,
      pricing: toPricing(route.pricing),
    })),
    network: draft.network,
    recipient: draft.recipient.trim() === '' ? null : draft.recipient.trim(),
    testMode: draft.testMode,
    // Their values are never shown again, so an empty field means that they stay.
    ...(headers === null ? {} : { upstreamHeaders: headers }),
  }
}

function toPricing(pricing: RouteDraft['pricing']): RouteBody['pricing'] {
  switch (pricing.model) {
    case 'free':
      return { model: 'free' }
    case 'per-request':
      return { model: 'per-request', amount: toAmount(pricing.amount) }
    case 'tiered':
      return {
        model: 'tiered',
        tiers: pricing.tiers
          .split('\n')
          .filter((line) => line.trim() !== '')
          .map(toTier),
        window: pricing.window,
      }
    case 'per-token':
      return {
        model: 'per-token',
        input: toAmount(pricing.input),
        output: toAmount(pricing.output),
        minimum: toAmount(pricing.minimum),
        maximum: toAmount(pricing.maximum),
      }
    case 'per-minute':
      return {
        model: 'per-minute',
        amount: toAmount(pricing.amount),
        minimum: toAmount(pricing.minimum),
        maximum: toAmount(pricing.maximum),
      }
  }
}

function toTier(line: string): { upTo: number | null; amount: number } {
  const [upTo = '', amount = ''] = line.split(':')
  return { upTo: upTo.trim() === 'rest' ? null : Number(upTo), amount: toAmount(amount) }
}

function toHeaders(lines: string): Record<string, string> | null {
  if (lines.trim() === '') return null
  return Object.fromEntries(
    lines
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => {
        const [name = '', ...value] = line.split(':')
        return [name.trim(), value.join(':').trim()]
      }),
  )
}

function textOf(value: number | undefined, otherwise: string): string {
  return value === undefined ? otherwise : String(value)
}

/** A line that works as it stands: in test mode it pays for nothing, else it is told what to pay. */
export function curlOf({ url, routes, testToken }: Paywall): string {
  const [route] = routes
  const path = (route?.path ?? '/').replace(/\/?\*$/, '/').replace(/:[^/]+/g, '1')
  const method = route === undefined || route.method === '*' || route.method === 'GET' ? '' : ` -X ${route.method}`
  const token = testToken === null ? '' : ` \\\n  -H 'X-Payment-Token: ${testToken}'`
  return `curl -i${method} ${url}${path}${token}`
}
