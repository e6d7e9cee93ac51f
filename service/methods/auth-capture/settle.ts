import { stepOf, type Sale, type Settled } from '../../sales/model.ts'
import type { SaleMethod } from '../../sales/ports.ts'
import { readRequest } from '../../x402/payload.ts'
import type { OwnDeps } from '../own/offer.ts'
import { ownMethod, requesterOf, requestIn, settledOf } from '../own/settle.ts'

/** Money that waits in the escrow while the work is done: it is asked for twice, first to wait, then for its end. */
export function escrowMethod(deps: OwnDeps): SaleMethod {
  const own = ownMethod(deps)
  return {
    ...own,
    settle: (sale, waitMs) => {
      const step = stepOf(sale)
      return step === 'capture' || step === 'void' ? end(deps, sale, { step, waitMs }) : own.settle(sale, waitMs)
    },
    left: (sale) => deps.authCapture.left(readRequest(requestIn(sale))),
  }
}

/**
 * Captures all of it, or gives all of it back. What the chain refuses may have been captured already, by a transaction that
 * a restored database does not know, or that a node did not show in time: then it is paid. A sale whose work has failed
 * since stays as it is, because its money did not go back either.
 */
async function end(
  { facilitator, authCapture }: OwnDeps,
  sale: Sale,
  { step, waitMs }: { step: 'capture' | 'void'; waitMs: number | undefined },
): Promise<Settled> {
  const payment = readRequest(requestIn(sale))
  const { amount } = payment.required
  const expected = { capturable: amount, refundable: 0n }
  const action = step === 'void' ? { type: step } : { type: step, amount, expected }
  const examined = authCapture.examineAction(payment, action)
  const outcome = settledOf(await facilitator.carryOut(payment, examined, requesterOf(sale, waitMs)))
  if (outcome.status !== 'failed') return outcome
  const txHash = await authCapture.capturedBy(payment, sale.createdAt)
  if (txHash === null) return outcome
  return step === 'capture' ? { status: 'settled', txHash } : { status: 'pending' }
}
