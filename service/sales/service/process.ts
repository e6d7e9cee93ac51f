import { paymentRefused } from '../errors.ts'
import type { Sale } from '../model.ts'
import { isOver } from '../rules.ts'
import type { PurchaseRequest, Delivery, Made, Product, SellingDeps, Sold } from './deps.ts'
import { createSettling, NOTHING_DELIVERED, NOTHING_HANDED_OVER } from './settle.ts'

/**
 * A sale that is ours alone until its lease is over, from wherever it stands to its answer. What is delivered first is
 * made, stored, paid for and handed over: nothing is charged for an answer that never came, and nothing is given away
 * before it is paid. Where the money comes first, the answer is owed until it was handed over.
 */
export function createProcessing<Order extends PurchaseRequest, Value>(
  deps: SellingDeps,
  product: Product<Order, Value>,
) {
  const { journal, tokens, clock, log, failpoints, settleMs } = deps
  const settle = createSettling(deps)

  async function processSale(order: Order, sale: Sale, payFirst: boolean): Promise<Sold<Value>> {
    const { delivery } = product
    // An error now leaves the outcome unknown: the sweeper continues.
    if (delivery === null) return sold(order, await settled(sale, () => payOnly(sale)), { value: null, fresh: false })
    try {
      if (sale.state === 'claimed' && !payFirst) return await deliverFirst(order, sale, delivery)
      return await owed(order, await paidFirst(order, sale, delivery), delivery)
    } catch (error) {
      await leave(sale)
      throw error
    }
  }

  /** While another request processes the sale: waits for the same payment, and restores the stored answer. */
  async function join(order: Order, sale: Sale, delivery: Delivery<Order, Value>): Promise<Sold<Value>> {
    const ended = await settled(sale, () => settle(sale, NOTHING_HANDED_OVER, settleMs))
    assertPaid(ended, delivery)
    const stored = await journal.answerOf(sale.id)
    if (stored === null) throw delivery.errors.busy(sale)
    return sold(order, ended, { value: await delivery.restore(stored, ended, order), fresh: false })
  }

  async function deliverFirst(order: Order, sale: Sale, delivery: Delivery<Order, Value>): Promise<Sold<Value>> {
    const made = await make(order, sale, { delivery, paid: false })
    try {
      const { answer, bodyHash, details } = made
      if (!(await journal.settling(sale.id, { answer, bodyHash, details }, until()))) throw delivery.errors.busy(sale)
      await failpoints.reach('sale settling')
      const handover = answer === null ? 'begun' : 'none'
      const settling: Sale = { ...sale, state: 'settling', details: details ?? sale.details }
      const ended = await settled(settling, () => settle(settling, { handover, note: made.note }, settleMs))
      assertPaid(ended, delivery)
      return sold(order, ended, { value: made.value, fresh: true })
    } catch (error) {
      made.discard()
      throw error
    }
  }

  /** From the moment at which the chain is asked nothing is taken back. */
  async function paidFirst(order: Order, sale: Sale, delivery: Delivery<Order, Value>): Promise<Sale> {
    if (sale.state === 'claimed') {
      await leaveOrRelease(order, sale, delivery)
      if (!(await journal.settling(sale.id, NOTHING_DELIVERED, until()))) throw delivery.errors.busy(sale)
      await failpoints.reach('sale settling')
    }
    if (isOver(sale)) return sale
    const settling: Sale = { ...sale, state: 'settling' }
    const ended = await settled(settling, () => settle(settling, NOTHING_HANDED_OVER, settleMs))
    assertPaid(ended, delivery)
    return ended
  }

  /** Who hangs up before the chain was asked has bought nothing. */
  async function leaveOrRelease({ departure }: Order, sale: Sale, { errors }: Delivery<Order, Value>): Promise<void> {
    try {
      departure.leave()
    } catch (error) {
      await journal.release(sale.id, codeOf(error))
      throw errors.failed(error, sale, false)
    }
  }

  async function payOnly(sale: Sale): Promise<Sale> {
    if (isOver(sale)) return sale
    if (sale.simulated) return await settle(sale, NOTHING_HANDED_OVER)
    // Without a lease, so that the sweeper may continue at once.
    if (sale.state === 'claimed') await journal.settling(sale.id, NOTHING_DELIVERED, null)
    await failpoints.reach('sale settling')
    return await settle({ ...sale, state: 'settling' }, NOTHING_HANDED_OVER, settleMs)
  }

  /** Paid, and nothing of an answer has gone out: the one that is stored, else a new one. */
  async function owed(order: Order, sale: Sale, delivery: Delivery<Order, Value>): Promise<Sold<Value>> {
    const stored = await journal.answerOf(sale.id)
    if (stored !== null) return sold(order, sale, { value: await delivery.restore(stored, sale, order), fresh: false })
    const made = await make(order, sale, { delivery, paid: true })
    const { answer, bodyHash } = made
    // A buyer who hangs up now fetches this one later: nothing is done twice for one payment.
    if (answer === null) await journal.begun(sale.id)
    else if (!(await journal.store(sale.id, answer, bodyHash))) throw delivery.errors.busy(sale)
    await failpoints.reach('sale delivered')
    return sold(order, sale, { value: made.value, fresh: true })
  }

  /** Where it fails, what was not charged is free, and what was is owed. */
  async function make(
    order: Order,
    sale: Sale,
    { delivery, paid }: { delivery: Delivery<Order, Value>; paid: boolean },
  ): Promise<Made<Value>> {
    try {
      return await delivery.make(order, sale, paid)
    } catch (error) {
      if (!paid) await journal.release(sale.id, codeOf(error))
      throw delivery.errors.failed(error, sale, paid)
    }
  }

  /** After the chain was asked an error leaves the outcome unknown; the sweeper finds out. */
  async function settled(sale: Sale, act: () => Promise<Sale>): Promise<Sale> {
    try {
      return await act()
    } catch (error) {
      log.error({ sale: sale.id, err: error }, 'a sale could not be processed; the sweeper resumes it')
      return sale
    }
  }

  function assertPaid(sale: Sale, { errors }: Delivery<Order, Value>): void {
    if (sale.state === 'failed') throw paymentRefused(sale.reason ?? UNKNOWN, sale)
    if (sale.state !== 'paid') throw errors.pending(sale)
  }

  async function leave({ id }: Sale): Promise<void> {
    await journal.leave(id).catch((error: unknown) => {
      log.error({ sale: id, err: error }, 'the lease of a sale could not be released; it will expire')
    })
  }

  function sold(
    { token: sent }: Order,
    sale: Sale,
    { value, fresh }: Pick<Sold<Value>, 'value' | 'fresh'>,
  ): Sold<Value> {
    const isIts = sent !== null && tokens.matches(sale.id, sale.tokenHash, sent)
    return { sale, value, token: isIts ? sent : tokens.of(sale.id), fresh }
  }

  /** Longer than the work and the chain may take together, so that no other process takes the sale over. */
  function until(): Date {
    return new Date(clock.now().getTime() + (product.delivery?.makingMs ?? 0) + settleMs + SPARE_MS)
  }

  return { processSale, join, settle, until }
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : 'internal'
}

const UNKNOWN = 'invalid_exact_evm_transaction_failed'
const SPARE_MS = 30_000
