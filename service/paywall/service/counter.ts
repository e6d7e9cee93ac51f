import { PaymentRefused } from '../../sales/errors.ts'
import type { AccountFor } from '../../sales/model.ts'
import type { Counter } from '../../sales/service/door.ts'
import type { PurchaseRequest, Sold } from '../../sales/service/deps.ts'
import { sentenceOf } from '../../x402/reasons.ts'
import { routeMissing } from '../errors.ts'
import type { CallUpstream, Exact, Gate, GateRequest, Outcome } from '../model.ts'
import { signed } from '../rules/payload.ts'
import { callAt, callOf, counted, NO_ROUTE, type Call, type Incoming } from './call.ts'
import type { GateDeps } from './deps.ts'
import type { Offering, Why } from './offer.ts'
import { NotSold, type GateAnswer, type PaidCall } from './product.ts'

/**
 * Sells a request to a client whose payment is in no header. Where the upstream does not answer with success,
 * `UpstreamRefused` has its answer. Only prices of a single request are sold so: any other depends on who asks.
 */
export function createCounters(deps: CounterDeps) {
  const { tally, clock, addresses, dialects, journal, offering, selling, finish } = deps

  return (gate: Gate, request: GateRequest, ask: CallUpstream): RouteCounter<Outcome> => {
    const [call, pricing] = pricedCall({ gate, request, ask, hops: 0 }, clock.now())

    const buying = async <Bought>(purchase: PurchaseRequest, buy: (paid: PaidCall) => Promise<Bought>) => {
      const paid: PaidCall = { ...call, ...purchase, presented: signed(purchase.presented), pricing }
      const sell = async (): Promise<Bought> => {
        try {
          return await buy(paid)
        } catch (error) {
          throw error instanceof NotSold ? refusalOf(error.why) : error
        }
      }
      return call.refusal === null ? await counted(tally, call, sell) : await sell()
    }
    const handOver = async (paid: PaidCall, sold: Sold<GateAnswer>): Promise<Sold<Outcome>> => ({
      ...sold,
      value: await finish(paid, sold),
    })

    return {
      facilitator: addresses.facilitator,
      dialects,
      journal,
      offer: () => offering.forSale(call, pricing),
      buy: (purchase) => buying(purchase, async (paid) => await handOver(paid, await selling.buy(paid))),
      buyFromAccount: (purchase, accountFor) =>
        buying(purchase, async (paid) => {
          const sold = await selling.buyFromAccount(paid, accountFor)
          return sold === null ? null : await handOver(paid, sold)
        }),
      toBody: () => ({}),
    }
  }
}

/** A route whose price is no longer that of a single request sells none: it hands over what was bought. */
function pricedCall(incoming: Incoming, began: Date): [Call, PerRequest] {
  const call = callOf(incoming, began)
  const { pricing } = call.route
  if (pricing.model === 'per-request') return [call, pricing]
  const refusal = call.refusal ?? routeMissing(incoming.request.method)
  return [callAt(NO_ROUTE, incoming, began, refusal), NO_ROUTE.pricing]
}

type PerRequest = Extract<Exact, { model: 'per-request' }>

/** Sells one call of a route, also to accounts of this server. */
export interface RouteCounter<Value> extends Counter<Value> {
  /** Null where the route's owner is paid outside of this server. */
  buyFromAccount(purchase: PurchaseRequest, accountFor: AccountFor): Promise<Sold<Value> | null>
}

function refusalOf({ reason, sentence, payer }: Why): PaymentRefused {
  return new PaymentRefused(sentence ?? `${sentenceOf(reason)} Nothing was charged.`, { reason }, payer)
}

interface CounterDeps extends GateDeps {
  offering: Offering
  selling: {
    buy(call: PaidCall): Promise<Sold<GateAnswer>>
    buyFromAccount(call: PaidCall, accountFor: AccountFor): Promise<Sold<GateAnswer> | null>
  }
  /** What the buyer gets. */
  finish(call: PaidCall, sold: Sold<GateAnswer>): Promise<Outcome>
}
