import { paymentRefunded, paymentRefused } from '../errors.ts'
import type { Delivered, Sale } from '../model.ts'
import { isOver, nextResume } from '../rules.ts'
import type { PurchaseRequest, Delivery, Made, Product, SellingDeps, Sold } from './deps.ts'
import type { Journal, Lease } from '../ports.ts'
import type { PaymentTokens } from './proof.ts'
import { createSettling, NOTHING_DELIVERED, NOTHING_HANDED_OVER } from './settle.ts'

/**
 * Processes a sale from its current state to its answer, while this process holds its lease. When delivery comes first,
 * the answer is made, stored, paid for and handed over: the buyer never pays for an answer that was not made, and gets
 * nothing before the payment. When the money comes first, the seller owes the answer until it was handed over.
 */
export function createProcessing<Order extends PurchaseRequest, Value>(
  deps: SellingDeps,
  product: Product<Order, Value>,
) {
  const { journal, methods, tokens, clock, log, failpoints, settleMs } = deps
  const settle = createSettling(deps)

  async function processSale(order: Order, sale: Sale, payFirst: boolean): Promise<Sold<Value>> {
    const { delivery } = product
    // An error now leaves the outcome unknown: the sweeper continues.
    if (delivery === null)
      return sold<Value>(tokens, order, await settled(sale, () => payOnly(sale)), { value: null, fresh: false })
    const lease = { id: sale.id, leaseUntil: sale.leaseUntil }
    try {
      if (sale.state === 'claimed' && !payFirst) return await deliverFirst(order, sale, { delivery, lease })
      return await owed(order, await paidFirst(order, sale, { delivery, lease }), delivery)
    } catch (error) {
      await leave(lease)
      throw error
    }
  }

  /** Before the chain is asked, with a new lease. Throws where another process has taken over the sale. */
  async function toSettling(sale: Sale, { delivery, lease }: Held<Order, Value>, delivered: Delivered): Promise<void> {
    const leaseUntil = until()
    if (!(await journal.settling(lease, delivered, leaseUntil))) throw delivery.errors.busy(sale)
    lease.leaseUntil = leaseUntil
    await failpoints.reach('sale settling')
  }

  /** Another request processes the sale: waits for the same payment, and restores the stored answer. */
  async function join(order: Order, sale: Sale, delivery: Delivery<Order, Value>): Promise<Sold<Value>> {
    const ended = await settled(sale, () => settle(sale, NOTHING_HANDED_OVER, { waitMs: settleMs }))
    assertPaid(ended, delivery)
    const stored = await journal.answerOf(sale.id)
    if (stored === null) throw delivery.errors.busy(sale)
    return sold(tokens, order, ended, { value: await delivery.restore(stored, ended, order), fresh: false })
  }

  async function deliverFirst(order: Order, sale: Sale, held: Held<Order, Value>): Promise<Sold<Value>> {
    const { delivery } = held
    const made = await makeAnswer(journal, order, sale, { delivery, paid: false })
    try {
      const { answer, bodyHash, details, amount = null } = made
      await toSettling(sale, held, { answer, bodyHash, details, amount })
      const handover = answer === null ? 'begun' : 'none'
      const known = { details: details ?? sale.details, amount: amount ?? sale.amount }
      const settling: Sale = { ...sale, ...known, state: 'settling' }
      const options = { waitMs: settleMs, isFirst: true }
      const ended = await settled(settling, () => settle(settling, { handover, note: made.note }, options))
      assertPaid(ended, delivery)
      return sold(tokens, order, ended, { value: made.value, fresh: true })
    } catch (error) {
      made.discard()
      throw error
    }
  }

  /** Once the chain is asked, the sale cannot be taken back. */
  async function paidFirst(order: Order, sale: Sale, held: Held<Order, Value>): Promise<Sale> {
    const { delivery } = held
    const isFirst = sale.state === 'claimed'
    if (isFirst) {
      await leaveOrRelease(journal, order, sale, delivery)
      await toSettling(sale, held, NOTHING_DELIVERED)
    }
    if (isOver(sale)) return sale
    const settling: Sale = { ...sale, state: 'settling' }
    const ended = await settled(settling, () => settle(settling, NOTHING_HANDED_OVER, { waitMs: settleMs, isFirst }))
    assertPaid(ended, delivery)
    return ended
  }

  async function payOnly(sale: Sale): Promise<Sale> {
    if (isOver(sale) || sale.state === 'held') return sale
    if (!methods.of(sale).signed) return await settle(sale, NOTHING_HANDED_OVER)
    // Without a lease, so that the sweeper may continue immediately.
    const isFirst = sale.state === 'claimed' && (await journal.settling(sale, NOTHING_DELIVERED, null))
    await failpoints.reach('sale settling')
    return await settle({ ...sale, state: 'settling' }, NOTHING_HANDED_OVER, { waitMs: settleMs, isFirst })
  }

  /** For a paid sale of which no part of an answer was sent: returns the stored answer, or makes a new one. */
  async function owed(order: Order, sale: Sale, delivery: Delivery<Order, Value>): Promise<Sold<Value>> {
    const stored = await journal.answerOf(sale.id)
    if (stored !== null)
      return sold(tokens, order, sale, { value: await delivery.restore(stored, sale, order), fresh: false })
    const made = await makeAnswer(journal, order, sale, { delivery, paid: true })
    const { answer, bodyHash } = made
    // A buyer who disconnects now can fetch this answer later: one payment never causes the work twice.
    if (answer === null) await journal.begun(sale.id)
    else if (!(await journal.store(sale.id, answer, bodyHash))) throw delivery.errors.busy(sale)
    await failpoints.reach('sale delivered')
    return sold(tokens, order, sale, { value: made.value, fresh: true })
  }

  /** Once the chain was asked, an error leaves the outcome unknown, and the sweeper finds it out. */
  async function settled(sale: Sale, act: () => Promise<Sale>): Promise<Sale> {
    try {
      return await act()
    } catch (error) {
      log.error({ sale: sale.id, err: error }, 'a sale could not be processed; the sweeper resumes it')
      return sale
    }
  }

  async function leave(lease: Lease): Promise<void> {
    await journal.leave(lease).catch((error: unknown) => {
      log.error({ sale: lease.id, err: error }, 'the lease of a sale could not be released; it will expire')
    })
  }

  /** Longer than the work and the chain may take together, so that no other process takes the sale over. */
  function until(): Date {
    return new Date(clock.now().getTime() + (product.delivery?.makingMs ?? 0) + settleMs + SPARE_MS)
  }

  const leaseFor = (terms: Holding) => firstLease(terms, product.delivery === null ? null : until(), clock.now())
  return { processSale, join, settle, until, leaseFor }
}

/** A new sale's lease, and when it is looked at without a waiting buyer. `made`: until when its answer is made here. */
function firstLease({ workMs, holds }: Holding, made: Date | null, now: Date) {
  const leaseUntil = holds ? new Date(now.getTime() + workMs) : made
  return { leaseUntil, resumeAt: made === null ? nextResume(now, now) : null }
}

interface Holding {
  workMs: number
  holds: boolean
}

interface Held<Order extends PurchaseRequest, Value> {
  delivery: Delivery<Order, Value>
  /** This process's own, as it stands now. */
  lease: Lease
}

/** Where it fails, what was not charged is free, and what was is owed. */
async function makeAnswer<Order extends PurchaseRequest, Value>(
  journal: Journal,
  order: Order,
  sale: Sale,
  { delivery, paid }: { delivery: Delivery<Order, Value>; paid: boolean },
): Promise<Made<Value>> {
  try {
    return await delivery.make(order, sale, paid)
  } catch (error) {
    if (!paid) await journal.release(sale, codeOf(error))
    throw delivery.errors.failed(error, sale, paid)
  }
}

/** A buyer who disconnects before the chain was asked has bought nothing. */
async function leaveOrRelease<Order extends PurchaseRequest, Value>(
  journal: Journal,
  { departure }: Order,
  sale: Sale,
  { errors }: Delivery<Order, Value>,
): Promise<void> {
  try {
    departure.leave()
  } catch (error) {
    await journal.release(sale, codeOf(error))
    throw errors.failed(error, sale, false)
  }
}

function assertPaid(sale: Sale, { errors }: Pick<Delivery<never, never>, 'errors'>): void {
  if (sale.state === 'failed') throw paymentRefused(sale.reason, sale)
  if (sale.state === 'refunded') throw paymentRefunded(sale)
  if (sale.state !== 'paid') throw errors.pending(sale)
}

function sold<Value>(
  tokens: PaymentTokens,
  { token: sent }: PurchaseRequest,
  sale: Sale,
  { value, fresh }: Pick<Sold<Value>, 'value' | 'fresh'>,
): Sold<Value> {
  const isIts = sent !== null && tokens.matches(sale.id, sale.tokenHash, sent)
  return { sale, value, token: isIts ? sent : tokens.of(sale.id), fresh }
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : 'internal'
}

const SPARE_MS = 30_000
