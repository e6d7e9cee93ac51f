import type { SignedAuthorization } from '../../chain/model.ts'
import { NETWORKS, networkOf } from '../../chain/networks.ts'
import { DomainError } from '../../kit/errors.ts'
import type { Method, Verified } from '../../sales/ports.ts'
import type { RequestBody } from '../../x402/model.ts'
import { readRequest } from '../../x402/payload.ts'
import { ALREADY_USED } from '../../x402/reasons.ts'
import { readVerdict, refuseHere } from './answers.ts'
import { askFacilitator, type ChainEvidence, type RemoteDeps, type RemotePayment } from './deps.ts'

/** New payments, which the facilitator with this address settles. */
export function offerRemote(deps: RemoteDeps, facilitator: string): Method {
  const { digestOf, digestBy } = deps
  return {
    digestOf: ({ network, authorization, permit }) =>
      network === null || authorization === null || permit !== null ? null : digestOf(network, authorization),
    digestBy: (network, payer, nonce) => Promise.resolve(digestBy?.(NETWORKS[network], payer, nonce) ?? null),
    verify: (request) => verifyRemotely(deps, { facilitator, request }),
    choose: () => ({ method: 'remote', facilitator }),
    serves: (network) => networkOf(network) !== null,
  }
}

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
  const [evidence, payerHasCode] = await Promise.all([
    verifier.look(network, authorization),
    verifier.payerHasCode(network, authorization),
  ])
  // It may have paid already: a facilitator that does not notice would settle it again, with the transfer of the first time.
  if (evidence === null) throw chainUnreadable()
  if (isTaken(evidence)) return { ...verified, refusal: ALREADY_USED }
  // If this is unknown at the moment, the order is the one that is safe with any wallet.
  return { ...verified, payerHasCode: payerHasCode ?? true }
}

export function readsChain({ verifier }: Pick<RemoteDeps, 'verifier'>, request: RequestBody): boolean {
  const { network } = readRequest(request)
  return verifier !== null && (network === null || verifier.reads(network))
}

/** What the chain shows of the authorization; null where it shows nothing now. */
export async function evidenceOf(
  { verifier }: Pick<RemoteDeps, 'verifier'>,
  request: RequestBody,
): Promise<ChainEvidence | null> {
  const { network } = readRequest(request)
  if (verifier === null || network === null || !verifier.reads(network)) return null
  return await verifier.look(network, authorizationIn(request))
}

/** Whether its nonce cannot pay any more, because it has paid or was cancelled. */
export function isTaken(evidence: ChainEvidence | null): boolean {
  return evidence?.state === 'used' || evidence?.state === 'spent' || evidence?.state === 'taken'
}

/** A request of a product that is sold for signed authorizations only. */
export function authorizationIn(request: RequestBody): SignedAuthorization {
  const { authorization } = readRequest(request)
  if (authorization === null) throw new Error('a payment at another facilitator has no authorization')
  return authorization
}

function unavailable(): DomainError {
  const sentence = 'The facilitator does not answer. Nothing was charged; try again.'
  return new DomainError('unavailable', 'facilitator_unavailable', sentence, { retryAfterSeconds: 5 })
}

function chainUnreadable(): DomainError {
  const sentence = 'The network cannot be read at the moment. Nothing was charged; try again.'
  return new DomainError('unavailable', 'rpc_unavailable', sentence, { retryAfterSeconds: 5 })
}
