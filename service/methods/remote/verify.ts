import { DomainError } from '../../kit/errors.ts'
import type { Verified } from '../../sales/ports.ts'
import { readRequest } from '../../x402/payload.ts'
import { readVerdict, refuseHere } from './answers.ts'
import { askFacilitator, authorizationIn, type RemoteDeps, type RemotePayment } from './deps.ts'

/** What must hold for any facilitator is checked here first. */
export async function verifyRemotely(deps: RemoteDeps, { facilitator, request }: RemotePayment): Promise<Verified> {
  const { verifier, clock } = deps
  const { network } = readRequest(request)
  const authorization = authorizationIn(request)
  const refusal = refuseHere(readRequest(request), clock.now())
  if (refusal !== null) return { payer: authorization.from, refusal }
  const { status, json } = await askFacilitator(deps, `${facilitator}/verify`, request, null)
  const verdict = readVerdict(status, json)
  if (verdict === null) throw unavailable()
  const verified = { payer: authorization.from, refusal: verdict.refusal }
  if (verdict.refusal !== null || network === null || verifier?.reads(network) !== true) return verified
  // If this is unknown at the moment, the order is the one that is safe with any wallet.
  return { ...verified, payerHasCode: (await verifier.payerHasCode(network, authorization)) ?? true }
}

function unavailable(): DomainError {
  const sentence = 'The facilitator does not answer. Nothing was charged; try again.'
  return new DomainError('unavailable', 'facilitator_unavailable', sentence, { retryAfterSeconds: 5 })
}
