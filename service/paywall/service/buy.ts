import { idLike, isId } from '../../kit/ids.ts'
import { alreadyDelivered, anotherRequest, authorizationUsed, badPayment, paymentExpired, underWay } from '../errors.ts'
import type { Exact, Metered, Outcome, Payment } from '../model.ts'
import { signedIn } from '../rules/facilitator.ts'
import { HELD_MS, LEASE_MS, lineHash, priceSigned, pricesOf, TOKEN, tokenHash } from '../rules/payment.ts'
import type { Presented } from '../rules/payload.ts'
import { chargeOf, isMetered, windowStart } from '../rules/pricing.ts'
import { keyOf } from '../rules/routes.ts'
import { requestOf } from '../rules/x402.ts'
import { endpointOf, type Call } from './call.ts'
import type { Carrying, Told } from './carry.ts'
import type { Offering } from './offer.ts'
import type { GateParts } from './parts.ts'
import type { Hex } from '../../chain/model.ts'

export interface Buying {
  /** With a signed authorization: once. */
  buy(call: Call, pricing: Exact | Metered, presented: Presented): Promise<Outcome>
  /** With the id of a payment that was made here, and a proof that it is theirs. */
  follow(call: Call, given: Given): Promise<Outcome>
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
  request: unknown
  payer: `0x${string}`
  recipient: `0x${string}`
  amount: Payment['amount']
  network: Payment['network']
}

/** From an authorization to an answer. Whatever is refused before the claim leaves no trace. */
export function createBuying(parts: BuyingParts): Buying {
  const { books, settler, clock, draw, offering, carrying, checkpoint } = parts

  async function buy(call: Call, pricing: Exact | Metered, presented: Presented): Promise<Outcome> {
    const judged = await judge(call, pricing, presented)
    return 'digest' in judged ? await begin(call, pricing, judged) : judged
  }

  async function judge(call: Call, pricing: Exact | Metered, presented: Presented): Promise<Judged | Outcome> {
    const { gate, route, request } = call
    const { authorization, network } = presented
    const signed = { to: authorization.to, value: authorization.value, network: network?.name ?? null }
    const price = priceSigned(pricesOf(gate, route), signed)
    if (price === null) throw new Error('a paywall without a recipient sells for money')
    const described = {
      resource: gate.address + request.path + request.query,
      description: route.description ?? gate.name,
      mimeType: 'application/json',
    }
    const asked = requestOf(presented, price, described)
    const digest = settler.digestOf(asked)
    const told: Told = { version: presented.version, token: null }
    const known = digest === null ? null : await books.find(digest)
    if (known !== null) return await again(call, pricing, signedAlike(known, presented), told)
    const { refusal } = await settler.verify(asked)
    if (refusal !== null || digest === null) {
      // Its own twin may just have been settled.
      const twin = digest === null ? null : await books.find(digest)
      if (twin !== null) return await again(call, pricing, signedAlike(twin, presented), told)
      if (refusal === USED) throw authorizationUsed()
      return await offering.refused(call, pricing, { reason: refusal ?? UNSUPPORTED, payer: authorization.from })
    }
    return { presented, digest, request: asked, payer: authorization.from, ...price }
  }

  async function begin(call: Call, pricing: Exact | Metered, judged: Judged): Promise<Outcome> {
    const { gate, route, request, id } = call
    const { digest, payer, presented } = judged
    const now = clock.now()
    const token = `tok_${draw()}`
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
      bodyHash: null,
      tokenHash: tokenHash(token),
      windowStart: pricing.model === 'tiered' ? windowStart(pricing.window, now) : null,
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
      return await carrying.carry(call, pricing, payment, told)
    }
    if ('tier' in begun) return await anotherTier(call, pricing, payer)
    const twin = await books.findById(begun.bought)
    if (twin === null) throw authorizationUsed()
    return await again(call, pricing, signedAlike(twin, presented), { ...told, token: null })
  }

  async function anotherTier(call: Call, pricing: Exact | Metered, payer: `0x${string}`): Promise<Outcome> {
    const sentence = 'Your calls so far have another price. Nothing was charged; sign for the amount given here.'
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
    if (known.state === 'released' || known.state === 'calling') {
      const place = await offering.tierOf(call, pricing, known.payer)
      const price = pricesOf(gate, route).some(({ amount }) => amount === known.amount)
      if (price && pricing.model === 'tiered' && chargeOf(pricing, place) !== known.amount) {
        return await anotherTier(call, pricing, known.payer)
      }
      const { refusal } = price ? await settler.verify(known.request) : { refusal: VALUE }
      if (refusal !== null) return await offering.refused(call, pricing, { reason: refusal, payer: known.payer })
    }
    const taken = await books.take(known, tiersOf(pricing), new Date(now.getTime() + LEASE_MS))
    if (taken === null) throw underWay(known.id)
    return await carrying.carry(call, pricing, taken, told)
  }

  async function follow(call: Call, { payment: id, token, presented }: Given): Promise<Outcome> {
    const { pricing } = call.route
    if (pricing.model === 'free') throw new Error('a free route asks for no payment')
    if (!isId('pay', id)) throw badPayment('x-payment-id', 'must be the id of a payment, pay_…')
    if (token === undefined && presented === null) {
      throw badPayment(
        'x-payment-id',
        "needs the payment's X-Payment-Token beside it, or a fresh signature of its payer",
      )
    }
    if (token !== undefined && !TOKEN.test(token)) throw badPayment('x-payment-token', 'must be tok_ and 43 characters')
    const known = await books.findById(id)
    if (known?.paywallId !== call.gate.id) throw badPayment('x-payment-id', 'names no payment at this paywall')
    if (token !== undefined) {
      if (known.tokenHash?.equals(tokenHash(token)) !== true) {
        throw badPayment('x-payment-token', 'is not that of this payment')
      }
      return await again(call, pricing, known, { version: null, token: null })
    }
    return presented === null ? await offering.unpaid(call, pricing) : await proven(call, pricing, known, presented)
  }

  /** A signature that nobody has seen before: ids and settled payments are public, and prove nothing. */
  async function proven(call: Call, pricing: Exact | Metered, known: Payment, presented: Presented): Promise<Outcome> {
    const price = {
      amount: known.amount,
      recipient: known.recipient ?? presented.authorization.to,
      network: known.network,
    }
    const described = { resource: call.gate.address, description: call.gate.name, mimeType: 'application/json' }
    const asked = requestOf(presented, price, described)
    const digest = settler.digestOf(asked)
    if (presented.authorization.from !== known.payer) throw badPayment(presented.header, "is not the payment's payer's")
    if (digest === null || digest === known.digest) throw badPayment(presented.header, 'must be a fresh signature')
    const { refusal } = await settler.verify(asked)
    if (refusal !== null) return await offering.refused(call, pricing, { reason: refusal, payer: known.payer })
    if (!(await books.prove(digest, known.id))) throw authorizationUsed()
    return await again(call, pricing, known, { version: presented.version, token: null })
  }

  return { buy, follow, judge, begin, again }
}

interface BuyingParts extends GateParts {
  offering: Offering
  carrying: Carrying
}

const USED = 'invalid_exact_evm_nonce_already_used'
const UNSUPPORTED = 'unsupported_payload_type'
const VALUE = 'invalid_exact_evm_payload_authorization_value_mismatch'

/** Who knows what was signed without the signature has read it somewhere. */
function signedAlike(known: Payment, { authorization }: Presented): Payment {
  if (signedIn(known.request).authorization.signature !== authorization.signature) throw authorizationUsed()
  return known
}

function tiersOf(pricing: Exact | Metered) {
  return pricing.model === 'tiered' ? pricing.tiers : null
}

/** Times beyond any calendar are the end of it. */
function endOf(seconds: bigint): Date {
  return new Date(Number(seconds < LAST_SECOND ? seconds : LAST_SECOND) * 1000)
}

const LAST_SECOND = 253_402_300_799n
