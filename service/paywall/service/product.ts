import { DomainError } from '../../kit/errors.ts'
import { deriveId, isId } from '../../kit/ids.ts'
import { least } from '../../kit/money.ts'
import { authorizationUsed, deliveryErrors, isLasting, refunderOf } from '../../sales/errors.ts'
import { wasPaid, type Sale, type StoredAnswer } from '../../sales/model.ts'
import { owedUntil } from '../../sales/service/settle.ts'
import type { AccountTerms, Made, Product, Standing, Terms } from '../../sales/service/deps.ts'
import { OTHER_PRICE } from '../../x402/reasons.ts'
import { alreadyDelivered, anotherRequest, badPayment, noLongerOwed, settlementPending, underWay } from '../errors.ts'
import type { Exact, HeaderList, Metered, Outcome } from '../model.ts'
import type { Hold } from '../ports.ts'
import {
  detailsOf,
  HELD_MS,
  HOLD_MS,
  lineHash,
  meteredBy,
  NO_BODY_HASH,
  passHash,
  paymentOf,
  pricesOf,
  priceSigned,
  type SignedPrice,
} from '../rules/payment.ts'
import { atMost, pays, TOO_LITTLE } from '../rules/prepaid.ts'
import { chargeOf, isMetered, windowStart } from '../rules/pricing.ts'
import { keyOf } from '../rules/routes.ts'
import { offeredRoute, requirementsOf } from '../rules/x402.ts'
import type { Presented } from '../rules/payload.ts'
import { discard, type Gathered } from './answer.ts'
import { hashOf } from './body.ts'
import { endpointOf, resourceOf, type Call, type Calling, type Sellable } from './call.ts'
import { costOfWhole } from './usage-meter.ts'
import { TooLittle, type MeteredCalls } from './metered-calls.ts'
import { takerOf, type Offering, type Why } from './offer.ts'
import type { GateDeps } from './deps.ts'

/** A paid request at a route with a price. */
export interface PaidCall extends Call {
  pricing: Exact | Metered
  presented: Presented | null
}

/** An upstream's answer; for a measured, prepaid call, the outcome for its client. */
export type GateAnswer =
  { kind: 'answer'; gathered: Gathered; upstreamMs: number; sent: string } | { kind: 'metered'; outcome: Outcome }

/** The upstream refused or failed: its answer is passed on unchanged. Nothing is charged that was not paid before. */
export class UpstreamRefused extends Error {
  readonly code = 'upstream_error'
  readonly outcome: Outcome
  readonly sale: Sale

  constructor(outcome: Outcome, sale: Sale) {
    super('the upstream did not return a successful answer')
    this.outcome = outcome
    this.sale = sale
  }
}

/** The reason why a payment is not accepted, as the buyer is answered. */
export class NotSold extends Error {
  readonly why: Why

  constructor(why: Why) {
    super('a payment was not accepted')
    this.why = why
  }
}

/** The payer is in another tier by now. Thrown inside the claim, so that the authorization is not kept. */
export class AnotherTier extends Error {}

export const TIER_CHANGED =
  'The price of your next call has changed, because your paid and pending calls count. Nothing was charged. Sign for the new amount.'

/** The price that a payment was signed for; the current one if it matches none. */
export function signedPrice({ gate, route, presented }: Call & { presented: Presented }): SignedPrice {
  const { authorization, network, permit } = presented
  const signed = { to: authorization.to, value: authorization.value, network: network?.name ?? null }
  // No part of a maximum can be permitted: a permit goes into no balance.
  const price = priceSigned(pricesOf(gate, route), signed, isMetered(route.pricing) && permit === null)
  if (price === null) throw new Error('a paywall with a price has no recipient')
  return price
}

/** The product of a request at a gate: its upstream is called before or after the money moves. */
export function createGateProduct(deps: GateProductDeps): Product<PaidCall, GateAnswer> {
  const { journal, tokens, tally, clock, limits, addresses, meteredCalls, offering } = deps
  const { notMade, failed } = createFailures(deps)

  /** The price that was signed, or today's where it is not valid any more. Checks the current window and tier. */
  async function standing(sale: Sale, call: PaidCall): Promise<Standing> {
    const { gate, route, pricing } = call
    const { payer, amount, recipient: to, network } = sale
    assertForSale(call)
    const prices = (paymentOf(sale).kind === 'balance') === isMetered(pricing) ? pricesOf(gate, route) : []
    const signed = { to, value: amount, network }
    const price = priceSigned(prices, signed, isMetered(pricing) && deps.methods.of(sale).taken === undefined)
    if (price === null) throw new NotSold({ reason: OTHER_PRICE, payer })
    const tier = await offering.tierOf(call, pricing, payer)
    if (pricing.model === 'tiered' && price.amount === amount && chargeOf(pricing, tier) !== amount) {
      throw new NotSold({ reason: 'tier_changed', payer, sentence: TIER_CHANGED })
    }
    if (price.part && isMetered(pricing)) {
      const balance = await journal.left(gate.id, gate.network, payer)
      const why = { reason: 'insufficient_balance', payer, balance, sentence: TOO_LITTLE }
      if (!pays(pricing, balance, amount)) throw new NotSold(why)
    }
    // The window of the first attempt may be over, and its call count with it.
    const start = windowOf(pricing, clock.now())?.toISOString() ?? null
    const details = { ...sale.details, part: price.part, windowStart: start }
    return { ...price, workMs: workMsOf(route, price, limits), details, note: tiersOf(pricing) }
  }

  async function make(call: PaidCall, sale: Sale, paid: boolean): Promise<Made<GateAnswer>> {
    if (call.refusal !== null) throw notMade(call.refusal, sale)
    const payment = paymentOf(sale)
    const pricing = meteredBy(payment, call.pricing)
    if (paid && payment.kind === 'balance') {
      if (pricing === null) throw await unspent(deps, call, sale)
      // The payment is in the balance, and the call draws from it like any other.
      await journal.begun(sale.id)
      return { ...NOTHING_STORED, value: { kind: 'metered', outcome: await drawn(call, pricing, sale) } }
    }
    const answer = await callFor(deps, call, sale, paid)
    const { gathered, upstreamMs, sent } = answer
    try {
      return {
        value: { kind: 'answer', gathered, upstreamMs, sent: sent?.text() ?? '' },
        answer: gathered.kind === 'whole' ? toStored(gathered) : null,
        bodyHash: sent === null ? NO_BODY_HASH : sent.hash,
        ...(await usedOf(deps, { pricing, sale }, answer)),
        note: gathered.kind === 'whole' || pricing === null ? null : holdOf(call, pricing, sale, clock.now()),
        discard: () => {
          discardAll(gathered)
        },
      }
    } catch (error) {
      discardAll(gathered)
      throw error
    }
  }

  async function drawn(call: PaidCall, pricing: Metered, sale: Sale): Promise<Outcome> {
    const own = sale.details['part'] === true ? pricing : atMost(pricing, sale.amount)
    try {
      return await meteredCalls.call(call, own, { payer: sale.payer }, paymentOf(sale).id)
    } catch (error) {
      if (!(error instanceof TooLittle)) throw error
      const found = { balance: error.balance, headers: headersOf(sale, tokens.of(sale.id)) }
      throw new NotSold({ reason: 'insufficient_balance', payer: sale.payer, sentence: USED_UP, ...found })
    }
  }

  return {
    name: 'gate',
    idOf: (operation) => deriveId('pay', operation),
    isId: (id) => isId('pay', id),
    terms: (call) => termsOf(call, deps),
    accountTerms: (call) => accountTermsOf(call, deps),
    isHere: (sale, { gate }) => sale.subject === gate.id,
    requiresIdentifier: ({ route }) => route.paymentIdentifier === 'required',
    assertSame(sale, { gate, request }) {
      if (sale.subject !== gate.id) throw authorizationUsed()
      if (!sale.inputHash.equals(lineHash(gate.id, request))) throw anotherRequest()
    },
    badProof: (why) => badPayment('x-payment-id', why),
    ...(deps.refused === undefined ? {} : { refused: deps.refused }),
    delivery: {
      joins: false,
      makingMs: limits.workMs,
      owedMs: HELD_MS,
      standing,
      make,
      async restore(stored, sale, { request }) {
        const { bodyHash } = sale
        if (bodyHash !== null && !bodyHash.equals(await hashOf(request.body, limits.bodyBytes))) throw anotherRequest()
        // What it cost was taken when it was made.
        return { kind: 'answer', gathered: fromStored(stored), upstreamMs: 0, sent: '' }
      },
      errors: {
        busy: ({ id }) => underWay(id),
        given: alreadyDelivered,
        expired: noLongerOwed,
        pending(sale) {
          tally.count(sale.subject, paymentOf(sale).route, 'settlement_pending')
          return withToken(settlementPending(sale.id, addresses.statusOf(sale.id)), tokens.of(sale.id), sale.id)
        },
        failed,
      },
    },
  }
}

/** Why there is no answer, and whether it is paid for. */
function createFailures({ addresses, tokens, clock }: GateProductDeps) {
  const { failed: owed, undeliverable } = deliveryErrors({ statusUrl: ({ id }) => addresses.statusOf(id), tokens })

  /** Of a payment that has arrived. A paused gate may make the answer when it is for sale again. */
  function notMade(refusal: DomainError, sale: Sale): unknown {
    const error = isLasting(refusal) ? undeliverable(refusal, sale) : owed(refusal, sale, true)
    if (!(error instanceof DomainError) || isLasting(refusal)) return error
    const deliverableUntil = owedUntil(sale, HELD_MS, clock.now()).toISOString()
    const sentence = `${error.message} That works once the API is for sale again, until ${deliverableUntil}. After that, ask ${refunderOf(sale)}`
    return new DomainError(error.kind, error.code, sentence, { ...error.fields, deliverableUntil })
  }

  /**
   * A buyer needs the token to repeat the request, because another client may have put the signature on the chain
   * meanwhile.
   */
  function failed(error: unknown, sale: Sale, paid: boolean): unknown {
    if (!(error instanceof DomainError)) return error
    // Sent with another body, the payment pays for nothing here.
    const isOwed = paid && !isLasting(error) && error.fields['paid'] !== true
    return isOwed ? owed(error, sale, paid) : withToken(error, tokens.of(sale.id), sale.id)
  }

  return { notMade, failed }
}

/** What is in a balance pays for no call at a fixed price. */
async function unspent({ journal, tokens }: GateProductDeps, { gate }: PaidCall, sale: Sale): Promise<NotSold> {
  const { payer } = sale
  const balance = await journal.left(gate.id, gate.network, payer)
  const headers = headersOf(sale, tokens.of(sale.id))
  return new NotSold({ reason: 'insufficient_balance', payer, balance, sentence: PRICE_FIXED, headers })
}

function termsOf(call: PaidCall, deps: GateProductDeps): Terms {
  const { gate, route, request, pricing, presented } = call
  assertForSale(call)
  if (presented === null) throw new Error('a sale has no signature')
  const price = signedPrice({ ...call, presented })
  // Of a tiered price the first tier's.
  const [{ amount } = price] = pricesOf(gate, route)
  const resource = {
    url: resourceOf(call),
    description: route.description ?? gate.name,
    mimeType: 'application/json',
  }
  return {
    ...soldOf(call, price, deps),
    requirements: {
      ...requirementsOf(price, resource, {
        route: offeredRoute(gate.address, route, request.method),
        taker: presented.permit === null ? null : takerOf(deps, route),
      }),
      listed: String(amount),
    },
    note: tiersOf(pricing),
  }
}

/** An account pays what the route costs now. */
function accountTermsOf(call: PaidCall, deps: GateProductDeps): AccountTerms {
  assertForSale(call)
  const [price] = pricesOf(call.gate, call.route)
  if (price === undefined) throw new Error('a paywall with a price has no recipient')
  return { ...soldOf(call, { ...price, part: false }, deps), resource: resourceOf(call) }
}

/** What was bought before was recognised by now. */
function assertForSale({ refusal }: Call): void {
  if (refusal !== null) throw refusal
}

/** What a sale stores of its request, whoever pays. */
function soldOf(call: PaidCall, price: SignedPrice, { limits, clock }: GateProductDeps) {
  const { gate, route, request, pricing } = call
  const { amount, network, recipient, part } = price
  const details = detailsOf({
    kind: isMetered(pricing) ? 'balance' : 'request',
    route: keyOf(route),
    endpoint: endpointOf(request),
    windowStart: windowOf(pricing, clock.now()),
    cost: null,
    part,
    ...(route.signIn === null ? {} : { pass: passHash(gate.id, network, request).toString('hex') }),
  })
  const workMs = workMsOf(route, price, limits)
  const inputHash = lineHash(gate.id, request)
  return { subject: gate.id, ...gate.owner, amount, network, recipient, details, inputHash, workMs }
}

/** A partial payment covers the call only together with the balance at that time. */
function workMsOf({ settle }: PaidCall['route'], { part }: SignedPrice, { workMs }: GateProductDeps['limits']): number {
  return settle === 'before' || part ? 0 : workMs
}

async function callFor(deps: GateProductDeps, call: PaidCall, sale: Sale, paid: boolean): Promise<Sellable> {
  const { journal, calling, tally } = deps
  const { id, payer, amount } = sale
  const bind = async (hash: Buffer): Promise<void> => {
    if (!(await journal.bind(id, hash))) throw anotherRequest()
  }
  try {
    const who = {
      payment: paymentOf(sale).id,
      payer,
      amount,
      measured: meteredBy(paymentOf(sale), call.pricing) !== null,
      bind,
    }
    const answer = await calling.paid(call, { ...who, state: paid ? 'settled' : 'authorized' })
    if (answer.failed === null) return answer
    throw new UpstreamRefused(answer.failed, sale)
  } catch (error) {
    tally.count(call.gate.id, keyOf(call.route), 'upstream_error')
    throw error
  }
}

/**
 * What a whole answer cost: taken of a permit, or of the balance that the payment goes into. A buyer who was offered a lower
 * maximum a moment ago pays no more than that.
 */
async function usedOf(
  deps: GateProductDeps,
  { pricing, sale }: { pricing: Metered | null; sale: Sale },
  answer: Sellable,
): Promise<Pick<Made<GateAnswer>, 'details' | 'amount'>> {
  const { countTokens, methods } = deps
  const { gathered, sent, upstreamMs: ms } = answer
  if (gathered.kind !== 'whole' || pricing === null) return { details: null }
  const cost = await costOfWhole(
    pricing,
    { sent: sent?.text() ?? '', body: gathered.body, headers: gathered.headers, ms },
    countTokens,
  )
  const taken = methods.of(sale).taken?.(sale, cost)
  const details = { ...sale.details, cost: String(taken ?? least(cost, sale.amount)) }
  return taken === undefined ? { details } : { details: { ...details, kind: 'request' }, amount: taken }
}

function holdOf({ gate, route, operation }: PaidCall, pricing: Metered, { network, payer }: Sale, now: Date): Hold {
  const { maximum: amount, minimum } = pricing
  const until = new Date(now.getTime() + HOLD_MS)
  const place = { paywallId: gate.id, network, route: keyOf(route), by: { payer } }
  return { call: operation, ...place, amount, minimum, until }
}

function windowOf(pricing: Exact | Metered, now: Date): Date | null {
  return pricing.model === 'tiered' ? windowStart(pricing.window, now) : null
}

interface GateProductDeps extends GateDeps {
  calling: Calling
  meteredCalls: MeteredCalls
  offering: Offering
}

const USED_UP = 'Your payment was added to your balance, but other calls have used it up. Nothing more was charged.'
const PRICE_FIXED =
  'Your payment was added to your balance, but the price of this route is fixed by now. Nothing more was charged.'
const NOTHING_STORED = { answer: null, bodyHash: null, details: null, note: null, discard: () => undefined } as const

function tiersOf(pricing: Exact | Metered) {
  return pricing.model === 'tiered' ? pricing.tiers : null
}

function withToken(error: DomainError, paymentToken: string, paymentId: string): DomainError {
  const fields = { ...error.fields, paymentId, paymentToken }
  return new DomainError(error.kind, error.code, error.message, fields).causedBy(error.cause)
}

function discardAll(gathered: Gathered): void {
  if (gathered.kind === 'tunnel') gathered.answer.tunnel?.destroy()
  else discard(gathered)
}

function toStored({ status, headers, body }: Extract<Gathered, { kind: 'whole' }>): StoredAnswer {
  return { meta: { status, headers }, body }
}

function fromStored({ meta, body }: StoredAnswer): Gathered {
  const { status, headers } = meta as { status: number; headers: HeaderList }
  return { kind: 'whole', status, headers, body, trailers: () => ({}) }
}

/** The headers with which the client finds the payment again, and learns that it has arrived. */
export function headersOf(sale: Sale, token: string): HeaderList {
  return [
    ['X-Payment-ID', sale.id],
    ['X-Payment-Token', token],
    ...(wasPaid(sale) ? [['X-Payment-Status', 'paid'] as const] : []),
  ]
}
