import type { Chain, SignedAuthorization } from '../../chain/model.ts'
import { networkUnavailable } from '../../facilitator/errors.ts'
import type { Again, Examined, Scheme, Simulated } from '../../facilitator/ports.ts'
import type { SchemeDeps } from '../../facilitator/service/deps.ts'
import { isMoved } from '../../facilitator/rules.ts'
import { authorizationUses, identify, isSignedByPayer } from '../../facilitator/service/identity.ts'
import type { Settlement } from '../../facilitator/model.ts'
import type { PaymentRequest } from '../../x402/model.ts'
import type { Reason } from '../../x402/reasons.ts'
import {
  codeOf,
  gasMaxOf,
  gasOf,
  REASONS,
  refuseDust,
  refuseFactory,
  refuseGas,
  refuseMatch,
  refuseSimulation,
  refuseTerms,
  refuseTime,
} from './rules.ts'

/** The scheme `exact`: the payer's authorization moves the price to the seller (EIP-3009). MPP's charges are the same. */
export function exactScheme(deps: SchemeDeps): Scheme {
  const scheme: Scheme = {
    examine: (payment) => examine(deps, scheme, payment),
    reasonsOf: () => REASONS,
    simulateAgain: (chain, settlement) => simulateAgain(deps, chain, settlement),
    usesOf: (chain, { authorization }) => authorizationUses(chain, authorization),
    callOf: (chain, { authorization, payerHasCode }) => chain.encodeTransfer(authorization, payerHasCode),
    isDone: isMoved,
    isOpen: true,
    isListed: true,
    movedBy: () => null,
    kind: () => ({ scheme: 'exact', versions: [1, 2] }),
  }
  return scheme
}

function examine(deps: SchemeDeps, scheme: Scheme, payment: PaymentRequest): Examined | Reason {
  const { network, authorization } = payment
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
  const mismatch = refuseMatch(payment)
  return {
    scheme,
    reasons: REASONS,
    payment,
    chain,
    network,
    authorization,
    digest,
    signed,
    mismatch,
    operation: null,
    isNothing: false,
    rest: null,
    simulate: (own) => simulate(deps, { chain, authorization, signed, mismatch }, own),
  }
}

async function simulate(
  deps: SchemeDeps,
  { chain, authorization, signed, mismatch: terms }: Pick<Examined, 'chain' | 'authorization' | 'signed' | 'mismatch'>,
  own: boolean,
): Promise<Simulated> {
  const mismatch =
    terms ??
    (own ? null : refuseDust(authorization, deps.settings.valueMin)) ??
    refuseTime(authorization, deps.clock.now())
  // A signature by the payer's key is judged without the chain. For any other, the payer's code must be known first,
  // because a wrong signature is reported before any other fault.
  if (signed && mismatch !== null) return { refusal: mismatch }
  const simulation = await simulated(chain, authorization)
  const gas = gasOf(simulation.outcome.succeeds ? simulation.outcome.gas : 0n, authorization)
  const refusal =
    (simulation.payerCode === 'none' && !signed ? 'invalid_exact_evm_signature' : mismatch) ??
    refuseSimulation(simulation, authorization.value, signed) ??
    refuseGas(gas, gasMaxOf(simulation, deps.settings))
  if (refusal !== null) return { refusal }
  return { refusal: null, ...codeOf(simulation), gas, balance: simulation.balance }
}

async function simulateAgain(
  { signatures }: SchemeDeps,
  chain: Chain,
  { authorization, digest }: Settlement,
): Promise<Again> {
  const signed = signatures.recover(digest, authorization.signature) === authorization.from
  const simulation = await simulated(chain, authorization)
  return { refusal: refuseSimulation(simulation, authorization.value, signed), ...codeOf(simulation) }
}

async function simulated(chain: Chain, authorization: SignedAuthorization) {
  const [simulation] = await chain.simulate([authorization])
  if (simulation === undefined) throw new Error('the simulation gave no answer')
  return simulation
}
