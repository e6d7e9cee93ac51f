import type { Hex } from '../chain/model.ts'
import { toHeader } from './answers.ts'
import type { Offer } from './model.ts'

interface Signed {
  asked: Offer
  amount: bigint
  validBefore: bigint
  nonce: Hex
  signature: Hex
}

/** The header that pays, in the language that the seller asked in. The same payment always gives the same text. */
export function paymentHeader(payment: Signed, payer: string): Record<string, string> {
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
    return { 'x-payment': toHeader({ x402Version: 1, scheme, network, payload: { signature, authorization } }) }
  }
  const payload = { authorization, signature }
  return {
    'payment-signature': toHeader({
      x402Version: 2,
      payload,
      resource: asked.resource ?? undefined,
      accepted: asked.raw,
    }),
  }
}
