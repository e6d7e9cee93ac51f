import type { Chain, Hex, SignedAuthorization } from '../../chain/model.ts'
import type { Network } from '../../chain/networks.ts'
import { networkUnavailable } from '../errors.ts'
import type { Payment, Reason } from '../model.ts'
import { refuseDust, refuseGas, refuseMatch, refuseSimulation, refuseTerms, refuseTime } from '../rules.ts'
import type { FacilitatorParts } from './parts.ts'

/** A payment of which nothing is wrong with the terms. */
export interface Examined {
  payment: Payment
  chain: Chain
  network: Network
  authorization: SignedAuthorization
  digest: Hex
  /** The payer's own key made the signature. Where a code speaks for the payer, that decides nothing. */
  signed: boolean
}

export type Simulated = { refusal: Reason } | { refusal: null; payerHasCode: boolean; gas: bigint }

/** Asks no chain. Throws when nothing can be said on this network at all. */
export function examine(parts: FacilitatorParts, payment: Payment): Examined | Reason {
  const { network, authorization } = payment
  const refusal = refuseTerms(payment)
  const chain = network === null ? undefined : parts.chains.get(network.name)
  if (refusal !== null) return refusal
  if (network === null || authorization === null) return 'invalid_exact_evm_network_mismatch'
  if (chain === undefined) throw networkUnavailable(payment.asked.network, 'RPC')
  if (parts.keys.length === 0 && !parts.signsElsewhere) throw networkUnavailable(payment.asked.network, 'sponsor')
  const digest = parts.signatures.digest(network, authorization)
  const signed = parts.signatures.recover(digest, authorization.signature) === authorization.from
  return { payment, chain, network, authorization, digest, signed }
}

/** What would happen if it were submitted now. `own`: the house moves its own money, however little. */
export async function simulate(parts: FacilitatorParts, examined: Examined, own = false): Promise<Simulated> {
  const { payment, chain, authorization, signed } = examined
  const mismatch =
    refuseMatch(payment) ??
    (own ? null : refuseDust(authorization, parts.settings.valueMin)) ??
    refuseTime(authorization, parts.clock.now())
  // A key's signature is judged without the chain; any other needs to know whether the payer has code, since a
  // wrong signature is named before whatever else is wrong.
  if (signed && mismatch !== null) return { refusal: mismatch }
  const [simulation] = await chain.simulate([authorization])
  if (simulation === undefined) throw new Error('the simulation gave no answer')
  const refusal =
    (simulation.payerCode === 'none' && !signed ? 'invalid_exact_evm_signature' : mismatch) ??
    refuseSimulation(simulation, authorization.value, signed) ??
    refuseGas(simulation, parts.settings.gasMax)
  if (refusal !== null) return { refusal }
  const gas = simulation.outcome.succeeds ? simulation.outcome.gas : 0n
  return { refusal: null, payerHasCode: simulation.payerCode !== 'none', gas }
}
