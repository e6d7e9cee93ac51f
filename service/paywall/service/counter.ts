import { PaymentRefused } from '../../sales/errors.ts'
import type { Counter } from '../../sales/service/door.ts'
import type { PurchaseRequest, Sold } from '../../sales/service/deps.ts'
import { sentenceOf } from '../../x402/reasons.ts'
import { routeMissing } from '../errors.ts'
import type { CallUpstream, Gate, GateRequest, Outcome } from '../model.ts'
import { signed } from '../rules/payload.ts'
import { callOf, counted } from './call.ts'
import type { GateDeps } from './deps.ts'
import type { Offering, Why } from './offer.ts'
import { NotSold, type GateAnswer, type PaidCall } from './product.ts'

/**
 * Sells a request to a client whose payment is in no header. Where the upstream does not answer with success,
 * `UpstreamRefused` has its answer. Only prices of a single request are sold so: any other depends on who asks.
 */
export function createCounters(deps: CounterDeps) {
  const { tally, clock, addresses, dialects, journal, offering, selling, finish } = deps

  return (gate: Gate, request: GateRequest, ask: CallUpstream): Counter<Outcome> => {
    const call = callOf({ gate, request, ask, hops: 0 }, clock.now())
    const pricing = call?.route.pricing
    if (call === null || pricing?.model !== 'per-request' || gate.testMode) throw routeMissing(request.method)

    const buy = async (purchase: PurchaseRequest): Promise<Sold<Outcome>> => {
      const paid: PaidCall = { ...call, ...purchase, presented: signed(purchase.presented), pricing }
      try {
        const sold = await selling.buy(paid)
        return { ...sold, value: await finish(paid, sold) }
      } catch (error) {
        throw error instanceof NotSold ? refusalOf(error.why) : error
      }
    }

    return {
      facilitator: addresses.facilitator,
      dialects,
      journal,
      offer: () => offering.forSale(call, pricing),
      buy: (purchase) => counted(tally, call, () => buy(purchase)),
      toBody: () => ({}),
    }
  }
}

function refusalOf({ reason, sentence, payer }: Why): PaymentRefused {
  return new PaymentRefused(sentence ?? `${sentenceOf(reason)} Nothing was charged.`, { reason }, payer)
}

interface CounterDeps extends GateDeps {
  offering: Offering
  selling: { buy(call: PaidCall): Promise<Sold<GateAnswer>> }
  /** What the buyer gets. */
  finish(call: PaidCall, sold: Sold<GateAnswer>): Promise<Outcome>
}
