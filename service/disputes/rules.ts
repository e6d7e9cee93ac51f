import { createHash } from 'node:crypto'
import { NETWORKS } from '../chain/networks.ts'
import { deriveId, relatedId, type Id } from '../kit/ids.ts'
import { largest, least, sum, toDecimal, toWire, usdc, ZERO, type Usdc } from '../kit/money.ts'
import { paymentData, type Refund, type RefundState } from '../refunds/model.ts'
import { wasPaid, type Sale } from '../sales/model.ts'
import { notPaid, outsideWindow, signatureExpired } from './errors.ts'
import type {
  Denial,
  Dispute,
  Reason,
  RefundAnswer,
  RefundClaim,
  RefundPolicy,
  Report,
  SellerAnswer,
  SignedProof,
  TrackRecord,
} from './model.ts'

export const DAY_MS = 86_400_000

/** How often a deadline asks for a refund before it gives up: each time the last one failed. */
const DEADLINE_REFUNDS_MAX = 3

/** When a problem with the sale can no longer be reported. */
export function reportableUntil(sale: Windowed, policy: RefundPolicy): Date {
  return new Date((sale.endedAt ?? sale.createdAt).getTime() + windowOf(sale, policy) * DAY_MS)
}

/** In days. A sale keeps what its 402 promised; a longer time that the seller gives today holds for it too. */
function windowOf({ refundWindowDays }: Windowed, { windowDays }: RefundPolicy): number {
  return Math.max(refundWindowDays ?? 0, windowDays)
}

type Windowed = Pick<Sale, 'endedAt' | 'createdAt' | 'refundWindowDays'>

export function assertReportable(sale: Windowed & Pick<Sale, 'state'>, policy: RefundPolicy, now: Date): void {
  if (sale.state !== 'paid') throw notPaid(sale.state)
  if (now >= reportableUntil(sale, policy)) throw outsideWindow(windowOf(sale, policy))
}

/**
 * Why a program gets nothing; null where the policy answers or the seller is asked. `before` is the sale's dispute, if
 * it has one of another request.
 */
export function denialOf(asked: Pick<RefundClaim, 'amount' | 'refundTo'>, about: Judged): Denial | null {
  const { sale, policy, now, before, returned } = about
  const left = usdc(sale.amount - returned)
  if (!wasPaid(sale)) return 'unknown_payment'
  // Money goes back to the address that paid and nowhere else, whoever signs.
  if (asked.refundTo !== null && asked.refundTo.toLowerCase() !== sale.payer.toLowerCase()) return 'policy_denied'
  if (sale.state === 'refunded' || before?.state === 'refunded') return 'already_refunded'
  if (before?.state === 'declined' || before?.state === 'closed') return 'policy_denied'
  if (asked.amount > sale.amount) return 'amount_exceeds_settled'
  if (before !== null) return null
  if (left === ZERO) return 'already_refunded'
  if (asked.amount > left) return 'amount_exceeds_settled'
  if (now >= reportableUntil(sale, policy)) return 'outside_window'
  if (!policy.partialRefunds && asked.amount < left) return 'policy_denied'
  return null
}

interface Judged {
  sale: Windowed & Pick<Sale, 'state' | 'amount' | 'payer'>
  /** Of the sale (`returnedOf`). */
  returned: Usdc
  policy: RefundPolicy
  now: Date
  before: Pick<Dispute, 'state'> | null
}

/**
 * What went back of a sale, or certainly ends by itself. A refund that is only requested may wait for the seller's balance
 * or signature, and never be paid: it denies no buyer anything.
 */
export function returnedOf(refunds: readonly Pick<Refund, 'state' | 'amount'>[]): Usdc {
  return sum(refunds.filter(({ state }) => RETURNED.has(state)).map(({ amount }) => amount))
}

const RETURNED: ReadonlySet<RefundState> = new Set(['funded', 'sent', 'confirmed'])

/**
 * The refunds that were requested after the dispute. What the seller sends back by them answers it, what went back before
 * is not what the buyer asks for. Those of the same millisecond count, so that nothing is paid twice.
 */
function madeSince<Made extends Pick<Refund, 'createdAt'>>(
  { createdAt }: Pick<Dispute, 'createdAt'>,
  refunds: readonly Made[],
): Made[] {
  return refunds.filter((refund) => refund.createdAt >= createdAt)
}

/** Whether these refunds have the part of the payment that the buyer asks for. All of it has an end of its own. */
function cover({ amount }: Pick<Dispute, 'amount'>, refunds: readonly MadeRefund[]): boolean {
  return amount !== null && sum(refunds.map((refund) => refund.amount)) >= amount
}

/** Whether the buyer has the part that they ask for by refunds that the seller made apart from the dispute. */
export function isGiven(dispute: AskedPart, refunds: readonly MadeRefund[]): boolean {
  const confirmed = madeSince(dispute, refunds).filter(({ state }) => state === 'confirmed')
  return cover(dispute, confirmed)
}

/** Whether such refunds have that part if none of them fails, so that an answer would pay it a second time. */
export function isPromised(dispute: AskedPart, refunds: readonly MadeRefund[]): boolean {
  const possible = madeSince(dispute, refunds).filter(({ state }) => state !== 'failed')
  return cover(dispute, possible)
}

type AskedPart = Pick<Dispute, 'amount' | 'createdAt'>
type MadeRefund = Pick<Refund, 'state' | 'amount' | 'createdAt'>

/** What was refunded in the last 24 hours without the seller's answer. */
export interface Unasked {
  /** By the policy, in total. */
  spent: Usdc
  /** How many times to this payer, by the policy or at a deadline. */
  ofPayer: number
  /** The payer is the address of one order, to which its buyer sent plain transfers. */
  isOrderAddress: boolean
}

/** Whether the policy refunds without asking. */
export function isAutomatic(
  { amount, reason, sale, isServed }: AutomaticRefund,
  { agents, perSale, perDay }: RefundPolicy,
  before: Unasked,
): boolean {
  if (agents !== 'automatic' || amount > perSale || before.spent + amount > perDay) return false
  if (amount > sale.amount - sale.refunded) return false
  // Its buyer has another payer for each order, so that no share would bind them.
  if (before.isOrderAddress || !hasShare(sale, before)) return false
  // What has expired was made, and may have been read but for its last byte.
  const isHandedOver = isServed || sale.handover !== 'none' || hasAnswer(sale)
  return reason !== 'service_not_delivered' || !isHandedOver
}

export interface AutomaticRefund {
  amount: Usdc
  reason: Reason
  sale: Pick<Sale, 'amount' | 'refunded' | 'handover' | 'result' | 'simulated'>
  /** The seller's server has confirmed the order or may be working on it, or its answer waits for the buyer. */
  isServed: boolean
}

/**
 * How many refunds a payer gets of one seller in 24 hours without the seller's answer. The limits in USDC alone do not
 * stop a wallet that buys cheap answers, reads them, and takes each payment back.
 */
export const UNASKED_PER_PAYER = 2

/** Simulated payments all have the same payer, and their refunds move no money. */
export function hasShare({ simulated }: Pick<Sale, 'simulated'>, { ofPayer }: Pick<Unasked, 'ofPayer'>): boolean {
  return simulated || ofPayer < UNASKED_PER_PAYER
}

/** The buyer has the whole answer, or the work that was bought has succeeded. */
function hasAnswer({ handover, result }: Pick<Sale, 'handover' | 'result'>): boolean {
  return handover === 'whole' || result?.status === 'succeeded'
}

/**
 * What the deadline does to a dispute that is still open. `wait`: what it would refund is about to go back by other refunds.
 * `blocked`: a refund that is only requested has it, or may be the seller's answer. It acts as soon as that has ended.
 */
export function dueAction(
  dispute: AskedPart & Pick<Dispute, 'unanswered' | 'attempts' | 'reason'>,
  sale: Pick<Sale, 'state' | 'amount' | 'refunded' | 'handover' | 'result'>,
  refunds: readonly MadeRefund[],
): 'refunded' | 'wait' | 'refund' | 'blocked' | 'close' {
  const { unanswered, attempts, reason, amount } = dispute
  if (sale.state === 'refunded' || isGiven(dispute, refunds)) return 'refunded'
  const [returned, since] = [returnedOf(refunds), madeSince(dispute, refunds)]
  const given = returnedOf(since)
  if (returned === sale.amount || (amount !== null && given >= amount)) return 'wait'
  if (reason === 'service_not_delivered' && hasAnswer(sale)) return 'close'
  if (unanswered !== 'refund' || attempts >= DEADLINE_REFUNDS_MAX) return 'close'
  const owed = usdc(sale.amount - returned)
  const wanted = amount === null ? owed : least(usdc(amount - given), owed)
  const mayBeAnswered = amount !== null && since.some(({ state }) => state === 'requested')
  return mayBeAnswered || sale.amount - sale.refunded < wanted ? 'blocked' : 'refund'
}

/** Whether the seller has given exactly this answer. */
export function isAnsweredBy(
  { state, decidedBy, answer, refundAmount }: Pick<Dispute, 'state' | 'decidedBy' | 'answer' | 'refundAmount'>,
  { action, amount, text }: SellerAnswer,
): boolean {
  if (decidedBy !== 'seller' || answer !== text) return false
  return action === 'decline' ? state === 'declined' : /^refund(ing|ed)$/.test(state) && refundAmount === amount
}

/**
 * The refund of an attempt to end a payment's dispute with one. It follows from the payment, so that a dispute that is opened
 * once more, because a restored database does not know it, asks for the same transfer.
 */
export function refundOf(saleId: string, attempt: number): Id<'rfd'> {
  return deriveId('rfd', relatedId(saleId as Id<'pay'>, `dispute ${String(attempt)}`))
}

/** The answer to a program's request: from the state of its dispute, and from the payment's refunds. */
export function answerOf(dispute: Dispute, refunds: readonly Refund[]): RefundAnswer {
  const asked = dispute.amount ?? ZERO
  switch (dispute.state) {
    case 'open':
    case 'refunding':
      return { status: 'pending', amount: asked }
    case 'refunded':
      return { status: 'executed', amount: asked, refundTxHash: null, ...executionOf(dispute, refunds) }
    case 'declined':
    case 'closed':
      return { status: 'denied', amount: asked, denialReason: 'policy_denied' }
  }
}

/** What went back by the dispute's own refund, and by those that the seller made apart from it. One of them is named. */
function executionOf(
  dispute: Dispute,
  refunds: readonly Refund[],
): { amount: Usdc; refundTxHash: string | null } | null {
  const { refundId, amount, endedAt } = dispute
  const confirmed = refunds.filter((one) => one.state === 'confirmed')
  const own = confirmed.find(({ id }) => id === refundId)
  const isInTime = (one: Refund) => endedAt === null || one.endedAt === null || one.endedAt <= endedAt
  const since = madeSince(dispute, confirmed).filter(isInTime)
  const named = own ?? since.at(-1) ?? confirmed.at(-1)
  if (named === undefined) return null
  const given = since.length === 0 ? named.amount : sum(since.map((one) => one.amount))
  // A seller may give more than was asked for.
  const executed = largest(own?.amount ?? ZERO, amount === null ? given : least(amount, given))
  return { amount: executed, refundTxHash: named.txHash }
}

export function assertFresh({ expiresAt }: SignedProof, now: Date): void {
  const ahead = expiresAt.getTime() - now.getTime()
  if (ahead <= 0 || ahead > SIGNATURE_MS_MAX) throw signatureExpired()
}

/** How long a signature may be used at most. */
const SIGNATURE_MS_MAX = 3_600_000

/** The text that a payer signs to report a problem. */
export function reportText(
  sale: Pick<Sale, 'id' | 'amount' | 'network'>,
  { reason }: Pick<Report, 'reason'>,
  { origin, expiresAt }: { origin: string; expiresAt: Date },
): string {
  return [
    `${new URL(origin).host} asks you to sign a report of a problem with a payment.`,
    '',
    `URI: ${origin}`,
    `Payment: ${sale.id}`,
    `Amount: ${toDecimal(sale.amount)} USDC`,
    `Chain ID: ${String(NETWORKS[sale.network].chainId)}`,
    `Reason: ${reason}`,
    `Expiration Time: ${expiresAt.toISOString()}`,
  ].join('\n')
}

/** The text that a payer signs to ask for a refund by the extension. */
export function refundText(asked: RefundClaim, { origin, expiresAt }: { origin: string; expiresAt: Date }): string {
  return [
    `${new URL(origin).host} asks you to sign a refund request.`,
    '',
    `URI: ${origin}`,
    `Transaction: ${asked.txHash}`,
    `Network: ${asked.network}`,
    `Payment: ${asked.paymentId ?? 'none'}`,
    `Amount: ${String(asked.amount)}`,
    `Reason: ${asked.reason}`,
    `Refund To: ${asked.refundTo?.toLowerCase() ?? 'payer'}`,
    `Idempotency Key: ${asked.key}`,
    `Expiration Time: ${expiresAt.toISOString()}`,
  ].join('\n')
}

/** The request without its proof: with one key it must be the same each time. */
export function hashOfRequest({ txHash, network, paymentId, amount, reason, detail, refundTo }: RefundClaim): Buffer {
  const parts = [txHash, network, paymentId, String(amount), reason, detail, refundTo]
  return createHash('sha256').update(JSON.stringify(parts)).digest()
}

/**
 * What the deadline gives back: the part that was asked for, without what has gone back since then, and never more than is
 * left. Null: all that is left.
 */
export function decidedAmount(
  dispute: AskedPart,
  { amount, refunded }: Pick<Sale, 'amount' | 'refunded'>,
  refunds: readonly MadeRefund[],
): Usdc | null {
  if (dispute.amount === null) return null
  const given = returnedOf(madeSince(dispute, refunds))
  return least(usdc(dispute.amount - given), usdc(amount - refunded))
}

/** Rounded, so that nobody can read single sales off it. Null while there are too few. */
export function trackRecordOf({ customers, refunded, disputed }: CustomerShares): TrackRecord | null {
  if (customers < TRACKED_MIN) return null
  const percent = (part: number): number => Math.round((100 * part) / customers)
  return {
    customers: Math.floor(customers / 10) * 10,
    refundedPercent: percent(refunded),
    disputedPercent: percent(disputed),
  }
}

const TRACKED_MIN = 20

/** Of each customer, which part of what they paid was refunded, and which was disputed: a number between 0 and 1. */
export interface CustomerShares {
  customers: number
  /** The sum of these parts. */
  refunded: number
  disputed: number
}

/** The event of a report or of its end, for the seller's endpoints. */
export function eventOf({ dispute, sale, now, pay }: ReportedSale) {
  const { id, state, reason, text, answerBy, answer, refundId } = dispute
  const data = {
    ...paymentData(sale, now, pay),
    disputeId: id,
    disputeState: state,
    disputeReason: reason,
    disputeText: text,
    disputeAmount: toWire(dispute.amount ?? sale.amount),
    disputeAnswerBy: answerBy.toISOString(),
    disputeAnswer: answer,
    refundId,
    refunded: toWire(sale.refunded),
  }
  const event = dispute.endedAt === null ? ('dispute.opened' as const) : ('dispute.closed' as const)
  return { event, data, headers: sale.simulated ? { 'coinslot-test': 'true' } : {} }
}

interface ReportedSale {
  dispute: Pick<Dispute, 'state' | 'reason' | 'text' | 'amount' | 'answerBy' | 'answer' | 'refundId' | 'endedAt'> & {
    id: Id<'dsp'>
  }
  sale: Parameters<typeof paymentData>[0] & Pick<Sale, 'refunded'>
  now: Date
  /** The address of the hosted forms. */
  pay: string
}
