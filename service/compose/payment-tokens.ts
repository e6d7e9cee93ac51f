import { hkdfSync } from 'node:crypto'
import { createPaymentTokens, type PaymentTokens } from '../sales/service/proof.ts'

/** A key of its own from the secret that every process has: a payment's token opens nothing else. */
export function openPaymentTokens(secret: string): PaymentTokens {
  return createPaymentTokens(Buffer.from(hkdfSync('sha256', secret, '', 'coinslot payment tokens', 32)))
}
