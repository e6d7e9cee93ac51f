import type { Settled } from '../../sales/model.ts'
import type { SaleMethod } from '../../sales/ports.ts'
import type { RequestBody } from '../../x402/model.ts'
import { readRequest } from '../../x402/payload.ts'
import { readSettled } from './answers.ts'
import { askFacilitator, isOver, remotePaymentOf, type RemoteDeps, type RemotePayment } from './deps.ts'
import { authorizationIn, verifyRemotely } from './offer.ts'

/**
 * Payments that another facilitator settles: the one that the sale was begun with, or `unnamed` where it was begun before
 * that was stored.
 */
export function remoteMethod(deps: RemoteDeps, unnamed: string | null): SaleMethod {
  return {
    signed: true,
    simulated: false,
    verify: (sale) => verifyRemotely(deps, remotePaymentOf(sale, unnamed)),
    settle: (sale) => settleRemotely(deps, remotePaymentOf(sale, unnamed), sale.id),
  }
}

/**
 * With a verifier the facilitator's reports about money are not trusted: a success counts once the chain shows it, a
 * failure once the authorization can never be used again, and until then the payment is pending.
 */
async function settleRemotely(
  deps: RemoteDeps,
  { facilitator, request }: RemotePayment,
  sale: string,
): Promise<Settled> {
  const { status, json } = await askFacilitator(deps, `${facilitator}/settle`, request, sale)
  return await proven(deps, request, readSettled(status, json))
}

async function proven({ verifier, clock }: RemoteDeps, request: RequestBody, reported: Settled): Promise<Settled> {
  const { network } = readRequest(request)
  const authorization = authorizationIn(request)
  if (verifier === null || (network !== null && !verifier.reads(network))) {
    const seconds = BigInt(Math.floor(clock.now().getTime() / 1000))
    return reported.status === 'pending' && isOver(authorization, seconds) ? OVER : reported
  }
  const evidence = network === null ? null : await verifier.look(network, authorization)
  switch (evidence?.state) {
    case 'used':
      return { status: 'settled', txHash: evidence.txHash }
    case 'spent':
      return { status: 'failed', reason: 'invalid_exact_evm_nonce_already_used' }
    case 'over':
      return OVER
    default:
      return { status: 'pending' }
  }
}

const OVER: Settled = { status: 'failed', reason: 'invalid_exact_evm_payload_authorization_valid_before' }
