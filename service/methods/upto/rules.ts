import type { CallOutcome, Permit, UptoView } from '../../chain/model.ts'
import { UPTO } from '../../chain/networks.ts'
import type { Reasons } from '../../facilitator/model.ts'
import { MARGIN_SECONDS } from '../../facilitator/rules.ts'
import { largest, least, usdc, type Usdc } from '../../kit/money.ts'
import type { PaymentRequest, SponsoredPermit } from '../../x402/model.ts'
import type { Reason } from '../../x402/reasons.ts'
import { isTooLong } from '../../x402/schema.ts'

export const REASONS: Reasons = {
  used: 'permit2_invalid_nonce',
  taken: 'permit2_invalid_nonce',
  expired: 'permit2_deadline_expired',
  signature: 'invalid_permit2_signature',
  failed: 'invalid_upto_evm_transaction_failed',
  mendable: new Set<Reason>(['invalid_upto_evm_transaction_failed']),
}

/** Refuses terms that are wrong regardless of the chain and the clock, in the order of the reference implementation. */
export function refuseTerms(
  { offered, required, network, permit, version }: PaymentRequest,
  operators: readonly string[],
): Reason | null {
  if (offered.scheme !== 'upto' || required.scheme !== 'upto' || version !== 2) return 'invalid_upto_evm_scheme'
  if (network === null || offered.network !== required.network) return 'invalid_upto_evm_network_mismatch'
  if (permit === null) return 'unsupported_payload_type'
  if (permit.spender !== UPTO.proxy) return 'invalid_permit2_spender'
  if (permit.to !== required.payTo) return 'invalid_permit2_recipient_mismatch'
  if (!operators.includes(permit.facilitator)) return 'upto_facilitator_mismatch'
  if (permit.token !== required.asset) return 'permit2_token_mismatch'
  if (required.asset !== network.usdc.address) return 'asset_not_deployed_contract'
  return isTooLong(permit) ? 'invalid_permit2_signature' : null
}

/** What is verified is the most that can be taken. What is settled may be less. */
export function refuseAmount({ amount }: Permit, required: bigint, step: 'verify' | 'settle'): Reason | null {
  if (step === 'verify') return amount === required ? null : 'permit2_amount_mismatch'
  return required <= amount ? null : 'invalid_upto_evm_payload_settlement_exceeds_amount'
}

export function refuseTime(
  { deadline, validAfter }: Pick<Permit, 'deadline' | 'validAfter'>,
  now: Date,
): Reason | null {
  const seconds = BigInt(Math.floor(now.getTime() / 1000))
  if (deadline < seconds + MARGIN_SECONDS) return 'permit2_deadline_expired'
  return validAfter > seconds ? 'permit2_not_yet_valid' : null
}

/** What lets Permit2 move the token must be the payer's own, for the same amount. */
export function refuseTokenPermit(
  { from, asset, spender, value, deadline }: SponsoredPermit,
  permit: Permit,
  now: Date,
): Reason | null {
  if (from !== permit.from) return 'eip2612_from_mismatch'
  if (asset !== permit.token) return 'eip2612_asset_mismatch'
  if (spender !== UPTO.permit2) return 'eip2612_spender_not_permit2'
  if (value !== permit.amount) return 'permit2_2612_amount_mismatch'
  const seconds = BigInt(Math.floor(now.getTime() / 1000))
  return deadline < seconds + MARGIN_SECONDS ? 'eip2612_deadline_expired' : null
}

/** Judges by the chain's state. `most`: what its payer must have, and have left to Permit2 where no permit does that now. */
export function refuseView(
  view: UptoView,
  { most, sponsored, outcome }: { most: bigint; sponsored: boolean; outcome: CallOutcome },
): Reason | null {
  if (!view.deployed) return 'permit2_proxy_not_deployed'
  if (view.used) return REASONS.used
  if (!outcome.succeeds && SIGNATURE.has(outcome.reason ?? '')) return REASONS.signature
  if (view.balance < most) return 'permit2_insufficient_balance'
  // A permission for Permit2 that is not the payer's shows only in what the call would do.
  if (view.allowance < most && !(sponsored && outcome.succeeds)) return 'permit2_allowance_required'
  return outcome.succeeds ? null : (ERRORS[outcome.reason ?? ''] ?? 'permit2_simulation_failed')
}

const SIGNATURE: ReadonlySet<string> = new Set([
  'InvalidSignature',
  'InvalidSignatureLength',
  'InvalidSigner',
  'InvalidContractSignature',
])

/** The contracts' errors, as the protocol names them. */
const ERRORS: Readonly<Record<string, Reason>> = {
  SignatureExpired: 'permit2_deadline_expired',
  InvalidNonce: 'permit2_invalid_nonce',
  PaymentTooEarly: 'permit2_not_yet_valid',
  AmountExceedsPermitted: 'invalid_upto_evm_payload_settlement_exceeds_amount',
  UnauthorizedFacilitator: 'upto_facilitator_mismatch',
}

/** What is taken of the most: what was used, or the smallest amount that can be settled. */
export function takenOf(used: Usdc, { most, least: smallest }: { most: Usdc; least: bigint }): Usdc {
  return least(most, largest(used, usdc(smallest)))
}
