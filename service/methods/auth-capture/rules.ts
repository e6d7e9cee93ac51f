import type { CallOutcome, EscrowState, EscrowView, Receipt } from '../../chain/model.ts'
import type { Operation, Reasons } from '../../facilitator/model.ts'
import { MARGIN_SECONDS } from '../../facilitator/rules.ts'
import type { EscrowPayment } from '../../x402/escrow.ts'
import type { EscrowPayload } from '../../x402/model.ts'
import type { Reason } from '../../x402/reasons.ts'

/** A seller's message has no end of its own; the capture deadline ends what it asks for. */
export function refuseEscrowTime({ payload, terms }: EscrowPayment, validBefore: bigint, now: Date): Reason | null {
  if (payload.type === 'void') return null
  const soon = BigInt(Math.floor(now.getTime() / 1000)) + MARGIN_SECONDS
  if (terms.captureDeadline <= soon) return 'invalid_auth_capture_evm_capture_deadline_expired'
  if (payload.type !== 'authorize') return null
  // The whole time that a payer may sign for must fit.
  const longest = soon - MARGIN_SECONDS + BigInt(Math.ceil(terms.maxTimeoutSeconds))
  if (longest > terms.captureDeadline) return 'invalid_auth_capture_evm_deadline_ordering'
  return validBefore <= soon ? 'invalid_auth_capture_evm_authorization_expired' : null
}

/** Judges an authorization for the escrow by the chain's state. */
export function refuseCollection(view: EscrowView, value: bigint, outcome: CallOutcome): Reason | null {
  // A call to an address without code succeeds, and does nothing.
  if (view.state === null) return 'invalid_auth_capture_evm_simulation_failed'
  if (view.used || view.state.collected) return AUTHORIZE.used
  if (!outcome.succeeds && /invalid signature/i.test(outcome.reason ?? '')) return 'invalid_auth_capture_evm_signature'
  if (view.balance < value) return 'invalid_auth_capture_evm_insufficient_balance'
  return outcome.succeeds ? null : errorOf(outcome.reason)
}

/** Judges a seller's message by what the escrow holds. A message counts for exactly one state, so it counts once. */
export function refuseMessage(payload: EscrowPayload, state: EscrowState | null): Reason | null {
  if (state === null) return 'invalid_auth_capture_evm_simulation_failed'
  if (payload.type === 'void') return state.capturable > 0n ? null : 'invalid_auth_capture_evm_zero_authorization'
  if (payload.type !== 'capture') return 'invalid_auth_capture_evm_payload_format'
  const { capturable, refundable } = payload.expected
  return state.capturable === capturable && state.refundable === refundable
    ? null
    : 'invalid_auth_capture_evm_unexpected_payment_state'
}

/** The escrow's error, as the protocol names it. */
export function errorOf(error: string | null): Reason {
  return (error === null ? undefined : ERRORS[error]) ?? 'invalid_auth_capture_evm_simulation_failed'
}

const ERRORS: Readonly<Record<string, Reason>> = {
  AfterPreApprovalExpiry: 'invalid_auth_capture_evm_authorization_expired',
  InvalidExpiries: 'invalid_auth_capture_evm_deadline_ordering',
  PaymentAlreadyCollected: 'invalid_auth_capture_evm_payment_already_collected',
  AfterAuthorizationExpiry: 'invalid_auth_capture_evm_capture_deadline_expired',
  InsufficientAuthorization: 'invalid_auth_capture_evm_insufficient_authorization',
  ZeroAuthorization: 'invalid_auth_capture_evm_zero_authorization',
  InvalidSender: 'invalid_auth_capture_evm_operator_mismatch',
}

/** Of an authorization. */
export const AUTHORIZE: Reasons = {
  used: 'invalid_auth_capture_evm_payment_already_collected',
  taken: 'invalid_auth_capture_evm_payment_already_collected',
  expired: 'invalid_auth_capture_evm_authorization_expired',
  signature: 'invalid_auth_capture_evm_signature',
  failed: 'invalid_auth_capture_evm_transaction_reverted',
  mendable: new Set<Reason>(['invalid_auth_capture_evm_transaction_reverted']),
}

/** Of a seller's message: a capture or a void. */
export const MESSAGE: Reasons = {
  ...AUTHORIZE,
  taken: 'invalid_auth_capture_evm_unexpected_payment_state',
  expired: 'invalid_auth_capture_evm_capture_deadline_expired',
  signature: 'invalid_auth_capture_evm_authorizer_signature',
}

/** Whether this transaction did what the seller's message to the escrow asks for. */
export function isCarriedOut({ type, paymentHash }: Operation, value: bigint, { status, escrow }: Receipt): boolean {
  const event = escrow.find((one) => one.type === type && one.paymentHash === paymentHash)
  return status === 'success' && event !== undefined && (type === 'void' || event.amount === value)
}
