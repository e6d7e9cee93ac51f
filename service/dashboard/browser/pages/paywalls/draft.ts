import type { Input, Output } from '../../api/procedures.ts'
import { linesOf, orNull, toAmount, toHeaders, toTexts, type Kind } from '../../parts/texts.ts'

export type Paywall = Output<'paywalls.get'>
type Body = Input<'paywalls.create'>
type RouteBody = Body['routes'][number]

type PricingBody = RouteBody['pricing']
type Tiered = Extract<PricingBody, { model: 'tiered' }>
type Amount = 'amount' | 'input' | 'output' | 'minimum' | 'maximum'

/** A paywall in the form's state: texts, under the names of the API's body. */
export interface Draft extends Pick<Body, 'network'> {
  name: string
  slug: string
  upstreamUrl: string
  upstreamHeaders: string
  routes: RouteDraft[]
  recipient: string
  testMode: boolean
}

export interface RouteDraft extends Pick<RouteBody, 'method' | 'path'> {
  description: string
  settle: NonNullable<RouteBody['settle']>
  paymentIdentifier: NonNullable<RouteBody['paymentIdentifier']>
  /** The seconds for which a buyer returns free of charge; empty when each request is paid. */
  signIn: string
  pricing: Pick<PricingBody, 'model'> & Pick<Tiered, 'window'> & Record<Amount | 'tiers', string>
}

export const NEW_ROUTE: RouteDraft = {
  method: '*',
  path: '/*',
  description: '',
  settle: 'after',
  paymentIdentifier: 'optional',
  signIn: '',
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

function toRouteDraft(route: Paywall['routes'][number]): RouteDraft {
  const { method, path, description, settle, paymentIdentifier, signIn, pricing } = route
  const { tiers, window, model } = pricing as Partial<Tiered> & typeof pricing
  const usual = NEW_ROUTE.pricing
  return {
    method: method as RouteDraft['method'],
    path,
    description: description ?? '',
    settle,
    paymentIdentifier,
    signIn: signIn === null ? '' : String(signIn.seconds),
    pricing: {
      ...toTexts(AMOUNTS, pricing, usual),
      model,
      tiers: tiers?.map(({ upTo, amount }) => `${upTo ?? 'rest'}: ${amount}`).join('\n') ?? usual.tiers,
      window: window ?? usual.window,
    },
  }
}

const AMOUNTS = {
  amount: 'number',
  input: 'number',
  output: 'number',
  minimum: 'number',
  maximum: 'number',
} as const satisfies Record<Amount, Kind>

type Terms = Required<Pick<Body, 'name' | 'slug' | 'upstreamUrl' | 'routes' | 'network'>> & {
  recipient: string | null
  testMode: boolean
  upstreamHeaders?: Record<string, string>
}

export function toBody(draft: Draft): Terms {
  return {
    name: draft.name,
    slug: draft.slug,
    upstreamUrl: draft.upstreamUrl,
    routes: draft.routes.map((route) => ({
      method: route.method,
      path: route.path,
      description: orNull(route.description),
      settle: route.settle,
      paymentIdentifier: route.paymentIdentifier,
      signIn: maySignIn(route.pricing.model) && route.signIn !== '' ? { seconds: Number(route.signIn) } : null,
      pricing: toPricing(route.pricing),
    })),
    network: draft.network,
    recipient: orNull(draft.recipient.trim()),
    testMode: draft.testMode,
    // The header values are never shown again, so an empty field means that they stay unchanged.
    ...(draft.upstreamHeaders.trim() === '' ? {} : { upstreamHeaders: toHeaders(draft.upstreamHeaders) }),
  }
}

/** Where the price depends on the answer, a buyer cannot return free of charge. */
export function maySignIn(model: PricingBody['model']): boolean {
  return model === 'per-request' || model === 'tiered'
}

/** The amount fields of each pricing model. */
const AMOUNTS_OF = {
  free: [],
  'per-request': ['amount'],
  tiered: [],
  'per-token': ['input', 'output', 'minimum', 'maximum'],
  'per-minute': ['amount', 'minimum', 'maximum'],
} as const satisfies Record<PricingBody['model'], readonly Amount[]>

function toPricing({ model, tiers, window, ...texts }: RouteDraft['pricing']): PricingBody {
  if (model === 'tiered') return { model, tiers: linesOf(tiers).map(toTier), window }
  const amounts = AMOUNTS_OF[model].map((name) => [name, toAmount(texts[name])] as const)
  return { model, ...Object.fromEntries(amounts) } as PricingBody
}

function toTier(line: string): { upTo: number | null; amount: number } {
  const [upTo = '', amount = ''] = line.split(':')
  return { upTo: upTo.trim() === 'rest' ? null : Number(upTo), amount: toAmount(amount) }
}

/** A curl command that works unchanged: in test mode it costs nothing, otherwise the answer says what to pay. */
export function curlOf({ url, routes, testToken }: Paywall): string {
  const [route] = routes
  const path = (route?.path ?? '/').replace(/\/?\*$/, '/').replace(/:[^/]+/g, '1')
  const method = route === undefined || route.method === '*' || route.method === 'GET' ? '' : ` -X ${route.method}`
  const token = testToken === null ? '' : ` \\\n  -H 'X-Payment-Token: ${testToken}'`
  return `curl -i${method} ${url}${path}${token}`
}
