import { networkUnavailable } from '../errors.ts'
import type { PaymentRequest } from '../../x402/model.ts'
import type { Reason } from '../../x402/reasons.ts'
import {
  gasOf,
  codeOf,
  gasMaxOf,
  refuseDust,
  refuseFactory,
  refuseGas,
  refuseMatch,
  refuseSimulation,
  refuseTerms,
  refuseTime,
} from '../rules.ts'
import type { FacilitatorDeps } from './deps.ts'
import { examineEscrow, simulateEscrow } from './escrow.ts'
import { identify, isSignedByPayer, type Examined, type Simulated } from './examined.ts'

/** Checks the terms without the chain. Throws when this network is not served at all. */
export function examine(deps: FacilitatorDeps, payment: PaymentRequest): Examined | Reason {
  const { network, authorization } = payment
  if (payment.escrow !== null) return examineEscrow(deps, payment)
  const deployment = authorization === null ? null : deps.signatures.deployment(authorization.signature)
  const refusal = refuseTerms(payment) ?? refuseFactory(deployment, deps.settings)
  const chain = network === null ? undefined : deps.chains.get(network.name)
  if (refusal !== null) return refusal
  if (network === null || authorization === null) return 'invalid_exact_evm_network_mismatch'
  if (chain === undefined) throw networkUnavailable(payment.required.network, 'RPC')
  if (deps.keys.length === 0 && !deps.signsElsewhere) throw networkUnavailable(payment.required.network, 'sponsor')
  const identity = identify(deps, payment)
  if (identity === null) return 'invalid_exact_evm_network_mismatch'
  const { digest } = identity
  const signed = isSignedByPayer(deps, identity, authorization)
  return { payment, chain, network, authorization, digest, signed, escrow: null }
}

/** What would happen if it were submitted now. `own`: a transfer of our own money, for which there is no minimum. */
export async function simulate(deps: FacilitatorDeps, examined: Examined, own = false): Promise<Simulated> {
  const { payment, chain, authorization, signed, escrow } = examined
  if (escrow !== null) return simulateEscrow(deps, { ...examined, escrow })
  const mismatch =
    refuseMatch(payment) ??
    (own ? null : refuseDust(authorization, deps.settings.valueMin)) ??
    refuseTime(authorization, deps.clock.now())
  // A signature by the payer's key is judged without the chain. For any other, the payer's code must be known first,
  // because a wrong signature is reported before any other fault.
  if (signed && mismatch !== null) return { refusal: mismatch }
  const [simulation] = await chain.simulate([authorization])
  if (simulation === undefined) throw new Error('the simulation gave no answer')
  const gas = gasOf(simulation.outcome.succeeds ? simulation.outcome.gas : 0n, authorization)
  const refusal =
    (simulation.payerCode === 'none' && !signed ? 'invalid_exact_evm_signature' : mismatch) ??
    refuseSimulation(simulation, authorization.value, signed) ??
    refuseGas(gas, gasMaxOf(simulation, deps.settings))
  if (refusal !== null) return { refusal }
  return { refusal: null, ...codeOf(simulation), gas, balance: simulation.balance }
}
