import type { Address } from '../chain/model.ts'
import { DomainError, invalid, type Kind } from '../kit/errors.ts'
import { tooShort } from '../x402/requirements.ts'
import { EXPIRED, isExpired, isUsed, sentenceOf, SETTLEMENT_UNKNOWN } from '../x402/reasons.ts'
import type { Headers } from '../x402/model.ts'
import { speaksMpp } from '../x402/payload.ts'
import type { Sale } from './model.ts'

/** The id of a sale as its buyer sees it. For a call of a tool it is `callId`, as for all calls. */
function idOf({ product, id }: Pick<Sale, 'id' | 'product'>): Readonly<Record<string, string>> {
  return { [idField({ product })]: id }
}

function idField({ product }: Pick<Sale, 'product'>): string {
  return product === 'tool' ? 'callId' : 'paymentId'
}

/** One authorization buys one thing. */
export function authorizationUsed(): DomainError {
  return new DomainError(
    'conflict',
    'authorization_used',
    'This authorization was already used for another purchase. Sign a new one.',
  )
}

/** One operation is bought once, by whoever was first. Thrown before any money of the second one moves. */
export function alreadyBought(): DomainError {
  return new DomainError(
    'conflict',
    'already_bought',
    'This was already bought with another payment. Nothing was charged. If you paid, open your receipt; otherwise start a new purchase.',
  )
}

/** The same payment was sent twice at once. A repetition gets its result. */
export function paymentBusy(): DomainError {
  const sentence = 'This payment is being processed. Send the same request again in a moment.'
  return new DomainError('unavailable', 'payment_busy', sentence, { retryAfterSeconds: 1 })
}

/** Only for requests whose payer was proven. It names the first sale, which is no proof of anything. */
export function identifierUsed(first: Pick<Sale, 'id' | 'product'>): DomainError {
  return new DomainError(
    'conflict',
    'payment_identifier_used',
    'This payment identifier was first used with another payment or request, so this one was not accepted. ' +
      'Repeat that purchase unchanged, or choose a new identifier for a new one.',
    idOf(first),
  )
}

/** The chain shows a submitted authorization to everybody, so the answer is the same for every state of its sale. */
export function paymentSubmitted(): DomainError {
  return new DomainError(
    'conflict',
    'payment_submitted',
    'This authorization was already submitted, so it no longer proves the payer. Also send the payment token as ' +
      'X-Payment-Token, or its nonce as X-Payment-ID with a fresh signature of the payer. You are not charged twice.',
  )
}

/** The payer's other open purchases need the balance that this one would be paid from. */
export function promisedTwice(): DomainError {
  const sentence =
    "The payer's balance is too low for this purchase and the ones that are still open. Wait until those have ended, or add funds. Nothing was charged."
  return new PaymentRefused(sentence, { reason: 'invalid_exact_evm_insufficient_balance' })
}

/** This wallet could not be charged for finished work before. */
export function payerDefaulted(until: Date): DomainError {
  const sentence =
    'A finished order of this wallet could not be charged, so it cannot buy here until it is trusted again. Pay with another wallet. Nothing was charged.'
  return new DomainError('forbidden', 'payer_defaulted', sentence, { until: until.toISOString() })
}

export function tooManyOpen(most: number): DomainError {
  const sentence = `This wallet has ${String(most)} purchases that are still open. Wait until one of them has ended. Nothing was charged.`
  return new DomainError('limited', 'purchases_open', sentence, { limit: most, retryAfterSeconds: 10 })
}

type Refusal = Readonly<Record<string, unknown>> & { reason: string }

/** An authorization is not accepted. The answer states the terms again. */
export class PaymentRefused extends DomainError {
  /** The protocol's name of the reason. */
  readonly reason: string
  /** The payer. Null when only the presented authorization names one. */
  readonly payer: Address | null

  constructor(sentence: string, details: Refusal, payer: Address | null = null) {
    super('unaffordable', 'payment_refused', sentence, details)
    this.reason = details.reason
    this.payer = payer
  }
}

/**
 * The refusal that a new 402 answers; null for other errors. A client of MPP expects a new challenge also where its
 * credential cannot be read, has expired or was used for another purchase; but whoever has paid is not asked to pay again.
 */
export function refusalIn(error: unknown, header: Headers): { sentence: string; reason: string } | null {
  if (error instanceof PaymentRefused) return { sentence: error.message, reason: error.reason }
  if (!(error instanceof DomainError) || !CHALLENGED_AGAIN.has(error.code) || !speaksMpp(header)) return null
  if (error.fields['paid'] === true) return null
  const sentence = error.code === 'invalid_payment' ? faultsIn(error) : error.message
  return { sentence, reason: error.code }
}

const CHALLENGED_AGAIN: ReadonlySet<string> = new Set(['payment_expired', 'authorization_used', 'invalid_payment'])

/** An earlier request may have been charged: by a payment that this server does not know any more. */
function faultsIn({ message, fields }: DomainError): string {
  const details = Object.entries(fields['details'] ?? {}).map(([field, why]) => `${field} ${String(why)}`)
  return details.length === 0 ? message : `${details.join('; ')}. You were not charged for this request.`
}

/** The fault of an authorization, as the protocol's reason and as a sentence for people. */
export function paymentRefused(
  known: string | null,
  sale: Pick<Sale, 'id' | 'product' | 'payer'> | null = null,
): DomainError {
  const reason = known ?? 'invalid_exact_evm_transaction_failed'
  if (isUsed(reason)) return authorizationUsed()
  if (reason === SETTLEMENT_UNKNOWN && sale !== null) return settlementUnknown(sale)
  // Where no sale is known, one of an expired authorization may have been forgotten.
  const isForgotten = sale === null && isExpired(reason)
  const sentence = `${sentenceOf(reason)} ${isForgotten ? 'You were not charged for this request.' : 'Nothing was charged.'}`
  const named = sale === null ? {} : idOf(sale)
  if (!isExpired(reason)) return new PaymentRefused(sentence, { reason, ...named }, sale?.payer ?? null)
  return new DomainError('expired', 'payment_expired', sentence, { reason, ...named })
}

function settlementUnknown(sale: Pick<Sale, 'id' | 'product'>): DomainError {
  const sentence = `${sentenceOf(SETTLEMENT_UNKNOWN)} Look in your wallet whether it was charged. If so, ask ${refunderOf(sale)} If not, sign a new authorization.`
  return new DomainError('conflict', SETTLEMENT_UNKNOWN, sentence, idOf(sale))
}

/** All of it went back, so nothing is owed for it any more. */
export function paymentRefunded(sale: Pick<Sale, 'id' | 'product'>): DomainError {
  const sentence = 'This payment was refunded, so it has no answer. Sign a new authorization to buy again.'
  return new DomainError('conflict', 'payment_refunded', sentence, idOf(sale))
}

/** When the delivery comes first it takes time. An authorization that expires meanwhile would leave it unpaid. */
export function lapsesTooSoon(workMs: number): DomainError {
  return new PaymentRefused(`${tooShort(workMs)} Nothing was charged.`, { reason: EXPIRED })
}

/**
 * The errors of a product that hands over its answer at its own address. Never a new 402, because the money may be on
 * its way.
 */
export function deliveryErrors({ statusUrl, tokens }: DeliveryErrorDeps): DeliveryErrors & Undeliverable {
  const replayFields = (sale: Sale) => ({ ...idOf(sale), statusUrl: statusUrl(sale), paymentToken: tokens.of(sale.id) })

  const over = (sale: Sale) => ({ ...idOf(sale), paid: true, deliverable: false })

  return {
    busy: () =>
      new DomainError('conflict', 'authorization_busy', 'This payment is being processed. Try again in a moment.'),
    given: (sale) => new DomainError('conflict', 'answer_given', alreadySent(sale), over(sale)),
    expired(sale) {
      const sentence = `The payment arrived, but its answer is no longer stored. Ask ${refunderOf(sale)}`
      return new DomainError('conflict', 'answer_given', sentence, over(sale))
    },
    pending: (sale) =>
      new DomainError('unavailable', 'settlement_pending', `The payment is pending. ${repeatRequest(sale)}`, {
        ...replayFields(sale),
        retryAfterSeconds: 3,
      }),
    /** The money has arrived and the work failed. The buyer can have it repeated with the same payment. */
    failed(error, sale) {
      if (!(error instanceof DomainError)) return error
      const sentence = withoutCharge(error)
      return new DomainError(
        error.kind === 'unaffordable' ? 'failed' : error.kind,
        error.code,
        `${sentence} The payment arrived, but the answer has not been delivered yet. ${repeatRequest(sale)}`,
        { ...error.fields, ...replayFields(sale), paid: true },
      ).causedBy(error.cause)
    },
    undeliverable(refusal, sale) {
      const sentence = `${withoutCharge(refusal)} The payment arrived, but this can no longer be delivered. Ask ${refunderOf(sale)}`
      const fields = { ...refusal.fields, ...replayFields(sale), paid: true, deliverable: false }
      return new DomainError(refusal.kind, refusal.code, sentence, fields)
    },
  }
}

/** Its seller or owner must change what is sold before it can be delivered. Other refusals pass by themselves. */
export function isLasting({ kind }: DomainError): boolean {
  return LASTING.has(kind)
}

const LASTING: ReadonlySet<Kind> = new Set(['invalid', 'missing', 'conflict', 'expired'])

/** Whether it arrived whole is known to its buyer alone: a stream may have broken off. */
export function alreadySent(sale: Pick<Sale, 'product'>): string {
  return `The payment arrived, and its answer was already sent; it cannot be sent again. If it did not arrive whole, ask ${refunderOf(sale)} Pay again for another answer.`
}

/** Whom a buyer asks for the money, and how. The operator of the server sells its tools. */
export function refunderOf(sale: Pick<Sale, 'product'>): string {
  const seller = sale.product === 'tool' ? 'the operator of this server' : 'its seller'
  return `${seller} for a refund, and name the ${idField(sale)}.`
}

function withoutCharge({ message }: DomainError): string {
  const sentence = message
    .replace(/ ?Nothing was charged\.( Try again( later)?\.)?$/, '')
    .replace(/( and|; the run) was not charged/, '')
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`
}

export function isUndeliverable(error: unknown): boolean {
  return error instanceof DomainError && error.fields['deliverable'] === false
}

interface Undeliverable {
  /** What was paid for is not for sale any more, and was never delivered. */
  undeliverable(refusal: DomainError, sale: Sale): DomainError
}

interface DeliveryErrorDeps {
  /** The address at which the buyer sees the sale's progress. */
  statusUrl(sale: Sale): string
  tokens: { of(sale: string): string }
}

/** The errors for a sale that cannot return its answer now. */
export interface DeliveryErrors {
  busy(sale: Sale): Error
  given(sale: Sale): Error
  expired(sale: Sale): Error
  pending(sale: Sale): Error
  /** The answer could not be made. `paid`: the buyer has paid for it and can still get it. */
  failed(error: unknown, sale: Sale, paid: boolean): unknown
}

export function badPaymentId(why: string): DomainError {
  return invalid({ 'x-payment-id': why }, 'invalid_payment')
}

export function badToken(): DomainError {
  return invalid({ 'x-payment-token': TOKEN_FAULT }, 'invalid_payment')
}

export const TOKEN_FAULT = 'must be tok_ and 43 characters'

/** Why a buyer gets a 402 who has presented nothing. */
export const UNPAID = { sentence: 'A payment is required.', reason: null } as const

export function paymentsUnavailable(): DomainError {
  const sentence = 'This server cannot settle payments right now. Use an API key.'
  return new DomainError('unavailable', 'payments_unavailable', sentence, { retryAfterSeconds: 60 })
}

function repeatRequest(sale: Sale): string {
  return `Send the same request again for the answer, with the ${idField(sale)} as X-Payment-ID and the paymentToken as X-Payment-Token.`
}

/** What is for sale now, or why it is not. A buyer gets what was bought before in either case. */
export type ForSale<Item> = Item | DomainError

export async function forSale<Item>(item: Promise<Item>): Promise<ForSale<Item>> {
  try {
    return await item
  } catch (error) {
    if (error instanceof DomainError) return error
    throw error
  }
}

/** Throws where it is not for sale. */
export function itemIn<Item>(item: ForSale<Item>): Item {
  if (item instanceof DomainError) throw item
  return item
}
