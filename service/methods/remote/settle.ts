import { setTimeout as wait } from 'node:timers/promises'
import type { Settled } from '../../sales/model.ts'
import type { SaleMethod, Verified } from '../../sales/ports.ts'
import type { RequestBody } from '../../x402/model.ts'
import { ALREADY_USED, EXPIRED, SETTLEMENT_UNKNOWN } from '../../x402/reasons.ts'
import { readSettled } from './answers.ts'
import { askFacilitator, isOver, remotePaymentOf, type RemoteDeps, type RemotePayment } from './deps.ts'
import { authorizationIn, evidenceOf, isTaken, readsChain, verifyRemotely } from './offer.ts'

/**
 * Payments that another facilitator settles: the one that the sale was begun with, or `unnamed` where it was begun before
 * that was stored.
 */
export function remoteMethod(deps: RemoteDeps, unnamed: string | null): SaleMethod {
  return {
    signed: true,
    simulated: false,
    verify: (sale) => verifyAgain(deps, remotePaymentOf(sale, unnamed)),
    settle: (sale, waitMs, isFirst = false) =>
      settleRemotely(deps, remotePaymentOf(sale, unnamed), { sale: sale.id, waitMs, isFirst }),
  }
}

/** The money of a sale that has begun may have moved since: then nothing but the chain says what it is worth. */
async function verifyAgain(deps: RemoteDeps, payment: RemotePayment): Promise<Verified> {
  const authorization = authorizationIn(payment.request)
  const evidence = await evidenceOf(deps, payment.request)
  if (isTaken(evidence)) return { payer: authorization.from, refusal: ALREADY_USED }
  return await verifyRemotely(deps, payment)
}

/**
 * With a verifier the facilitator's reports about money are not trusted: a success counts once the chain shows it, a
 * failure once the authorization can never be used again, and until then the payment is pending.
 */
async function settleRemotely(
  deps: RemoteDeps,
  { facilitator, request }: RemotePayment,
  { sale, waitMs = 0, isFirst }: { sale: string; waitMs?: number | undefined; isFirst: boolean },
): Promise<Settled> {
  const until = performance.now() + waitMs
  const { status, json } = await askFacilitator(deps, `${facilitator}/settle`, request, sale)
  const reported = readSettled(status, json)
  if (!readsChain(deps, request)) return believed(deps, request, { reported, isFirst })
  for (;;) {
    const found = await proven(deps, request)
    // A facilitator that refuses has moved nothing that a later block would show.
    const maySettle = reported.status !== 'failed' && performance.now() + LOOK_AGAIN_MS <= until
    if (found.status !== 'pending' || !maySettle) return found
    await wait(LOOK_AGAIN_MS)
  }
}

/**
 * Without a chain. A refusal after an answer that may be lost, in this process or another, may be about what was settled then:
 * the nonce is used, the money is gone, the time is over.
 */
function believed(
  { clock }: RemoteDeps,
  request: RequestBody,
  { reported, isFirst }: { reported: Settled; isFirst: boolean },
): Settled {
  const isUnclear = reported.status === 'pending' || (reported.status === 'failed' && !isFirst)
  const seconds = BigInt(Math.floor(clock.now().getTime() / 1000))
  if (isUnclear && !isOver(authorizationIn(request), seconds)) return { status: 'pending' }
  return isUnclear ? { status: 'failed', reason: SETTLEMENT_UNKNOWN } : reported
}

/** About half of the time in which these networks make a block. */
const LOOK_AGAIN_MS = 1_000

async function proven(deps: RemoteDeps, request: RequestBody): Promise<Settled> {
  const evidence = await evidenceOf(deps, request)
  switch (evidence?.state) {
    case 'used':
      return { status: 'settled', txHash: evidence.txHash }
    case 'spent':
      return { status: 'failed', reason: ALREADY_USED }
    case 'over':
      return { status: 'failed', reason: EXPIRED }
    default:
      return { status: 'pending' }
  }
}
