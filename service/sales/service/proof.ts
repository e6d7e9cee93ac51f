import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { authorizationUsed, paymentSubmitted } from '../errors.ts'

/*
 * Who is the buyer. Every seller asks here before it gives an answer, an id, a redirect or a token of a sale again.
 * Once an authorization has been submitted to a chain, everybody can read it with its signature: from then on it proves
 * nothing, and the buyer needs the payment's token or a fresh signature.
 */

export const TOKEN = /^tok_[A-Za-z0-9_-]{43}$/

export function tokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** The hash of the token that a buyer chose for a payment; null when none was sent. Check its form before. */
export function chosenTokenHash(token: string | null): Buffer | null {
  return token === null ? null : tokenHash(token)
}

function isTokenOf(hash: Buffer | null, token: string | null | undefined): boolean {
  return hash !== null && token != null && TOKEN.test(token) && timingSafeEqual(hash, tokenHash(token))
}

/** Tokens that every process can make again from a payment's id: none of them is stored. */
export interface PaymentTokens {
  of(payment: string): string
  /** The token made here, or the one whose hash was stored because the buyer chose it. */
  matches(payment: string, chosen: Buffer | null, token: string | null | undefined): boolean
}

export function createPaymentTokens(key: Buffer): PaymentTokens {
  const of = (payment: string): string =>
    `tok_${createHmac('sha256', key).update(`payment ${payment}`).digest('base64url')}`
  return {
    of,
    matches: (payment, chosen, token) => isTokenOf(tokenHash(of(payment)), token) || isTokenOf(chosen, token),
  }
}

export interface ClaimedSale {
  /** The signature that claimed the authorization. */
  signature: string
  /** True from the moment that the authorization may have reached a chain. */
  submitted: boolean
}

export interface PresentedProof {
  /** The presented authorization's signature; null when none came. */
  signature: string | null
  /** The payment's token came along and is right. */
  token: boolean
}

/**
 * Throws unless the caller is the buyer. Without the token only the very signature that claimed the sale counts, and
 * only as long as no chain has seen it. The refusal is the same for every state of the sale.
 */
export function assertBuyer({ signature, submitted }: ClaimedSale, presented: PresentedProof): void {
  if (presented.token) return
  if (submitted) throw paymentSubmitted()
  if (presented.signature === null || !sameText(signature, presented.signature)) throw authorizationUsed()
}

function sameText(one: string, other: string): boolean {
  return timingSafeEqual(tokenHash(one.toLowerCase()), tokenHash(other.toLowerCase()))
}
