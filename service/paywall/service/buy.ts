import type { RequestBody } from '../../x402/model.ts'
import { requestOf } from '../../x402/payload.ts'
import { outlasts, tooShort } from '../../x402/requirements.ts'
import { idLike, isId } from '../../kit/ids.ts'
import { authorizationUsed, paymentSubmitted } from '../../sales/errors.ts'
import { assertBuyer, isTokenOf, TOKEN, tokenHash } from '../../sales/service/proof.ts'
import { alreadyDelivered, anotherRequest, badPayment, paymentExpired, underWay } from '../errors.ts'
import type { Exact, Metered, Outcome, Payment } from '../model.ts'
import {
  HELD_MS,
  isSubmitted,
  LEASE_MS,
  lineHash,
  NO_BODY_HASH,
  pricesOf,
  priceSigned,
  priceStanding,
} from '../rules/payment.ts'
import { authorizationIn, type Presented } from '../rules/payload.ts'
import { pays, TOO_LITTLE } from '../rules/prepaid.ts'
import { chargeOf, isMetered, windowStart } from '../rules/pricing.ts'
import { keyOf } from '../rules/routes.ts'
import { requirementsOf } from '../rules/x402.ts'
import { endpointOf, type Call } from './call.ts'
import type { Carrying, Told } from './carry.ts'
import type { Offering } from './offer.ts'
import type { GateParts } from './parts.ts'
import type { Hex, SignedAuthorization } from '../../chain/model.ts'

export interface Buying {
  /** With a signed authorization: once. */
  buy(call: Call, pricing: Exact | Metered, presented: Presented): Promise<Outcome>
  /** With the id of a payment that was made here, and a proof that it is theirs. */
  follow(call: Call, given: Given): Promise<Outcome>
  /** By the payment's token, what it has paid for and was not delivered; null where nothing is owed. */
  owed(call: Call, pricing: Exact | Metered, presented: Presented): Promise<Outcome | null>
  /** What is to be known of an authorization before anything is made of it; an outcome where it is refused. */
  judge(call: Call, pricing: Exact | Metered, presented: Presented): Promise<Judged | Outcome>
  begin(call: Call, pricing: Exact | Metered, judged: Judged): Promise<Outcome>
  again(call: Call, pricing: Exact | Metered, known: Payment, told: Told): Promise<Outcome>
}

interface Given {
  payment: string
  token: string | undefined
  presented: Presented | null
}

export interface Judged {
  presented: Presented
  digest: Hex
  request: RequestBody
  payer: `0x${string}`
  payerHasCode: boolean
  recipient: `0x${string}`
  amount: Payment['amount']
  network: Payment['network']
  /** Less than a measured call's maximum: it tops up a balance. */
  part: boolean
}

/** From an authorization to an answer. Whatever is refused before the claim leaves no trace. */
export function createBuying(parts: BuyingParts): Buying {
  const { books, settler, clock, draw, offering, carrying, checkpoint, limits } = parts

  async function buy(call: Call, pricing: Exact | Metered, presented: Presented): Promise<Outcome> {
    const judged = await judge(call, pricing, presented)
    return 'digest' in judged ? await begin(call, pricing, judged) : judged
  }

  async function owed(call: Call, pricing: Exact | Metered, presented: Presented): Promise<Outcome | null> {
    const { digest } = askedBy(call, presented)
    const known = digest === null ? null : await books.find(digest)
    if (known === null || !isTokenOf(known.tokenHash, call.request.header('x-payment-token'))) return null
    const delivered = known.state === 'paid' && known.delivery !== 'none'
    return delivered ? null : await again(call, pricing, known, { version: presented.version, token: null })
  }

  /** What the facilitator is asked, for the price that was signed. */
  function askedBy({ gate, route, request }: Call, presented: Presented) {
    const { authorization, network } = presented
    const signed = { to: authorization.to, value: authorization.value, network: network?.name ?? null }
    const price = priceSigned(pricesOf(gate, route), signed, isMetered(route.pricing))
    if (price === null) throw new Error('a paywall without a recipient sells for money')
    const described = {
      url: gate.address + request.path + request.query,
      description: route.description ?? gate.name,
      mimeType: 'application/json',
    }
    const asked = requestOf(presented, requirementsOf(price, described))
    return { asked, price, digest: settler.digestOf(presented) }
  }

  async function judge(call: Call, pricing: Exact | Metered, presented: Presented): Promise<Judged | Outcome> {
    const { asked, price, digest } = askedBy(call, presented)
    const { authorization } = presented
    const told: Told = { version: presented.version, token: null }
    const known = digest === null ? null : await books.find(digest)
    if (known !== null) return await again(call, pricing, boughtBy(call, known, presented), told)
    const { refusal, payerHasCode = false } = await settler.verify(asked)
    if (refusal !== null || digest === null) {
      // Its own twin may just have been settled.
      const twin = digest === null ? null : await books.find(digest)
      if (twin !== null) return await again(call, pricing, boughtBy(call, twin, presented), told)
      if (refusal === USED) throw authorizationUsed()
      return await offering.refused(call, pricing, { reason: refusal ?? UNSUPPORTED, payer: authorization.from })
    }
    const paid = payerHasCode || price.part ? moneyFirst(call) : call
    const lapses = await lapsesTooSoon(paid, pricing, authorization)
    if (lapses !== null) return lapses
    return { presented, digest, request: asked, payer: authorization.from, payerHasCode, ...price }
  }

  /** Where the money moves after the work, the authorization must still be valid then. */
  async function lapsesTooSoon(
    call: Call,
    pricing: Exact | Metered,
    authorization: SignedAuthorization,
  ): Promise<Outcome | null> {
    const { workMs } = limits
    if (call.route.settle === 'before' || outlasts(authorization, workMs, clock.now())) return null
    const sentence = `${tooShort(workMs)} Nothing was charged.`
    return await offering.refused(call, pricing, { reason: EXPIRES, payer: authorization.from, sentence })
  }

  async function begin(call: Call, pricing: Exact | Metered, judged: Judged): Promise<Outcome> {
    const { gate, route, request, id } = call
    const { digest, payer, presented } = judged
    const now = clock.now()
    const token = chosenToken(call) ?? `tok_${draw()}`
    const payment: Payment = {
      id: idLike('pay', id),
      paywallId: gate.id,
      owner: gate.owner,
      kind: isMetered(pricing) ? 'balance' : 'request',
      state: 'calling',
      route: keyOf(route),
      endpoint: endpointOf(request),
      amount: judged.amount,
      network: judged.network,
      recipient: judged.recipient,
      payer,
      simulated: false,
      digest,
      request: judged.request,
      lineHash: lineHash(gate.id, request),
      bodyHash: request.body === null ? NO_BODY_HASH : null,
      tokenHash: tokenHash(token),
      windowStart: windowOf(pricing, now),
      cost: null,
      txHash: null,
      reason: null,
      delivery: 'none',
      leaseUntil: new Date(now.getTime() + LEASE_MS),
      expiresAt: endOf(presented.authorization.validBefore),
      createdAt: now,
      endedAt: null,
    }
    const told: Told = { version: presented.version, token }
    const begun = await books.begin(payment, tiersOf(pricing))
    if (begun.begun) {
      await checkpoint('begun')
      const onward = judged.payerHasCode || judged.part ? moneyFirst(call) : call
      return await carrying.carry(onward, pricing, payment, told)
    }
    if ('tier' in begun) return await anotherTier(call, pricing, payer)
    const twin = await books.findById(begun.bought)
    if (twin === null) throw authorizationUsed()
    return await again(call, pricing, boughtBy(call, twin, presented), { ...told, token: null })
  }

  async function anotherTier(call: Call, pricing: Exact | Metered, payer: `0x${string}`): Promise<Outcome> {
    const sentence =
      'Your next call has another price: calls that you paid for and calls under way count. Nothing was charged; sign for the amount given here.'
    return await offering.refused(call, pricing, { reason: 'tier_changed', payer, sentence })
  }

  /** The same payment for the same request is carried on; one that has been used up is not. */
  async function again(call: Call, pricing: Exact | Metered, known: Payment, told: Told): Promise<Outcome> {
    const { gate, request, route } = call
    if (known.paywallId !== gate.id) throw authorizationUsed()
    if (!known.lineHash.equals(lineHash(gate.id, request))) throw anotherRequest()
    const now = clock.now()
    if (known.state === 'failed') {
      return await offering.refused(call, pricing, { reason: known.reason ?? UNSUPPORTED, payer: known.payer })
    }
    if (known.state === 'paid') {
      if (known.delivery !== 'none') throw alreadyDelivered(known.id)
      if ((known.endedAt ?? now).getTime() + HELD_MS < now.getTime()) {
        throw paymentExpired('The answer to this payment was not fetched within ten minutes.', known.id)
      }
    }
    if (known.leaseUntil !== null && known.leaseUntil > now) throw underWay(known.id)
    let onward = call
    if (known.state === 'released' || known.state === 'calling') {
      const place = await offering.tierOf(call, pricing, known.payer)
      const price = priceStanding(pricesOf(gate, route), known.amount, isMetered(pricing))
      if (price !== null && pricing.model === 'tiered' && chargeOf(pricing, place) !== known.amount) {
        return await anotherTier(call, pricing, known.payer)
      }
      const { refusal, payerHasCode = false } =
        price === null ? { refusal: VALUE } : await settler.verify(bodyOf(known))
      // A nonce that is used may have paid for this, or have been cancelled: the chain says which, before any work.
      if (payerHasCode || price?.part === true || refusal === USED) onward = moneyFirst(call)
      // Somebody else has submitted it: it is this sale's all the same, for its buyer, whom the signature names no more.
      if (refusal === USED && !provenBy(call, known, told)) throw paymentSubmitted()
      if (refusal !== null && refusal !== USED)
        return await offering.refused(call, pricing, { reason: refusal, payer: known.payer })
      // A transfer that is in a block can no longer lapse.
      const lapses = refusal === USED ? null : await lapsesTooSoon(onward, pricing, authorizationIn(known.request))
      if (lapses !== null) return lapses
      if (refusal === null && price?.part === true && isMetered(pricing)) {
        const balance = await books.left(gate.id, gate.network, known.payer)
        const why = { reason: 'insufficient_balance', payer: known.payer, balance, sentence: TOO_LITTLE }
        if (!pays(pricing, balance, known.amount)) return await offering.refused(call, pricing, why)
      }
    }
    // The window in which it was first presented may be over, and its calls with it.
    const current = { ...known, windowStart: windowOf(pricing, now) }
    const taken = await books.take(current, tiersOf(pricing), new Date(now.getTime() + LEASE_MS))
    if (taken === null) throw underWay(known.id)
    return await carrying.carry(onward, pricing, taken, told)
  }

  async function follow(call: Call, { payment: id, token, presented }: Given): Promise<Outcome> {
    const { pricing } = call.route
    if (pricing.model === 'free') throw new Error('a free route asks for no payment')
    if (!isId('pay', id) && !NONCE.test(id)) {
      throw badPayment('x-payment-id', 'must be the id of a payment, pay_…, or the nonce of its authorization')
    }
    if (token === undefined && presented === null) {
      throw badPayment(
        'x-payment-id',
        "needs the payment's X-Payment-Token beside it, or a fresh signature of its payer",
      )
    }
    if (token !== undefined && !TOKEN.test(token)) throw badPayment('x-payment-token', 'must be tok_ and 43 characters')
    const known = isId('pay', id) ? await books.findById(id) : await byNonce(id as Hex, presented)
    if (known?.paywallId !== call.gate.id) throw badPayment('x-payment-id', 'names no payment at this paywall')
    if (token !== undefined) {
      if (!isTokenOf(known.tokenHash, token)) throw badPayment('x-payment-token', 'is not that of this payment')
      return await again(call, pricing, known, { version: presented?.version ?? null, token })
    }
    return presented === null ? await offering.unpaid(call, pricing) : await proven(call, pricing, known, presented)
  }

  /** Who lost the answer knows the nonce of what they signed, and not the payment's id. */
  async function byNonce(nonce: Hex, presented: Presented | null): Promise<Payment | null> {
    if (presented?.network == null) return null
    const digest = await settler.digestBy(presented.network.name, presented.authorization.from, nonce)
    return digest === null ? null : await books.find(digest)
  }

  /** A signature that nobody has seen before: ids and settled payments are public, and prove nothing. */
  async function proven(call: Call, pricing: Exact | Metered, known: Payment, presented: Presented): Promise<Outcome> {
    const price = {
      amount: known.amount,
      recipient: known.recipient ?? presented.authorization.to,
      network: known.network,
    }
    const described = { url: call.gate.address, description: call.gate.name, mimeType: 'application/json' }
    const asked = requestOf(presented, requirementsOf(price, described))
    const digest = settler.digestOf(presented)
    if (presented.authorization.from !== known.payer) throw badPayment(presented.field, "is not the payment's payer's")
    if (digest === null || digest === known.digest) throw badPayment(presented.field, 'must be a fresh signature')
    const { refusal } = await settler.verify(asked)
    if (refusal !== null) return await offering.refused(call, pricing, { reason: refusal, payer: known.payer })
    if (!(await books.prove(digest, known.id))) throw authorizationUsed()
    return await again(call, pricing, known, { version: presented.version, token: null, proven: true })
  }

  return { buy, follow, owed, judge, begin, again }
}

interface BuyingParts extends GateParts {
  offering: Offering
  carrying: Carrying
}

const USED = 'invalid_exact_evm_nonce_already_used'
const EXPIRES = 'invalid_exact_evm_payload_authorization_valid_before'
const UNSUPPORTED = 'unsupported_payload_type'
const VALUE = 'invalid_exact_evm_payload_authorization_value_mismatch'

/** Throws unless it was this caller who bought it: by its token, or by the signature that no chain has seen yet. */
function boughtBy({ request }: Call, known: Payment, { authorization }: Presented): Payment {
  const { signature } = authorizationIn(known.request)
  const token = isTokenOf(known.tokenHash, request.header('x-payment-token'))
  assertBuyer({ signature, submitted: isSubmitted(known) }, { signature: authorization.signature, token })
  return known
}

function provenBy({ request }: Call, known: Payment, { proven }: Told): boolean {
  return proven === true || isTokenOf(known.tokenHash, request.header('x-payment-token'))
}

function bodyOf({ request }: Payment): RequestBody {
  if (request === null) throw new Error('a payment has no authorization')
  return request
}

/** A buyer who chooses the token before paying can fetch the answer although the first one got lost. */
function chosenToken({ request }: Call): string | null {
  const token = request.header('x-payment-token')
  if (token !== undefined && !TOKEN.test(token)) throw badPayment('x-payment-token', 'must be tok_ and 43 characters')
  return token ?? null
}

const NONCE = /^0x[0-9a-f]{64}$/

function tiersOf(pricing: Exact | Metered) {
  return pricing.model === 'tiered' ? pricing.tiers : null
}

/**
 * A wallet with code may take its word back while the upstream works: the money moves before it is asked. So it does where
 * a part is paid in: only together with what is in the balance by then does it pay for the call.
 */
function moneyFirst(call: Call): Call {
  return { ...call, route: { ...call.route, settle: 'before' } }
}

function windowOf(pricing: Exact | Metered, now: Date): Date | null {
  return pricing.model === 'tiered' ? windowStart(pricing.window, now) : null
}

/** Times beyond any calendar are the end of it. */
function endOf(seconds: bigint): Date {
  return new Date(Number(seconds < LAST_SECOND ? seconds : LAST_SECOND) * 1000)
}

const LAST_SECOND = 253_402_300_799n
