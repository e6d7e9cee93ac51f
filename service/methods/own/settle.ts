import type { SettleResult } from '../../facilitator/model.ts'
import { stepOf, type Sale, type Settled } from '../../sales/model.ts'
import type { SaleMethod } from '../../sales/ports.ts'
import type { RequestBody } from '../../x402/model.ts'
import { readRequest } from '../../x402/payload.ts'
import { soldHere, verifyHere, type OwnDeps } from './offer.ts'

/** Payments that this service's own facilitator settles. */
export function ownMethod(deps: OwnDeps): SaleMethod {
  return {
    signed: true,
    simulated: false,
    verify: (sale) => verifyHere(deps, requestIn(sale)),
    settle: (sale, waitMs) => settleHere(deps, sale, waitMs),
  }
}

/** The same, with money that waits in the escrow meanwhile. */
export function escrowMethod(deps: OwnDeps): SaleMethod {
  return { ...ownMethod(deps), left: (sale) => deps.facilitator.leftInEscrow(readRequest(requestIn(sale))) }
}

/** Asks this service's own facilitator, whose result is the chain's. */
async function settleHere(deps: OwnDeps, sale: Sale, waitMs?: number): Promise<Settled> {
  const { facilitator, listing } = deps
  const request = requestIn(sale)
  const requester = { operation: sale.id, ownsResult: true, ...(waitMs === undefined ? {} : { waitMs }) }
  const step = stepOf(sale)
  if (step === 'capture' || step === 'void') {
    const payment = readRequest(request)
    const { amount } = payment.required
    const all = { capturable: amount, refundable: 0n }
    const action = step === 'void' ? { type: step } : { type: step, amount, expected: all }
    return settledOf(await facilitator.act(payment, action, requester))
  }
  const answer = await facilitator.settle(readRequest(request), requester)
  if (answer.success) {
    const sold = soldHere(request)
    // It is not awaited, because the buyer's answer does not depend on the catalogue.
    if (sold !== null) void listing.settled(sold, { status: 'settled' })
  }
  return settledOf(answer)
}

/** A sale without an authorization must not count as paid. */
function requestIn({ request }: Pick<Sale, 'request'>): RequestBody {
  if (request === null) throw new Error('a sale has no authorization')
  return request
}

function settledOf(answer: SettleResult): Settled {
  if (answer.success) return { status: 'settled', txHash: answer.txHash }
  return answer.status === 'pending' ? { status: 'pending' } : { status: 'failed', reason: answer.reason }
}
