import type { Address, Hex, SignedAuthorization } from '../../chain/model.ts'
import { NETWORKS, networkOf, type Network, type NetworkName } from '../../chain/networks.ts'
import type { Clock } from '../../kit/clock.ts'
import { DomainError } from '../../kit/errors.ts'
import type { Settled } from '../../sales/model.ts'
import type { SellingDeps } from '../../sales/service/deps.ts'
import type { RequestBody } from '../../x402/model.ts'
import { readRequest } from '../../x402/payload.ts'
import { readSettled, readVerdict, refuseHere } from '../rules/facilitator.ts'
import { authorizationIn } from '../rules/payload.ts'

/** Reads the state of an authorization from the chain itself. */
export interface ChainVerifier {
  /** Whether there is a way to ask this chain at all. */
  reads(network: Network): boolean
  /** Null when the chain cannot be reached. */
  look(network: Network, authorization: SignedAuthorization): Promise<ChainEvidence | null>
  /** Whether a contract verifies the payer's signatures; null when the chain cannot be reached. */
  payerHasCode(network: Network, authorization: SignedAuthorization): Promise<boolean | null>
}

/** `used`: this payment reached its recipient. `spent`: it was cancelled and can never settle. */
export type ChainEvidence = { state: 'used'; txHash: Hex } | { state: 'spent' } | { state: 'unused'; chainTime: Date }

interface RemoteDeps {
  /** A POST of JSON. Rejects when no answer arrives in time; `json` is null when the answer is not JSON. */
  post(path: '/verify' | '/settle', body: unknown, operation: string | null): Promise<{ status: number; json: unknown }>
  /** Null if only the facilitator can be queried: its answer has to be trusted then, as on a chain that is not read. */
  verifier: ChainVerifier | null
  digestOf(network: Network, authorization: SignedAuthorization): Hex
  /** For chains where payer and nonce identify an authorization. */
  digestBy?: (network: Network, payer: Address, nonce: Hex) => Hex
  clock: Clock
}

/**
 * A remote facilitator. With a verifier its reports about money are not trusted: a success counts once the chain shows
 * it, a failure once the authorization can never be used again, and until then the payment is pending.
 */
export function createRemoteMethod({ post, verifier, digestOf, digestBy, clock }: RemoteDeps): SellingDeps['method'] {
  async function ask(path: '/verify' | '/settle', body: unknown, operation: string | null) {
    try {
      return await post(path, body, operation)
    } catch (error) {
      return { status: 0, json: undefined, error }
    }
  }

  async function proven(request: RequestBody, said: Settled): Promise<Settled> {
    const { network } = readRequest(request)
    const authorization = authorizationIn(request)
    if (verifier === null || (network !== null && !verifier.reads(network))) {
      if (said.status === 'pending' && isOver(authorization, clock.now())) return OVER
      return said
    }
    const evidence = network === null ? null : await verifier.look(network, authorization)
    if (evidence === null) return { status: 'pending' }
    switch (evidence.state) {
      case 'used':
        return { status: 'settled', txHash: evidence.txHash }
      case 'spent':
        return { status: 'failed', reason: 'invalid_exact_evm_nonce_already_used' }
      case 'unused':
        return isOver(authorization, evidence.chainTime) ? OVER : { status: 'pending' }
    }
  }

  return {
    digestBy: (network, payer, nonce) => Promise.resolve(digestBy?.(NETWORKS[network], payer, nonce) ?? null),
    digestOf: ({ network, authorization }) =>
      network === null || authorization === null ? null : digestOf(network, authorization),

    async verify(request) {
      const { network } = readRequest(request)
      const authorization = authorizationIn(request)
      const refusal = refuseHere(readRequest(request), clock.now())
      if (refusal !== null) return { payer: authorization.from, refusal }
      const { status, json } = await ask('/verify', request, null)
      const verdict = readVerdict(status, json)
      if (verdict === null) throw unavailable()
      const verified = { payer: authorization.from, refusal: verdict.refusal }
      if (verdict.refusal !== null || network === null || verifier?.reads(network) !== true) return verified
      // If this is unknown at the moment, the order is the one that is safe with any wallet.
      return { ...verified, payerHasCode: (await verifier.payerHasCode(network, authorization)) ?? true }
    },

    async settle(request, operation) {
      const { status, json } = await ask('/settle', request, operation)
      return await proven(request, readSettled(status, json))
    },

    serves: (network: NetworkName) => networkOf(network) !== null,
  }
}

const OVER: Settled = { status: 'failed', reason: 'invalid_exact_evm_payload_authorization_valid_before' }

/** A block may arrive late with an earlier timestamp. */
function isOver({ validBefore }: SignedAuthorization, now: Date): boolean {
  return Number(validBefore) * 1000 + MARGIN_MS < now.getTime()
}

const MARGIN_MS = 15_000

function unavailable(): DomainError {
  const sentence = 'The facilitator does not answer. Nothing was charged; try again.'
  return new DomainError('unavailable', 'facilitator_unavailable', sentence, { retryAfterSeconds: 5 })
}
