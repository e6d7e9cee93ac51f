import { paymentRefused } from '../errors.ts'
import type { Sale } from '../model.ts'
import type { Ask, Made, Product, SellingDeps, Sold } from './deps.ts'
import { createSettling } from './settle.ts'

/**
 * A sale that is ours alone until its lease is over, from wherever it stands to its answer. What is delivered first is
 * made, stored, paid for and handed over: nothing is charged for an answer that never came, and nothing is given away
 * before it is paid. Where the money comes first, the answer is owed until it was handed over.
 */
export function createCarrying<Asked extends Ask, Value>(deps: SellingDeps, product: Product<Asked, Value>) {
  const { journal, tokens, clock, log, failpoints, settleMs } = deps
  const settle = createSettling(deps)

  async function carry(ask: Asked, sale: Sale, payFirst: boolean): Promise<Sold<Value>> {
    try {
      if (sale.state === 'claimed' && !payFirst) return await deliverFirst(ask, sale)
      const paid = await paidFirst(ask, sale)
      return product.deliver === null ? sold(paid, null, false) : await owed(ask, paid)
    } catch (error) {
      await leave(sale)
      throw error
    }
  }

  /** Beside somebody who is at it: waits for the same payment, and has the answer that is stored. Does no work. */
  async function join(ask: Asked, sale: Sale): Promise<Sold<Value>> {
    const ended = await settled(sale, () => settle(sale, NOTHING_HANDED_OVER, settleMs))
    assertPaid(ended)
    const stored = await journal.answerOf(sale.id)
    if (stored === null) throw product.errors.busy(sale)
    return sold(ended, await product.restore(stored, ended, ask), false)
  }

  async function deliverFirst(ask: Asked, sale: Sale): Promise<Sold<Value>> {
    const made = await make(ask, sale, false)
    try {
      const { answer, bodyHash, details } = made
      if (!(await journal.settling(sale.id, { answer, bodyHash, details }, until()))) throw product.errors.busy(sale)
      await failpoints.reach('sale settling')
      const handover = answer === null ? 'begun' : 'none'
      const settling: Sale = { ...sale, state: 'settling', details: details ?? sale.details }
      const ended = await settled(settling, () => settle(settling, { handover, note: made.note }, settleMs))
      assertPaid(ended)
      return sold(ended, made.value, true)
    } catch (error) {
      made.discard()
      throw error
    }
  }

  /** From the moment at which the chain is asked nothing is taken back. */
  async function paidFirst(ask: Asked, sale: Sale): Promise<Sale> {
    if (sale.state === 'paid' || sale.state === 'failed') return sale
    if (sale.state === 'claimed') {
      await leaveOrRelease(ask, sale)
      const nothing = { answer: null, bodyHash: null, details: null }
      if (!(await journal.settling(sale.id, nothing, until()))) throw product.errors.busy(sale)
      await failpoints.reach('sale settling')
    }
    const settling: Sale = { ...sale, state: 'settling' }
    const ended = await settled(settling, () => settle(settling, NOTHING_HANDED_OVER, settleMs))
    if (product.deliver !== null) assertPaid(ended)
    return ended
  }

  /** Who hangs up before the chain was asked has bought nothing. */
  async function leaveOrRelease({ departure }: Asked, sale: Sale): Promise<void> {
    try {
      departure.leave()
    } catch (error) {
      if (product.deliver !== null) await journal.release(sale.id, codeOf(error))
      throw product.errors.failed(error, sale, false)
    }
  }

  /** Paid, and nothing of an answer has gone out: the one that is stored, else a new one. */
  async function owed(ask: Asked, sale: Sale): Promise<Sold<Value>> {
    const stored = await journal.answerOf(sale.id)
    if (stored !== null) return sold(sale, await product.restore(stored, sale, ask), false)
    const made = await make(ask, sale, true)
    const { answer, bodyHash } = made
    // Whoever hangs up now fetches this one: nothing is done twice for one payment.
    if (answer === null) await journal.begun(sale.id)
    else if (!(await journal.store(sale.id, answer, bodyHash))) throw product.errors.busy(sale)
    await failpoints.reach('sale delivered')
    return sold(sale, made.value, true)
  }

  /** Where it fails, what was not charged is free, and what was is owed. */
  async function make(ask: Asked, sale: Sale, paid: boolean): Promise<Made<Value>> {
    if (product.deliver === null) throw new Error('this product delivers by itself')
    try {
      return await product.deliver(ask, sale, paid)
    } catch (error) {
      if (!paid) await journal.release(sale.id, codeOf(error))
      throw product.errors.failed(error, sale, paid)
    }
  }

  /** Whatever goes wrong once the chain was asked is not known yet; the sweeper finds out. */
  async function settled(sale: Sale, act: () => Promise<Sale>): Promise<Sale> {
    try {
      return await act()
    } catch (error) {
      log.error({ sale: sale.id, err: error }, 'a sale could not be carried on; the sweeper does')
      return sale
    }
  }

  function assertPaid(sale: Sale): void {
    if (sale.state === 'failed') throw paymentRefused(sale.reason ?? UNKNOWN, sale)
    if (sale.state !== 'paid') throw product.errors.pending(sale)
  }

  async function leave({ id }: Sale): Promise<void> {
    await journal.leave(id).catch((error: unknown) => {
      log.error({ sale: id, err: error }, 'a sale could not be left to others; its lease ends by itself')
    })
  }

  function sold(sale: Sale, value: Value | null, fresh: boolean): Sold<Value> {
    return { sale, value, token: tokens.of(sale.id), fresh }
  }

  /** Longer than the work and the chain may take together: nobody takes over what is worked on. */
  function until(): Date {
    return new Date(clock.now().getTime() + product.makingMs + settleMs + SPARE_MS)
  }

  return { carry, join, settle, until }
}

export const NOTHING_HANDED_OVER = { handover: 'none', note: null } as const

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : 'internal'
}

const UNKNOWN = 'invalid_exact_evm_transaction_failed'
const SPARE_MS = 30_000
