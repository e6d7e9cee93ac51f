/** The kinds of problem that the Machine Payments Protocol names, each with its title. */
const TITLES = {
  'payment-required': 'Payment required',
  'malformed-credential': 'The payment credential cannot be read',
  'invalid-challenge': 'The credential answers no challenge of this resource',
  'payment-expired': 'The challenge or the authorization has expired',
  'payment-insufficient': 'The payment is too small',
  'verification-failed': 'The payment was refused',
  'method-unsupported': 'The payment method is not supported',
} as const

export type ProblemType = keyof typeof TITLES

/** The fields of RFC 9457 in the body of a 402. */
export function problem(type: ProblemType, detail: string, challengeId: string | null) {
  return {
    type: `https://paymentauth.org/problems/${type}`,
    title: TITLES[type],
    status: 402,
    detail,
    ...(challengeId === null ? {} : { challengeId }),
  }
}

/** The kind of problem for a reason of x402, or a code of ours. */
export function problemOf(reason: string | null): ProblemType {
  if (reason === null) return 'payment-required'
  return PROBLEMS[reason] ?? 'verification-failed'
}

const PROBLEMS: Readonly<Partial<Record<string, ProblemType>>> = {
  invalid_payment: 'malformed-credential',
  invalid_challenge: 'invalid-challenge',
  payment_expired: 'payment-expired',
  invalid_exact_evm_payload_authorization_valid_before: 'payment-expired',
  insufficient_balance: 'payment-insufficient',
  invalid_exact_evm_insufficient_balance: 'payment-insufficient',
  unsupported_payload_type: 'method-unsupported',
}

export function paymentReceipt({ reference, at }: { reference: string; at: Date }) {
  return { method: 'evm', reference, status: 'success', timestamp: at.toISOString() }
}

/** The value of `Payment-Receipt`. */
export function toPaymentReceipt(settled: { reference: string; at: Date }): string {
  return Buffer.from(JSON.stringify(paymentReceipt(settled))).toString('base64url')
}
