import type { Authorization, Hex } from '../chain/model.ts'
import type { PaymentEventData } from '../deliveries/model.ts'
import { DomainError } from '../kit/errors.ts'
import { KEY_MS } from '../kit/ids.ts'
import { fromWire, least, toWire, usdc, type Usdc } from '../kit/money.ts'
import type { Owner } from '../kit/owner.ts'
import { GUESTS } from '../ledger/model.ts'
import type { Sale } from '../sales/model.ts'
import { keyedNonce, nonceOf } from '../transfers/model.ts'
import { NETWORK_OF } from '../wallet/model.ts'
import {
  exceedsPayment,
  fillsBalance,
  neverSigned,
  nothingPaid,
  notRefundable,
  otherNetwork,
  paidByAccount,
  receivedHere,
  tooManyRefunds,
  tooSmall,
  withoutSeller,
} from './errors.ts'
import {
  paymentData,
  WAITS,
  type OwnTerms,
  type Refund,
  type RefundRequest,
  type RefundWay,
  type Wait,
} from './model.ts'

const DAY_MS = 86_400_000

/** What names the transfer of a refund that was requested with an `Idempotency-Key`. */
export type KeyedRefund = Pick<RefundRequest, 'saleId' | 'amount'> & { keyHash: Buffer | null }

/** `before`: the refund that has the nonce already. */
export function refundNonce<R extends Pick<Refund, 'nonce' | 'createdAt'>>(
  { saleId, amount, keyHash }: KeyedRefund,
  { made, now }: { made: readonly R[]; now: Date },
): { nonce: Hex | null; before: R | null } {
  if (keyHash === null) return { nonce: null, before: null }
  const terms = [saleId, keyHash.toString('hex'), String(amount ?? 'all')]
  for (let turn = 0; ; turn++) {
    const nonce = keyedNonce('refund', terms, turn)
    const before = made.find((one) => one.nonce === nonce) ?? null
    if (before === null || now.getTime() - before.createdAt.getTime() <= KEY_MS) return { nonce, before }
  }
}

/** How long a refund waits until it fails, and what of the payment it had counts as free again. */
export const WAIT_MS = 14 * DAY_MS

/** The refunds of one sale are listed whole, so there is an end to them. */
const REFUNDS_MAX = 100

/** The facilitator carries out no transfer of less: its gas costs more. */
const LEAST = usdc(100n)

/** The operator pays the gas of each refund, and one payment can have many. */
const PART_LEAST = usdc(50_000n)

/** The seller of a sale of which something can go back. Throws otherwise. */
export function sellerOf(sale: Pick<Sale, 'product' | 'details' | 'state' | 'userId' | 'environment'>): Owner {
  const { state, userId, environment, product, details } = sale
  if (userId === null) throw withoutSeller()
  if (state !== 'paid') throw notRefundable(state)
  // Its payer can still spend it at the gate, so the seller would pay twice.
  if (product === 'gate' && details['kind'] === 'balance') throw fillsBalance()
  return { userId, environment }
}

/** Who has what was paid: a run of an asset that has failed was paid to the guests' wallet, and from there to nobody. */
export function paidTo(
  { product, result, environment }: Pick<Sale, 'product' | 'result' | 'environment'>,
  seller: Owner,
): Owner {
  return product === 'asset' && result?.status === 'failed' ? { userId: GUESTS, environment } : seller
}

/**
 * Whether only an answer that waits for its buyer can show that the creator of a run was paid: one that was paid for in
 * advance pays its creator with its answer, and one that has failed is refunded by a rule.
 */
export function isPaidByAnswer({ product, result, handover, details }: Run): boolean {
  return product === 'asset' && result === null && handover === 'none' && details['runId'] === undefined
}

type Run = Pick<Sale, 'product' | 'result' | 'handover' | 'details'>

export function amountOf(sale: Pick<Sale, 'amount' | 'refunded'>, requested: Usdc | null): Usdc {
  if (sale.amount === 0n) throw nothingPaid()
  const left = refundableOf(sale)
  const amount = requested ?? left
  if (amount > left || left === 0n) throw exceedsPayment(left)
  return amount
}

function refundableOf({ amount, refunded }: Pick<Sale, 'amount' | 'refunded'>): Usdc {
  return usdc(amount - refunded)
}

/** What can still be requested; 0 as long as the money has not arrived. */
export function leftOf(sale: Pick<Sale, 'state' | 'amount' | 'refunded'>): Usdc {
  return sale.state === 'paid' ? refundableOf(sale) : usdc(0n)
}

/**
 * `buyer` is the account that paid, if it is one of this server's. Its money never left the treasury's books as the
 * buyer's own, so it comes back in the ledger: nobody could spend what is sent to the address that paid.
 */
export function wayOf(
  sale: Pick<Sale, 'environment' | 'network' | 'payer' | 'recipient' | 'product'>,
  buyer: Owner | null,
  isOwn: boolean,
): Exclude<RefundWay, 'simulated'> {
  if (isOwn) {
    if (buyer !== null) throw paidByAccount()
    // A run is paid to the treasury, whatever its seller does.
    if (sale.recipient === null || sale.product === 'asset') throw receivedHere()
    return 'own'
  }
  const held = NETWORK_OF[sale.environment]
  if (sale.network !== held) throw otherNetwork(sale.network, held, sale.payer)
  return buyer?.environment === sale.environment ? 'account' : 'wallet'
}

/**
 * Until it has ended, a refund that waits for a signature keeps its sum from every other one. So a seller who does not sign
 * cannot begin it again and again.
 */
export function assertOneMore(way: RefundWay, before: readonly Pick<Refund, 'failure' | 'signature'>[]): void {
  if (before.length >= REFUNDS_MAX) throw tooManyRefunds(REFUNDS_MAX)
  const unsigned = before.filter(({ failure, signature }) => failure === 'not_sent' && signature === null)
  if (way === 'own' && unsigned.length >= UNSIGNED_MAX) throw neverSigned(UNSIGNED_MAX)
}

const UNSIGNED_MAX = 3

/** A refund on a chain is of at least five cents, or of all that is left. */
export function assertLeast(amount: Usdc, way: RefundWay, sale: Pick<Sale, 'amount' | 'refunded'>): void {
  if (way !== 'wallet' && way !== 'own') return
  const left = refundableOf(sale)
  if (amount !== left && amount < PART_LEAST) throw tooSmall(least(PART_LEAST, left))
  if (amount < least(LEAST, sale.amount)) throw tooSmall(LEAST)
}

/** What holds the refund up, or null if the error is no reason to wait. */
export function waitOf(error: unknown): { waitsFor: Wait; missing: Usdc | null } | null {
  if (!(error instanceof DomainError)) return null
  const waitsFor = WAITS.find((wait) => wait === error.code)
  if (waitsFor === undefined) return null
  const [required, available] = [
    fromWire(Number(error.fields['required'])),
    fromWire(Number(error.fields['available'])),
  ]
  const isKnown = typeof required === 'bigint' && typeof available === 'bigint'
  return { waitsFor, missing: isKnown && required > available ? usdc(required - available) : null }
}

/** A refusal that no time changes: the server's own rules forbid this payout. */
export function isRefusal(error: unknown): error is DomainError {
  return error instanceof DomainError && error.code === 'recipient_not_allowed'
}

/** The balance may be there any moment after a refund was requested, and hardly any after days. */
export function nextTry(createdAt: Date, now: Date): Date {
  const age = now.getTime() - createdAt.getTime()
  return new Date(now.getTime() + Math.min(Math.max(age / 10, 5_000), 300_000))
}

export function isOverdue({ createdAt }: Pick<Refund, 'createdAt'>, now: Date): boolean {
  return now.getTime() - createdAt.getTime() >= WAIT_MS
}

/** How long a seller has to sign, and how long the authorization is valid after that: a block must take it. */
const SIGN_MS = 30 * 60_000
const VALID_AFTER_MS = 15 * 60_000

/** `seenBlock` is null only where nothing is signed. */
export function ownTermsOf(way: RefundWay, seenBlock: bigint | null | undefined, now: Date): OwnTerms {
  if (way !== 'own') return { validBefore: null, seenBlock: null, lookAt: null }
  if (seenBlock == null) throw new Error('a refund from an own wallet has a block from which it is followed')
  const validBefore = BigInt(Math.floor((now.getTime() + SIGN_MS + VALID_AFTER_MS) / 1000))
  return { validBefore, seenBlock, lookAt: nextLook(now, now) }
}

/** Until then a signature is taken. Null for a refund that needs none. */
export function signBeforeOf({ validBefore }: Pick<Refund, 'validBefore'>): Date | null {
  return validBefore === null ? null : new Date(Number(validBefore) * 1000 - VALID_AFTER_MS)
}

/** A transfer is on the chain within seconds; an unsigned refund may wait for half an hour. */
export function nextLook(since: Date, now: Date): Date {
  const age = now.getTime() - since.getTime()
  return new Date(now.getTime() + Math.min(Math.max(age / 5, 4_000), 30_000))
}

/** The one transfer that can pay this refund. Its nonce follows from the refund's id, so the chain carries out one at most. */
export function ownAuthorization(
  { id, amount, validBefore }: Pick<Refund, 'id' | 'amount' | 'validBefore'>,
  { recipient, payer }: Pick<Sale, 'recipient' | 'payer'>,
): Authorization {
  if (recipient === null || validBefore === null) throw new Error(`the refund ${id} has no authorization`)
  const [from, to] = [recipient, payer].map((address) => address.toLowerCase() as Hex) as [Hex, Hex]
  return { from, to, value: amount, validAfter: 0n, validBefore, nonce: nonceOf('refund', id) }
}

/** The event of a refund's end for the seller's endpoints. `sale` is as it is afterwards. */
export function eventOf({ refund, sale, now, pay }: EndedRefund) {
  const { simulated } = sale
  const data = {
    ...paymentData(sale, now, pay),
    refundId: refund.id,
    refundAmount: toWire(refund.amount),
    refundTxHash: refund.txHash,
    refundReason: refund.reason,
    refundFailure: refund.failure,
    refunded: toWire(sale.refunded),
  } satisfies PaymentEventData & Readonly<Record<string, unknown>>
  const event = refund.state === 'failed' ? ('refund.failed' as const) : ('payment.refunded' as const)
  return { event, data, headers: simulated ? { 'coinslot-test': 'true' } : {} }
}

interface EndedRefund {
  refund: Pick<Refund, 'id' | 'amount' | 'txHash' | 'reason' | 'failure' | 'state'>
  sale: Parameters<typeof paymentData>[0] & Pick<Sale, 'refunded'>
  now: Date
  /** The address of the hosted forms. */
  pay: string
}
