import { randomBytes } from 'node:crypto'

/** Chosen by a buyer and sent with the payment: the holder of the token can fetch a response that was lost. */
export function newToken(): string {
  return `tok_${randomBytes(32).toString('base64url')}`
}
