import { escrowRequirementsOf } from '../../x402/escrow.ts'
import type { Id } from '../../kit/ids.ts'
import { Departure } from '../../kit/departure.ts'
import { DomainError } from '../../kit/errors.ts'
import { toDecimal, toWire, type Usdc } from '../../kit/money.ts'
import type { Dialects, Receipt, Required } from '../../x402/dialects.ts'
import type { Headers, Requirements } from '../../x402/model.ts'
import { verifyUrl, type JsonSigned } from '../../x402/offer-receipt.ts'
import { presentedIn } from '../../x402/payload.ts'
import { requirementsOf } from '../../x402/requirements.ts'
import { uptoRequirementsOf } from '../../x402/upto.ts'
import { refusalIn, UNPAID } from '../errors.ts'
import { wasPaid, type MethodName, type Offer, type Sale } from '../model.ts'
import type { Journal } from '../ports.ts'
import type { PurchaseRequest, Sold } from './deps.ts'
import { proofIn } from './proof.ts'

/** The payment data in an HTTP request. */
interface HttpRequest {
  header: Headers
  operation: Id<'op'>
  gone(): AbortSignal
}

/** The product that is sold at an address. */
export interface Counter<Value> {
  facilitator: string
  dialects: Dialects
  journal: Pick<Journal, 'handedOver' | 'leave'>
  /** Throws when the request could not be served, paid or not. */
  offer(): Promise<Offer>
  buy(ask: PurchaseRequest): Promise<Sold<Value>>
  toBody(sold: Paid<Value>): Readonly<Record<string, unknown>>
}

/** A sale that was paid on a chain, with its answer. */
export type Paid<Value> = Sold<Value> & { value: NonNullable<Value> }

/** Sells over HTTP 402: returns the terms, or hands over what was paid for. It is the same for every product. */
export async function sellOverHttp<Value>({ header, operation, gone }: HttpRequest, counter: Counter<Value>) {
  const { token, payment } = proofIn(header)
  try {
    const presented = presentedIn(header)
    if (presented === null && payment === null) return await answerUnpaid(await counter.offer(), counter, header)
    const sold = await counter.buy({ presented, token, payment, operation, departure: new Departure(gone()) })
    const { value, sale } = sold
    if (value === null || value === undefined || sale.txHash === null) throw new Error('a paid sale has no answer')
    const { id, network, payer, txHash } = sale
    const receipt = await counter.dialects.receipt(receiptOf(sale), presented)
    return {
      status: 200,
      headers: { 'Cache-Control': 'no-store', 'X-Payment-ID': id, 'X-Payment-Token': sold.token, ...receipt },
      body: { ...counter.toBody({ ...sold, value }), txHash, network, payer, paymentToken: sold.token },
      // An answer that has arrived is not sent again. One that has not can be fetched with proof of the sale.
      whenSent: (arrived: boolean) => (arrived ? counter.journal.handedOver(id) : counter.journal.leave(sale)),
    }
  } catch (error) {
    const refusal = refusalIn(error, header)
    if (refusal === null) throw error
    return await answerUnpaid(await counter.offer(), counter, header, refusal)
  }
}

/** A sale's result, for its buyer. */
export function receiptOf(sale: Sale): Receipt {
  const { method, amount, txHash, network, payer, resource, reason, endedAt, createdAt } = sale
  const paidAt = endedAt ?? createdAt
  const taken = method === 'upto' ? { taken: amount } : {}
  return { success: wasPaid(sale), txHash, network, payer, ...taken, resource: resource ?? '', paidAt, reason }
}

/** The signed receipt, and the page that verifies it. Both are null unless the money arrived on a chain. */
export interface Proof {
  signedReceipt: string | null
  verifyUrl: string | null
}

/** The link contains the terms too, because a receipt has no amount. */
export function proofOf(receipt: Receipt, sale: Priced, by: Proving): Proof {
  const jws = by.dialects.signed.jws(receipt)
  if (jws === null) return { signedReceipt: null, verifyUrl: null }
  return { signedReceipt: jws.signature, verifyUrl: verifyUrl(by.receipts, jws, paidTerms(receipt, sale, by)) }
}

/** The terms that were paid, signed. Null where the receipt is, and for a simulated payment. */
export function paidTerms(
  receipt: Receipt,
  { amount, recipient: payTo, method }: Priced,
  { dialects }: Pick<Proving, 'dialects'>,
): JsonSigned | null {
  if (payTo === null) return null
  return dialects.signed.terms(receipt, { scheme: SCHEMES[method] ?? 'exact', amount, payTo })
}

/** What is not named here was signed as `exact`. */
const SCHEMES: Readonly<Partial<Record<MethodName, string>>> = { 'auth-capture': 'auth-capture', upto: 'upto' }

type Priced = Pick<Sale, 'amount' | 'recipient' | 'method'>

interface Proving {
  dialects: Pick<Dialects, 'signed'>
  /** The address of the receipts of all products. */
  receipts: string
}

/** The 402 for this offer. */
export async function answerUnpaid(
  offer: Offer,
  { facilitator, dialects }: Pick<Counter<unknown>, 'facilitator' | 'dialects'>,
  header: Headers,
  why: Unpaid = UNPAID,
) {
  return { status: 402 as const, ...(await dialects.required(requiredOf(offer, facilitator, why), header)) }
}

/** The contents of a 402 for this offer, at every door. */
export function requiredOf(offer: Offer, facilitator: string, { sentence: error, reason }: Unpaid): Required {
  const { slug, memo = slug, address: url, name: description, amount, recipient, signIn, requiresIdentifier } = offer
  const resource = { url, description, mimeType: 'application/json' }
  const requirements = offer.requirements === null ? null : requirementsOfOffer(offer)
  const terms = { requirements, resource, amount: toDecimal(amount), recipient }
  const refund = offer.refund == null ? {} : { refund: offer.refund }
  const entry = signIn == null ? {} : { signIn }
  const identifier = requiresIdentifier === undefined ? {} : { requiresIdentifier }
  const capture = offer.escrow !== undefined ? 'escrow' : (offer.workMs ?? 0) > 0 ? 'onSuccess' : null
  const more = { ...(capture === null ? {} : { capture }), ...offer.more }
  return { ...terms, facilitator, memo, ...refund, ...entry, ...identifier, more, error, reason }
}

interface Unpaid {
  sentence: string
  reason: string | null
}

/** The buyer's bound: nothing is bought that costs more. Null: the call has none. */
export function assertMaxCost(price: Usdc, maxCost: Usdc | null): void {
  if (maxCost === null || price <= maxCost) return
  throw new DomainError(
    'unaffordable',
    'max_cost_exceeded',
    'This costs more than maxCost. Raise maxCost and call again.',
    {
      required: toWire(price),
      maxCost: toWire(maxCost),
    },
  )
}

/** What is sold, without terms for a buyer whose bound is lower. */
export function withinMaxCost<Sold extends { offer(): Promise<{ amount: Usdc }> }>(
  counter: Sold,
  maxCost: Usdc | null,
): Sold {
  if (maxCost === null) return counter
  return {
    ...counter,
    async offer() {
      const offer = await counter.offer()
      assertMaxCost(offer.amount, maxCost)
      return offer
    },
  }
}

/** The terms to sign, in both versions of x402. */
export function requirementsOfOffer({ requirements, escrow, taker = null, ...offer }: Offer): Requirements {
  if (requirements != null) return requirements
  const { slug, name, address, amount, network, recipient, input, workMs } = offer
  const resource = { url: address, description: name, mimeType: 'application/json' }
  const { properties: bodyFields = {}, required } = input
  const names = required === undefined ? {} : { required }
  const described = { type: 'http', method: 'POST', bodyType: 'json', bodyFields, ...names }
  const price = { amount, network, recipient }
  const exact = requirementsOf(price, resource, { input: described, slug }, escrow === undefined ? workMs : 0)
  if (escrow === undefined) return taker === null ? exact : { ...exact, upto: uptoRequirementsOf(exact.v2, taker) }
  return { ...exact, escrow: escrowRequirementsOf(price, escrow.operator, escrow.captureDeadline) }
}
