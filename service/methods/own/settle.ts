import type { SettleRequester, SettleResult } from '../../facilitator/model.ts'
import type { Sale, Settled } from '../../sales/model.ts'
import type { SaleMethod } from '../../sales/ports.ts'
import type { PaymentRequest, RequestBody } from '../../x402/model.ts'
import { readRequest } from '../../x402/payload.ts'
import { soldHere, verifyHere, type OwnDeps } from './offer.ts'

/** Payments that this service's own facilitator settles. */
export function ownMethod(deps: OwnDeps): SaleMethod {
  return {
    signed: true,
    simulated: false,
    verify: (sale) => verifyHere(deps, requestIn(sale)),
    settle: (sale, waitMs) => settleHere(deps, sale, readRequest(requestIn(sale)), waitMs),
  }
}

/** Asks this service's own facilitator, whose result is the chain's. */
export async function settleHere(
  deps: OwnDeps,
  sale: Sale,
  payment: PaymentRequest,
  waitMs?: number,
): Promise<Settled> {
  const { facilitator, listing } = deps
  const answer = await facilitator.settle(payment, requesterOf(sale, waitMs))
  if (answer.success) {
    const sold = soldHere(requestIn(sale))
    // It is not awaited, because the buyer's answer does not depend on the catalogue.
    if (sold !== null) void listing.settled(sold, { status: 'settled' })
  }
  return settledOf(answer)
}

/** The sale's own name: a repeated call asks for the same, and gets the same success. */
export function requesterOf({ id }: Pick<Sale, 'id'>, waitMs?: number): SettleRequester {
  return { operation: id, ownsResult: true, ...(waitMs === undefined ? {} : { waitMs }) }
}

/** A sale without an authorization must not count as paid. */
export function requestIn({ request }: Pick<Sale, 'request'>): RequestBody {
  if (request === null) throw new Error('a sale has no authorization')
  return request
}

export function settledOf(answer: SettleResult): Settled {
  if (answer.success) return { status: 'settled', txHash: answer.txHash ?? 'nothing' }
  return answer.status === 'pending' ? { status: 'pending' } : { status: 'failed', reason: answer.reason }
}
