import type { Hex } from '../../chain/model.ts'
import type { Payment } from '../model/payment.ts'

/** The header that pays, in the language that the seller asked in. The same payment always gives the same text. */
export function paymentHeader(payment: Payment & { signature: Hex }, payer: string): Record<string, string> {
  const { asked, amount, validBefore, nonce, signature } = payment
  const authorization = {
    from: payer,
    to: asked.payTo,
    value: String(amount),
    validAfter: '0',
    validBefore: String(validBefore),
    nonce,
  }
  if (asked.version === 1) {
    const { scheme, network } = asked
    return { 'x-payment': encoded({ x402Version: 1, scheme, network, payload: { signature, authorization } }) }
  }
  const payload = { authorization, signature }
  return {
    'payment-signature': encoded({
      x402Version: 2,
      payload,
      resource: asked.resource ?? undefined,
      accepted: asked.raw,
    }),
  }
}

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64')
}
