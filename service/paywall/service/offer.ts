import { badPayment, paymentExpired } from '../errors.ts'
import type { Exact, HeaderList, Metered, Offer, Outcome } from '../model.ts'
import { HELD_MS } from '../rules/payment.ts'
import { chargeOf, windowStart } from '../rules/pricing.ts'
import { keyOf } from '../rules/routes.ts'
import { toRequired } from '../rules/x402.ts'
import type { Call } from './call.ts'
import type { GateParts } from './parts.ts'

export interface Offering {
  unpaid(call: Call, pricing: Exact | Metered): Promise<Outcome>
  /** Why what was presented is not taken, and what would be. */
  refused(call: Call, pricing: Exact | Metered, why: Why): Promise<Outcome>
  /** In which tier a customer's next call is. */
  tierOf(call: Call, pricing: Exact | Metered, payer: `0x${string}` | null): Promise<number>
}

interface Why {
  reason: string
  /** Whose price is told. */
  payer: `0x${string}` | null
  sentence?: string
  fields?: object
  headers?: HeaderList
}

/** What is said to whoever has not paid, or not what it costs. */
export function createOffering({ books, settler, tally, clock, addresses }: GateParts): Offering {
  function offerOf({ gate, route, request }: Call, pricing: Exact | Metered, tier: number): Offer {
    return {
      paywall: gate.id,
      name: gate.name,
      description: route.description,
      pricing: pricing.model,
      amount: chargeOf(pricing, tier),
      recipient: gate.recipient,
      network: gate.network,
      facilitator: addresses.facilitator,
      resource: gate.address + request.path + request.query,
      mimeType: 'application/json',
      expiresAt: new Date(clock.now().getTime() + HELD_MS),
      testMode: gate.testMode,
    }
  }

  async function tierOf({ gate, route }: Call, pricing: Exact | Metered, payer: `0x${string}` | null): Promise<number> {
    if (pricing.model !== 'tiered' || payer === null) return 0
    return await books.tier(gate.id, keyOf(route), payer, pricing.tiers, windowStart(pricing.window, clock.now()))
  }

  function required(offer: Offer, told: Parameters<typeof toRequired>[1], more: HeaderList = []): Outcome {
    const { headers, body } = toRequired(offer, told)
    return {
      status: 402,
      headers: [...headers, ['Content-Type', 'application/json; charset=utf-8'], ...more],
      body: Buffer.from(JSON.stringify(body)),
      offer,
    }
  }

  return {
    tierOf,

    async unpaid(call, pricing) {
      tally.count(call.gate.id, keyOf(call.route), 'unpaid')
      // Who says who they are is told their own price: with a tiered one it differs from customer to customer.
      const said = call.request.header('x-payment-payer')
      if (said !== undefined && !/^0x[0-9a-fA-F]{40}$/.test(said)) {
        throw badPayment('x-payment-payer', 'must be 0x and 40 hexadecimal digits')
      }
      const payer = (said?.toLowerCase() ?? null) as `0x${string}` | null
      const error = call.gate.testMode
        ? 'A payment is required. This paywall is in test mode: its owner has a token for X-Payment-Token.'
        : 'A payment is required.'
      return required(offerOf(call, pricing, await tierOf(call, pricing, payer)), { error, reason: null })
    },

    async refused(call, pricing, { reason, payer, sentence, fields = {}, headers = [] }) {
      const error = sentence ?? `${settler.sentenceOf(reason)} Nothing was charged.`
      if (reason === EXPIRED) throw paymentExpired(error)
      tally.count(call.gate.id, keyOf(call.route), reason)
      const offer = offerOf(call, pricing, await tierOf(call, pricing, payer))
      return required(offer, { error, reason, fields }, headers)
    },
  }
}

const EXPIRED = 'invalid_exact_evm_payload_authorization_valid_before'
