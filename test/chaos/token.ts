import { randomBytes } from 'node:crypto'

/** Chosen by a buyer and sent with the payment: whoever has it fetches an answer that got lost. */
export function newToken(): string {
  return `tok_${randomBytes(32).toString('base64url')}`
}
