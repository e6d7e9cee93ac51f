import type { DomainError } from '../../kit/errors.ts'
import { isId } from '../../kit/ids.ts'
import { PaymentRefused, refusalIn } from '../../sales/errors.ts'
import { NONCE } from '../../sales/model.ts'
import type { Sold } from '../../sales/service/deps.ts'
import { receiptOf } from '../../sales/service/door.ts'
import { proofIn } from '../../sales/service/proof.ts'
import { createSelling } from '../../sales/service/sell.ts'
import { badPayment } from '../errors.ts'
import type { CallUpstream, Gate, GateRequest, Outcome, Route } from '../model.ts'
import { DISCOVERY_PATH, discoveryOf } from '../rules/discovery.ts'
import { NOT_CACHED, tellsCaches } from '../rules/headers.ts'
import { presentedIn } from '../rules/payload.ts'
import { meteredBy, paymentOf, TEST_TOKEN } from '../rules/payment.ts'
import { isMetered } from '../rules/pricing.ts'
import { callOf, counted, createCalling, NO_ROUTE, soldOutcome, type Call } from './call.ts'
import { createCounters } from './counter.ts'
import { createMeteredCalls } from './metered-calls.ts'
import { createOffering } from './offer.ts'
import type { GateDeps } from './deps.ts'
import { createPrepaying, type MeteredCall } from './prepay.ts'
import {
  AnotherTier,
  createGateProduct,
  headersOf,
  NotSold,
  TIER_CHANGED,
  UpstreamRefused,
  type GateAnswer,
  type PaidCall,
} from './product.ts'
import { createSignIn } from './sign-in.ts'
import { createSimulating } from './simulate.ts'

/** Prices a request, takes the payment and passes the request on: the same in the gateway and in the middleware. */
export function createGate(deps: GateDeps) {
  const { journal, tokens, tally, clock, method, dialects } = deps
  const offering = createOffering(deps)
  const calling = createCalling(deps)
  const meteredCalls = createMeteredCalls({ ...deps, calling })
  const selling = createSelling(
    { ...deps, settleMs: deps.limits.settleMs },
    createGateProduct({ ...deps, calling, meteredCalls, offering }),
  )
  const sales = { ...selling, digestOf: method.digestOf }
  const prepaying = createPrepaying({ ...deps, offering, meteredCalls, sales, finish })
  const simulating = createSimulating({ ...deps, offering, calling })
  const signIn = createSignIn({ ...deps, calling })

  async function serve(gate: Gate, request: GateRequest, ask: CallUpstream, hops = 0): Promise<Outcome> {
    const call = callOf({ gate, request, ask, hops }, clock.now())
    const { refusal, route } = call
    if (refusal === null || route !== NO_ROUTE) return forBuyer(route, await counted(tally, call, () => answer(call)))
    if (isDiscovery(gate, request)) return discoveryOf(gate)
    return forBuyer(route, await handOver(call, refusal))
  }

  /** What was bought here before, though it is not for sale now. Throws the refusal where the request proves no sale. */
  async function handOver(call: Call, refusal: DomainError): Promise<Outcome> {
    const order = provenOrder(call)
    if (order === null) throw refusal
    return await finish(order, await selling.buy(order))
  }

  async function answer(call: Call): Promise<Outcome> {
    const { route, request } = call
    const { pricing } = route
    if (pricing.model === 'free') return await calling.free(call)
    if (call.refusal !== null) {
      return await handOver(call, call.refusal).catch((error: unknown) => {
        if (error === call.refusal) return simulating.serve(call, pricing)
        throw error
      })
    }
    const { token, payment } = proofIn(request.header)
    if (payment !== null) assertNamed(payment)
    let paid: PaidCall = { ...call, pricing, presented: null, token, payment }
    try {
      paid = { ...paid, presented: presentedIn(request.header) }
      return await sell(paid)
    } catch (error) {
      return await refusal(paid, error)
    }
  }

  async function sell(call: PaidCall): Promise<Outcome> {
    const { pricing, presented, token, payment } = call
    if (payment === null && isMetered(pricing)) {
      const metered: MeteredCall = { ...call, pricing }
      if (token !== null) return await prepaying.byToken(metered, token)
      if (presented !== null) return await prepaying.bySignature(metered, presented)
    }
    if (payment === null && presented === null) {
      const entry = await signIn.serve(call)
      if (entry !== null && 'outcome' in entry) return entry.outcome
      return await offering.unpaid(call, pricing, entry?.why)
    }
    return await finish(call, await selling.buy(call))
  }

  /** The answer to the buyer for a sold request. */
  async function finish(call: PaidCall, { sale, value, token }: Sold<GateAnswer>): Promise<Outcome> {
    if (value === null) throw new Error('a gate sells answers')
    const { id } = sale
    const receipt = call.presented === null ? {} : await dialects.receipt(receiptOf(sale), call.presented)
    const headers = [...headersOf(sale, token), ...Object.entries(receipt)]
    if (value.kind === 'metered') return { ...value.outcome, headers: [...value.outcome.headers, ...headers] }
    tally.count(call.gate.id, paymentOf(sale).route, 'answered')
    const { gathered, upstreamMs, sent } = value
    const whenSent = (arrived: boolean): Promise<void> => (arrived ? journal.handedOver(id) : journal.leave(sale))
    const pricing = meteredBy(paymentOf(sale), call.pricing)
    if (pricing !== null) {
      const answered = { gathered, upstreamMs, sent, headers }
      const outcome = await meteredCalls.paidCall(call, pricing, paymentOf(sale), answered)
      return gathered.kind === 'whole' ? { ...outcome, whenSent } : outcome
    }
    // A stream is sent only once, so none of its bytes is sent again.
    return {
      ...soldOutcome(gathered, headers),
      whenSent: gathered.kind === 'whole' ? whenSent : () => journal.handedOver(id),
    }
  }

  /** The refusal of a payment, with what would be accepted. Other errors are handled as usual. */
  async function refusal(call: PaidCall, error: unknown): Promise<Outcome> {
    const { pricing } = call
    const payer = call.presented?.authorization.from ?? null
    if (error instanceof UpstreamRefused) {
      const { outcome, sale } = error
      const headers = headersOf(sale, tokens.of(sale.id))
      return { ...outcome, headers: [...outcome.headers, ...headers] }
    }
    if (error instanceof NotSold) return await offering.refused(call, pricing, error.why)
    if (error instanceof AnotherTier) {
      return await offering.refused(call, pricing, { reason: 'tier_changed', payer, sentence: TIER_CHANGED })
    }
    const refused = refusalIn(error, call.request.header)
    if (refused === null) throw error
    const known = error instanceof PaymentRefused ? error.payer : null
    return await offering.refused(call, pricing, { ...refused, payer: known ?? payer })
  }

  return { serve, counter: createCounters({ ...deps, offering, selling, finish }) }
}

/** What has a price, and the token that comes with it, is for its buyer: no cache between them may give it to others. */
function forBuyer({ pricing }: Route, outcome: Outcome): Outcome {
  if (pricing.model === 'free') return outcome
  const kept = outcome.headers.filter(([name]) => !tellsCaches(name))
  return { ...outcome, headers: [...kept, NOT_CACHED] }
}

function isDiscovery({ status }: Gate, { method, path }: GateRequest): boolean {
  return status !== 'paused' && path === DISCOVERY_PATH && method === 'GET'
}

/** With the proof of an earlier sale; null where the request has none. */
function provenOrder(call: Call): PaidCall | null {
  const { header } = call.request
  if (TEST_TOKEN.test(header('x-payment-token') ?? '')) return null
  const { token, payment } = proofIn(header)
  if (payment !== null) assertNamed(payment)
  const presented = presentedIn(header)
  if (payment === null && presented === null) return null
  return { ...call, route: NO_ROUTE, pricing: NO_ROUTE.pricing, presented, token, payment }
}

function assertNamed(payment: string): void {
  if (isId('pay', payment) || NONCE.test(payment)) return
  throw badPayment('x-payment-id', 'must be the id of a payment, pay_…, or the nonce of its authorization')
}
