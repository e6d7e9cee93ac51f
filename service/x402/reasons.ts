import { PAYMENT_REASONS } from '../kit/error-codes/payment-reasons.ts'

export type Reason = Exclude<keyof typeof PAYMENT_REASONS, 'settlement_pending'>

/** For people. Programs use the reason. Another facilitator may have reasons of its own. */
export function sentenceOf(reason: string): string {
  return isReason(reason) ? PAYMENT_REASONS[reason] : `The payment was refused (${reason}).`
}

function isReason(reason: string): reason is keyof typeof PAYMENT_REASONS {
  return Object.hasOwn(PAYMENT_REASONS, reason)
}

export const EXPIRED = 'invalid_exact_evm_payload_authorization_valid_before' satisfies Reason

export const ALREADY_USED = 'invalid_exact_evm_nonce_already_used' satisfies Reason

/** The facilitator never answered whether it settled the payment, and no chain is read that would show it. */
export const SETTLEMENT_UNKNOWN = 'settlement_unknown' satisfies Reason

export const OTHER_PRICE = 'invalid_exact_evm_payload_authorization_value_mismatch' satisfies Reason

/** What was signed has paid for something, or was taken back. */
export function isUsed(reason: string | null): boolean {
  return reason !== null && USED.has(reason)
}

export function isExpired(reason: string | null): boolean {
  return reason !== null && EXPIRIES.has(reason)
}

const USED: ReadonlySet<string> = new Set<Reason>([ALREADY_USED, 'permit2_invalid_nonce'])
const EXPIRIES: ReadonlySet<string> = new Set<Reason>([EXPIRED, 'permit2_deadline_expired'])
