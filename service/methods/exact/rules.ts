import { keyDeployedBy } from '../../kit/passkey-wallet.ts'
import type { Address, Deployment, Simulation } from '../../chain/model.ts'
import type { Reasons } from '../../facilitator/model.ts'
import { CALL_GAS, MARGIN_SECONDS } from '../../facilitator/rules.ts'
import type { PaymentRequest } from '../../x402/model.ts'
import type { Reason } from '../../x402/reasons.ts'
import { isTooLong } from '../../x402/schema.ts'

/**
 * Refuses terms that are wrong regardless of the chain and the clock. The checks run in the reference implementation's
 * order.
 */
export function refuseTerms(payment: PaymentRequest): Reason | null {
  const { offered, required, network, authorization, permit } = payment
  if (offered.scheme !== 'exact' || required.scheme !== 'exact') return 'invalid_exact_evm_scheme'
  if (authorization === null || permit !== null) return 'unsupported_payload_type'
  if (!required.domain.name || !required.domain.version) return 'invalid_exact_evm_missing_eip712_domain'
  if (network === null || offered.network !== required.network) return 'invalid_exact_evm_network_mismatch'
  if (required.asset !== network.usdc.address) return 'asset_not_deployed_contract'
  if (required.domain.name !== network.usdc.name) return 'invalid_exact_evm_token_name_mismatch'
  if (required.domain.version !== network.usdc.version) return 'invalid_exact_evm_token_version_mismatch'
  if (isTooLong(authorization)) return 'invalid_exact_evm_signature'
  return null
}

/**
 * A factory may do whatever it wants with the sponsor's gas, so only those that the operator lists are called. That of
 * passkey wallets runs any code that it is told to, so it is called for such a wallet alone.
 */
export function refuseFactory(
  deployment: Deployment | 'malformed' | null,
  { walletFactories, passkeyWallets }: { walletFactories: ReadonlySet<Address>; passkeyWallets: boolean },
): Reason | null {
  if (deployment === null) return null
  if (deployment === 'malformed') return 'eip6492_factory_not_allowed'
  const isPasskey = passkeyWallets && keyDeployedBy(deployment.factory, deployment.data) !== null
  return isPasskey || walletFactories.has(deployment.factory) ? null : 'eip6492_factory_not_allowed'
}

/**
 * Refuses an authorization that does not match the seller's terms exactly. The protocol's clients require exact
 * matches.
 */
export function refuseMatch(payment: PaymentRequest): Reason | null {
  const { required, authorization } = payment
  if (authorization === null) return 'unsupported_payload_type'
  if (authorization.to !== required.payTo) return 'invalid_exact_evm_recipient_mismatch'
  if (authorization.value !== required.amount) return payment.valueMismatch
  return null
}

/** A transfer of nothing or next to nothing would only spend the sponsor's gas. */
export function refuseDust({ value }: { value: bigint }, minimum: bigint): Reason | null {
  return value < minimum ? 'invalid_exact_evm_payload_authorization_value_too_low' : null
}

export function refuseTime(authorization: { validAfter: bigint; validBefore: bigint }, now: Date): Reason | null {
  const seconds = BigInt(Math.floor(now.getTime() / 1000))
  if (authorization.validBefore < seconds + MARGIN_SECONDS)
    return 'invalid_exact_evm_payload_authorization_valid_before'
  if (authorization.validAfter > seconds) return 'invalid_exact_evm_payload_authorization_valid_after'
  return null
}

export const REASONS: Reasons = {
  used: 'invalid_exact_evm_nonce_already_used',
  taken: 'invalid_exact_evm_nonce_already_used',
  expired: 'invalid_exact_evm_payload_authorization_valid_before',
  signature: 'invalid_exact_evm_signature',
  failed: 'invalid_exact_evm_transaction_failed',
  mendable: new Set<Reason>([
    'invalid_exact_evm_insufficient_balance',
    'invalid_exact_evm_transaction_simulation_failed',
    'invalid_exact_evm_transaction_failed',
  ]),
}

/**
 * Judges by the chain's state. `signed`: the payer's own key made the signature, which decides only for a payer without
 * code.
 */
export function refuseSimulation(simulation: Simulation, value: bigint, signed: boolean): Reason | null {
  if (simulation.payerCode === 'none' && !signed) return 'invalid_exact_evm_signature'
  if (simulation.outcome.succeeds) return null
  if (simulation.payerCode === 'undeployed' && simulation.outcome.reason === NOT_DEPLOYED) {
    return 'smart_wallet_deployment_failed'
  }
  if (simulation.used) return 'invalid_exact_evm_nonce_already_used'
  if (/invalid signature/i.test(simulation.outcome.reason ?? '')) return 'invalid_exact_evm_signature'
  if (simulation.balance < value) return 'invalid_exact_evm_insufficient_balance'
  return 'invalid_exact_evm_transaction_simulation_failed'
}

/** As `Lens.sol` says it. */
const NOT_DEPLOYED = 'no wallet was deployed'

/** A contract wallet decides how much gas its signature check uses, and the sponsor pays for it. */
export function refuseGas(gas: bigint, gasMax: bigint): Reason | null {
  return gas + CALL_GAS > gasMax ? 'invalid_exact_evm_transaction_simulation_failed' : null
}

/** `payerDecides`: code accepts the signature, so it may refuse it in the block, also code that is yet to be deployed. */
export function codeOf({ payerCode }: Pick<Simulation, 'payerCode'>): { payerHasCode: boolean; payerDecides: boolean } {
  return {
    payerHasCode: payerCode === 'contract' || payerCode === 'delegation',
    payerDecides: payerCode !== 'none',
  }
}

/** A wallet's first payment may use the gas of its deployment beside that of the transfer. */
export function gasMaxOf({ payerCode }: Pick<Simulation, 'payerCode'>, { gasMax, deployGasMax }: GasMax): bigint {
  return payerCode === 'undeployed' ? gasMax + deployGasMax : gasMax
}

interface GasMax {
  gasMax: bigint
  deployGasMax: bigint
}

/**
 * What an item uses: the call, and the calldata of a signature that is longer than a key's. A transaction with less gas
 * than its calldata costs is taken by no node, and holds up all that its sponsor signed after it.
 */
export function gasOf(callGas: bigint, { signature }: { signature: string }): bigint {
  const further = (signature.length - 2) / 2 - KEY_SIGNATURE_BYTES
  return callGas + BigInt(Math.max(0, further)) * CALLDATA_GAS
}

const KEY_SIGNATURE_BYTES = 65
/** For each byte that is not 0. */
const CALLDATA_GAS = 16n
