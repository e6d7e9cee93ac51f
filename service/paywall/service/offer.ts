import { toDecimal, type Usdc } from '../../kit/money.ts'
import { UNPAID } from '../../sales/errors.ts'
import type { Offer as SaleOffer } from '../../sales/model.ts'
import { answerUnpaid } from '../../sales/service/door.ts'
import { badPayment, paymentExpired } from '../errors.ts'
import type { Address } from '../../chain/model.ts'
import type { Exact, HeaderList, Metered, Offer, Outcome, Route } from '../model.ts'
import { HELD_MS } from '../rules/payment.ts'
import { isByUse, prepaidTerms, topUpOf } from '../rules/prepaid.ts'
import { chargeOf, isMetered, windowStart } from '../rules/pricing.ts'
import { keyOf } from '../rules/routes.ts'
import type { RefundTerms } from '../../x402/model.ts'
import { speaksMpp } from '../../x402/payload.ts'
import { isExpired, sentenceOf } from '../../x402/reasons.ts'
import { offeredRoute, saleOfferOf } from '../rules/x402.ts'
import { resourceOf, type Call } from './call.ts'
import type { GateDeps } from './deps.ts'
import { signInTerms } from './sign-in.ts'

export interface Offering {
  /** `why`: a sentence for people, when the buyer tried otherwise than by paying. */
  unpaid(call: Call, pricing: Exact | Metered, why?: string): Promise<Outcome>
  /** The reason for a refusal, and what would be accepted. */
  refused(call: Call, pricing: Exact | Metered, why: Why): Promise<Outcome>
  /** The same terms for a buyer whose payment is in no header. */
  forSale(call: Call, pricing: Exact): Promise<SaleOffer>
  /** The tier of a customer's next call. */
  tierOf(call: Call, pricing: Exact | Metered, payer: `0x${string}` | null): Promise<number>
}

export interface Why {
  reason: string
  /** The buyer whose price is offered. */
  payer: `0x${string}` | null
  sentence?: string
  /** The balance of a payer who has proven their identity: the offer asks only for the difference. */
  balance?: Usdc | null
  headers?: HeaderList
}

/** Who takes what was used at this route. Null where its payments go into a balance, or are of a fixed price. */
export function takerOf({ method, limits }: Pick<GateDeps, 'method' | 'limits'>, route: Route): Address | null {
  return isByUse(route, limits.paymentMin) ? (method.taker?.() ?? null) : null
}

/** Offers for buyers that have not paid, or not enough. */
export function createOffering(deps: GateDeps): Offering {
  const { journal, tally, clock, dialects, addresses, limits, refundTerms } = deps

  function offerOf(
    { gate, route, request }: Call,
    pricing: Exact | Metered,
    { tier, balance }: { tier: number; balance: Usdc | null },
  ): Offer {
    const topUp = balance !== null && isMetered(pricing) ? topUpOf(pricing, balance, limits.paymentMin) : null
    return {
      paywall: gate.id,
      name: gate.name,
      description: route.description,
      pricing: pricing.model,
      amount: topUp ?? chargeOf(pricing, tier),
      recipient: gate.recipient,
      network: gate.network,
      facilitator: addresses.facilitator,
      resource: resourceOf({ gate, request }),
      route: offeredRoute(gate.address, route, request.method),
      mimeType: 'application/json',
      taker: topUp === null ? takerOf(deps, route) : null,
      expiresAt: new Date(clock.now().getTime() + HELD_MS),
      testMode: gate.testMode,
    }
  }

  async function tierOf({ gate, route }: Call, pricing: Exact | Metered, payer: `0x${string}` | null): Promise<number> {
    if (pricing.model !== 'tiered' || payer === null) return 0
    const start = windowStart(pricing.window, clock.now())
    return await journal.tier(gate.id, keyOf(route), payer, pricing.tiers, start, gate.network)
  }

  /** For every door. What fills a balance is not refunded: its payer can still spend it. */
  async function refundOf({ gate, route }: Call): Promise<RefundTerms | null> {
    return isMetered(route.pricing) ? null : ((await refundTerms?.(gate.owner)) ?? null)
  }

  /** With all that a buyer may do at this route. */
  async function saleOffer(call: Call, offer: Offer, fields?: object): Promise<SaleOffer> {
    const requiresIdentifier = call.route.paymentIdentifier === 'required'
    const more = { signIn: signInTerms(call, addresses), refund: await refundOf(call), requiresIdentifier }
    return { ...saleOfferOf(offer, fields), ...more }
  }

  async function required(
    call: Call,
    offer: Offer,
    { fields, ...why }: { sentence: string; reason: string | null; fields: object },
    more: HeaderList = [],
  ): Promise<Outcome> {
    const sold = await saleOffer(call, offer, fields)
    const door = { dialects, facilitator: addresses.facilitator }
    const { headers, body } = await answerUnpaid(sold, door, call.request.header, why)
    return {
      status: 402,
      headers: [...Object.entries({ 'Content-Type': 'application/json; charset=utf-8', ...headers }), ...more],
      body: Buffer.from(JSON.stringify(body)),
      offer,
    }
  }

  return {
    tierOf,

    async forSale(call, pricing) {
      if (call.refusal !== null) throw call.refusal
      tally.count(call.gate.id, keyOf(call.route), 'unpaid')
      return await saleOffer(call, offerOf(call, pricing, { tier: 0, balance: null }))
    },

    async unpaid(call, pricing, why = UNPAID.sentence) {
      tally.count(call.gate.id, keyOf(call.route), 'unpaid')
      // A client that names its payer address gets that payer's price: a tiered price differs between customers.
      const said = call.request.header('x-payment-payer')
      if (said !== undefined && !/^0x[0-9a-fA-F]{40}$/.test(said)) {
        throw badPayment('x-payment-payer', 'must be 0x and 40 hexadecimal digits')
      }
      const payer = (said?.toLowerCase() ?? null) as `0x${string}` | null
      const sentence = call.gate.testMode ? `${UNPAID.sentence} ${TEST_TOKEN}` : why
      const offer = offerOf(call, pricing, { tier: await tierOf(call, pricing, payer), balance: null })
      return await required(call, offer, { sentence, reason: null, fields: prepaidIn(pricing, null) })
    },

    async refused(call, pricing, { reason, payer, sentence, balance = null, headers = [] }) {
      const why = sentence ?? `${sentenceOf(reason)} Nothing was charged.`
      // An authorization that is still valid but expires too soon comes with its own message and gets the usual
      // refusal. An expired one has none.
      if (isExpired(reason) && sentence === undefined && !speaksMpp(call.request.header)) throw paymentExpired(why)
      tally.count(call.gate.id, keyOf(call.route), reason)
      const offer = offerOf(call, pricing, { tier: await tierOf(call, pricing, payer), balance })
      const fields = { ...prepaidIn(pricing, balance), ...(balance === null ? {} : { balance: toDecimal(balance) }) }
      const left: HeaderList = balance === null ? [] : [['X-Payment-Balance', toDecimal(balance)]]
      return await required(call, offer, { sentence: why, reason, fields }, [...headers, ...left])
    },
  }
}

const TEST_TOKEN = 'This paywall is in test mode: send its test token as X-Payment-Token.'

function prepaidIn(pricing: Exact | Metered, balance: Usdc | null): object {
  return isMetered(pricing) ? { prepaid: prepaidTerms(pricing, balance) } : {}
}
