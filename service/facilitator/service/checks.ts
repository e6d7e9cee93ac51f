import type { Chain, Hex, SignedAuthorization } from '../../chain/model.ts'
import type { Network } from '../../chain/networks.ts'
import { networkUnavailable } from '../errors.ts'
import type { PaymentRequest } from '../../x402/model.ts'
import type { Reason } from '../../x402/reasons.ts'
import { refuseDust, refuseGas, refuseMatch, refuseSimulation, refuseTerms, refuseTime } from '../rules.ts'
import type { FacilitatorDeps } from './deps.ts'

/** A payment whose terms are right. */
export interface Examined {
  payment: PaymentRequest
  chain: Chain
  network: Network
  authorization: SignedAuthorization
  digest: Hex
  /** The payer's own key made the signature. This decides nothing for a payer with code. */
  signed: boolean
}

export type Simulated = { refusal: Reason } | { refusal: null; payerHasCode: boolean; gas: bigint; balance: bigint }

/** Checks the terms without the chain. Throws when this network is not served at all. */
export function examine(deps: FacilitatorDeps, payment: PaymentRequest): Examined | Reason {
  const { network, authorization } = payment
  const refusal = refuseTerms(payment)
  const chain = network === null ? undefined : deps.chains.get(network.name)
  if (refusal !== null) return refusal
  if (network === null || authorization === null) return 'invalid_exact_evm_network_mismatch'
  if (chain === undefined) throw networkUnavailable(payment.required.network, 'RPC')
  if (deps.keys.length === 0 && !deps.signsElsewhere) throw networkUnavailable(payment.required.network, 'sponsor')
  const identity = identify(deps, payment)
  if (identity === null) return 'invalid_exact_evm_network_mismatch'
  const { digest } = identity
  // Recovery is the most expensive step, so it runs once for each request.
  identity.signed ??= deps.signatures.recover(digest, authorization.signature) === authorization.from
  return { payment, chain, network, authorization, digest, signed: identity.signed }
}

/** Identifies the authorization. Null when it is not one of USDC on a known network. */
export function identify({ signatures }: Pick<FacilitatorDeps, 'signatures'>, signed: Signed): Identity | null {
  const { network, authorization } = signed
  if (network === null || authorization === null) return null
  const known = IDENTITIES.get(authorization)
  if (known?.network === network.name) return known
  const identity = { network: network.name, digest: signatures.digest(network, authorization) }
  IDENTITIES.set(authorization, identity)
  return identity
}

export type Signed = Pick<PaymentRequest, 'network' | 'authorization'>

interface Identity {
  network: string
  digest: Hex
  /** Whether the payer's own key made the signature. Absent until the signer was recovered. */
  signed?: boolean
}

/** An authorization is decoded once for each request, although several steps read it. */
const IDENTITIES = new WeakMap<SignedAuthorization, Identity>()

/** What would happen if it were submitted now. `own`: a transfer of our own money, for which there is no minimum. */
export async function simulate(deps: FacilitatorDeps, examined: Examined, own = false): Promise<Simulated> {
  const { payment, chain, authorization, signed } = examined
  const mismatch =
    refuseMatch(payment) ??
    (own ? null : refuseDust(authorization, deps.settings.valueMin)) ??
    refuseTime(authorization, deps.clock.now())
  // A signature by the payer's key is judged without the chain. For any other, the payer's code must be known first,
  // because a wrong signature is reported before any other fault.
  if (signed && mismatch !== null) return { refusal: mismatch }
  const [simulation] = await chain.simulate([authorization])
  if (simulation === undefined) throw new Error('the simulation gave no answer')
  const refusal =
    (simulation.payerCode === 'none' && !signed ? 'invalid_exact_evm_signature' : mismatch) ??
    refuseSimulation(simulation, authorization.value, signed) ??
    refuseGas(simulation, deps.settings.gasMax)
  if (refusal !== null) return { refusal }
  const gas = simulation.outcome.succeeds ? simulation.outcome.gas : 0n
  return { refusal: null, payerHasCode: simulation.payerCode !== 'none', gas, balance: simulation.balance }
}
