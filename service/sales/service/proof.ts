import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { Headers } from '../../x402/model.ts'
import { alreadyBought, authorizationUsed, badToken, paymentSubmitted } from '../errors.ts'
import type { Sale } from '../model.ts'

/*
 * Decides whether the caller is the buyer. Every seller asks here before it returns an answer, an id, a redirect or a
 * token of a sale again. Once an authorization has been submitted to a chain, everybody can read it with its signature.
 * From then on it proves nothing, and the buyer needs the payment's token or a fresh signature.
 */

export const TOKEN = /^tok_[A-Za-z0-9_-]{43}$/

/** The sale that a request names, and its proof. Throws for a token that can be none. */
export function proofIn(header: Headers): { token: string | null; payment: string | null } {
  return { token: checkedToken(header('x-payment-token') ?? null), payment: header('x-payment-id') ?? null }
}

export function checkedToken(token: string | null): string | null {
  if (token !== null && !TOKEN.test(token)) throw badToken()
  return token
}

export function tokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** The hash of the token that a buyer chose for a payment. Null when none was sent. Check the token's form before. */
export function chosenTokenHash(token: string | null): Buffer | null {
  return token === null ? null : tokenHash(token)
}

function isTokenOf(hash: Buffer | null, token: string | null | undefined): boolean {
  return hash !== null && token != null && TOKEN.test(token) && timingSafeEqual(hash, tokenHash(token))
}

/** Every process can derive a payment's token from its id, so no token is stored. */
export interface PaymentTokens {
  of(payment: string): string
  /** Accepts the token made here, or the one whose hash was stored because the buyer chose it. */
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

/** What names a sale and proves its buyer. */
export interface BuyerProof {
  payment: string
  token: string
}

/**
 * The proof of a client that comes back for its own call. The service signed the call's operation for this client and
 * this request, in a state that is good once, in a task's name or in a session's, which only this client was given. A
 * sale takes its id from the operation, so whoever paid for it, its answer is this client's too. The id alone proves
 * nothing: links and the seller's deliveries contain it.
 */
export function proofOfOwnCall(tokens: Pick<PaymentTokens, 'of'>, sale: string): BuyerProof {
  return { payment: sale, token: tokens.of(sale) }
}

export interface ClaimedSale {
  /** The signature that claimed the authorization. */
  signature: string
  /** True from the moment when the authorization may have reached a chain. */
  submitted: boolean
}

export interface PresentedProof {
  /** The presented authorization's signature. Null when there is none. */
  signature: string | null
  /** The request had the payment's correct token. */
  token: boolean
}

/**
 * Throws unless the caller is the buyer. Without the token, only the signature that claimed the sale counts, and only
 * until a chain has seen it. The error is the same for every state of the sale.
 */
export function assertBuyer({ signature, submitted }: ClaimedSale, presented: PresentedProof): void {
  if (presented.token) return
  if (submitted) throw paymentSubmitted()
  if (presented.signature === null || !sameText(signature, presented.signature)) throw authorizationUsed()
}

/** A sale without a signature is its first buyer's, who chose a token or is known by the Idempotency-Key alone. */
export function assertFirst(
  tokens: Pick<PaymentTokens, 'matches'>,
  { id, tokenHash: chosen }: Pick<Sale, 'id' | 'tokenHash'>,
  token: string | null,
): void {
  if (chosen !== null && !tokens.matches(id, chosen, token)) throw alreadyBought()
}

/** Whether the caller has the token of this sale, which was made for its buyer or chosen by them. */
export function isOwn(
  tokens: Pick<PaymentTokens, 'matches'>,
  { id, tokenHash: chosen }: Pick<Sale, 'id' | 'tokenHash'>,
  token: string | null,
): boolean {
  return tokens.matches(id, chosen, token)
}

function sameText(one: string, other: string): boolean {
  return timingSafeEqual(tokenHash(one.toLowerCase()), tokenHash(other.toLowerCase()))
}
