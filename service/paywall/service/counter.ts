import { PaymentRefused } from '../../sales/errors.ts'
import type { AccountFor } from '../../sales/model.ts'
import type { Counter } from '../../sales/service/door.ts'
import type { PurchaseRequest, Sold } from '../../sales/service/deps.ts'
import { DomainError } from '../../kit/errors.ts'
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

  return (gate: Gate, request: GateRequest, ask: CallUpstream): RouteCounter<Outcome> => {
    const call = callOf({ gate, request, ask, hops: 0 }, clock.now())
    if (call instanceof DomainError) throw call
    const { pricing } = call.route
    if (pricing.model !== 'per-request' || gate.testMode) throw routeMissing(request.method)

    const buying = async <Bought>(purchase: PurchaseRequest, buy: (paid: PaidCall) => Promise<Bought>) => {
      const paid: PaidCall = { ...call, ...purchase, presented: signed(purchase.presented), pricing }
      const sell = async (): Promise<Bought> => {
        try {
          return await buy(paid)
        } catch (error) {
          throw error instanceof NotSold ? refusalOf(error.why) : error
        }
      }
      return await counted(tally, call, sell)
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
