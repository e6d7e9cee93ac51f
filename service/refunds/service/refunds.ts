import type { Clock } from '../../kit/clock.ts'
import { attemptOf, deriveId, type Id } from '../../kit/ids.ts'
import type { Failpoints } from '../../kit/failpoints.ts'
import type { Log, Measures } from '../../kit/log.ts'
import { usdc } from '../../kit/money.ts'
import type { Owner } from '../../kit/owner.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Ledger } from '../../ledger/service.ts'
import type { Sale } from '../../sales/model.ts'
import type { Withdrawal } from '../../wallet/model.ts'
import { paymentMissing, refundConflict, tooManyRefunds } from '../errors.ts'
import type { Refund, RefundRequest } from '../model.ts'
import type { AccountOf, AnnounceEvent, Payouts, RefundEnd, RefundEnded, RefundStore, Sales } from '../ports.ts'
import {
  amountOf,
  assertLeast,
  eventOf,
  isOverdue,
  isRefusal,
  nextTry,
  REFUNDS_MAX,
  sellerOf,
  waitOf,
  wayOf,
} from '../rules.ts'

/**
 * Refunds of settled sales. The money is paid by the machine that pays withdrawals: its payout has the refund's id.
 * Every transaction here locks the sale first, then the refund, then what the ledger and the outflow lock.
 */
export function createRefunds(deps: RefundDeps) {
  const { store, sales, clock, log, measures, failpoints } = deps
  const moving = createMoving(deps)

  /**
   * Writes the refund, and holds its money if the balance suffices. Too low a balance, a limit of the day and paused
   * payouts are no refusal: the refund is counted, and waits. The same operation gives the same refund again.
   */
  async function request(input: RefundRequest, operation: Id<'op'>): Promise<Refund> {
    const id = deriveId('rfd', operation)
    let refund: Refund
    try {
      refund = await write(id, input, null)
    } catch (error) {
      const wait = waitOf(error)
      if (wait === null) throw error
      refund = await write(id, input, wait)
    }
    await failpoints.reach('refund requested')
    return refund
  }

  async function write(id: Id<'rfd'>, input: RefundRequest, wait: ReturnType<typeof waitOf>): Promise<Refund> {
    return await store.together(async (inside) => {
      const sale = await sales.lock(inside, input.saleId)
      if (sale === null || !isOf(sale, input.owner)) throw paymentMissing()
      const before = await store.find(id, inside)
      if (before !== null) {
        if (before.saleId !== sale.id) throw refundConflict()
        return before
      }
      const owner = sellerOf(sale)
      const amount = amountOf(sale, input.amount)
      const buyer = sale.simulated ? null : await deps.accountOf(sale.payer, inside)
      const way = wayOf(sale, buyer)
      assertLeast(amount, way, sale.amount)
      if ((await store.ofSale(sale.id, inside)).length >= REFUNDS_MAX) throw tooManyRefunds(REFUNDS_MAX)
      const now = clock.now()
      const waits =
        wait === null ? { waitsFor: null, missing: null, tryAt: null } : { ...wait, tryAt: nextTry(now, now) }
      const { reason, by: requestedBy } = input
      await store.add(inside, { id, saleId: sale.id, owner, amount, reason, requestedBy, way, ...waits, now })
      measures.count('refund_requested')
      const refund = await known(id, inside)
      if (wait === null) await moving.fund(inside, refund, { ...sale, refunded: usdc(sale.refunded + amount) })
      return await known(id, inside)
    })
  }

  /** A requested refund: its money may be there now, or its time is over. */
  async function retry(id: string): Promise<void> {
    const now = clock.now()
    try {
      await moving.locked(id, async (inside, refund, sale) => {
        if (refund.state !== 'requested') return
        const { waitsFor } = refund
        if (!isOverdue(refund, now)) await moving.fund(inside, refund, sale)
        else await moving.end(inside, sale, refund, { state: 'failed', failure: waitsFor ?? 'insufficient_balance' })
      })
    } catch (error) {
      const wait = waitOf(error)
      const refund = await store.find(id)
      if (refund === null) throw error
      if (wait !== null) return await store.wait(id, { ...wait, tryAt: nextTry(refund.createdAt, now) })
      if (!isRefusal(error)) throw error
      const failure = error.code
      await moving.locked(id, (inside, known, sale) => moving.end(inside, sale, known, { state: 'failed', failure }))
    }
  }

  async function known(id: string, inside: Statements): Promise<Refund> {
    const refund = await store.find(id, inside)
    if (refund === null) throw new Error(`the refund ${id} was not found`)
    return refund
  }

  async function each(ids: readonly string[], signal: AbortSignal, act: (id: string) => Promise<void>): Promise<void> {
    for (let at = 0; at < ids.length && !signal.aborted; at += AT_ONCE) {
      const outcomes = await Promise.allSettled(ids.slice(at, at + AT_ONCE).map(act))
      const failed = outcomes.find((outcome) => outcome.status === 'rejected')
      if (failed !== undefined) log.warn({ err: failed.reason as unknown }, 'a refund could not be continued; retrying')
    }
  }

  return {
    request,
    follow: moving.follow,
    ofSale: (saleId: string, inside?: Statements) => store.ofSale(saleId, inside),

    /** Throws where no refund of such a sale is accepted, whatever its amount. */
    assertRefundable(sale: Sale): void {
      sellerOf(sale)
      wayOf(sale, null)
    },

    /** Refunds that wait. */
    async retryDue(now: Date, signal: AbortSignal): Promise<void> {
      await each(await store.due(now, DUE_MAX), signal, retry)
    },

    /** Follows payouts that ended without their refunds, in a process of the version before refunds. */
    async followLost(now: Date, signal: AbortSignal): Promise<void> {
      await each(await store.open(new Date(now.getTime() - LOST_MS), DUE_MAX), signal, async (id) => {
        const payout = await deps.payouts.payout(id)
        if (payout?.endedAt != null) await store.together((inside) => moving.follow(inside, payout))
      })
    },
  }
}

export type Refunds = ReturnType<typeof createRefunds>

/** From a request to the money's end. */
function createMoving(deps: RefundDeps) {
  const { store, sales, ledger, payouts, accountOf, event, ended, clock, measures, pay } = deps

  /** Places the hold. A refund that moves nothing on a chain ends at once. */
  async function fund(inside: Statements, refund: Refund, sale: Sale): Promise<void> {
    const { id, owner, amount, way } = refund
    switch (way) {
      case 'wallet': {
        // The list of allowed addresses is for addresses that somebody names. A payer is not named, as long as what it
        // paid reached this wallet: otherwise a thief with a key could pay one of their addresses from another one.
        const returns = sale.product === 'asset' || (await receives(inside, owner, sale))
        await payouts.hold(inside, { id, kind: 'refund', owner, to: sale.payer, amount, returns })
        await store.fund(inside, id, clock.now())
        return
      }
      case 'account': {
        const buyer = await accountOf(sale.payer, inside)
        if (buyer === null) throw new Error(`the account that paid ${sale.id} was not found`)
        const deadline = new Date(clock.now().getTime() + HOLD_MS)
        await ledger.reserve({ id, owner, amount, useCredits: false, deadline, reference: sale.id }, inside)
        const shares = [{ to: { userId: buyer.userId }, amount }]
        const capture = { hold: id, owner, amount, shares, reference: sale.id, announcements: [] }
        await ledger.capture({ ...capture, kind: 'payout' }, inside)
        await end(inside, sale, refund, { state: 'confirmed', txHash: null })
        return
      }
      case 'simulated':
        await end(inside, sale, refund, { state: 'confirmed', txHash: `simulated:${id}` })
        return
    }
  }

  async function receives(inside: Statements, owner: Owner, { recipient }: Sale): Promise<boolean> {
    return recipient !== null && (await payouts.receives(inside, owner, recipient))
  }

  /** What became of the payout, in the transaction in which it did. */
  async function follow(inside: Statements, payout: Withdrawal): Promise<void> {
    await lockBoth(inside, payout.id, async (refund, sale) => {
      switch (payout.state) {
        case 'pending':
          return
        case 'submitted':
          await store.send(inside, refund.id, clock.now())
          return
        case 'confirmed': {
          const txHash = payout.simulated ? `simulated:${refund.id}` : payout.transactionHash
          await end(inside, sale, refund, { state: 'confirmed', txHash })
          return
        }
        case 'failed':
          await end(inside, sale, refund, { state: 'failed', failure: payout.reason ?? 'expired' })
      }
    })
  }

  /** The sale is as it is before the end. */
  async function end(inside: Statements, sale: Sale, { id }: Refund, how: RefundEnd): Promise<void> {
    const now = clock.now()
    const refund = await store.end(inside, id, how, now)
    if (refund === null) return
    const isWhole = how.state === 'confirmed' && (await closeSale(inside, sale))
    const refunded = how.state === 'failed' ? usdc(sale.refunded - refund.amount) : sale.refunded
    const { data, ...rest } = eventOf({ refund, sale: { ...sale, refunded }, now, pay })
    // A rule may derive its operation from the payment, whose own events have ids derived from it.
    const eventId = deriveId('evt', attemptOf(id, 2))
    await event(inside, { id: eventId, owner: refund.owner, data, ...rest })
    await ended(inside, refund, { ...sale, refunded, state: isWhole ? 'refunded' : sale.state })
    measures.count(`refund_${how.state}`)
  }

  async function closeSale(inside: Statements, { id, amount }: Sale): Promise<boolean> {
    let confirmed = 0n
    for (const refund of await store.ofSale(id, inside)) if (refund.state === 'confirmed') confirmed += refund.amount
    if (confirmed === amount) await sales.markRefunded(inside, id)
    return confirmed === amount
  }

  async function lockBoth(inside: Statements, id: string, work: Locked): Promise<void> {
    const saleId = (await store.find(id, inside))?.saleId ?? ''
    const sale = await sales.lock(inside, saleId)
    // Read again: it may have ended while the sale was locked by another process.
    const refund = await store.find(id, inside)
    if (sale === null || refund === null) throw new Error(`the refund ${id} was not found`)
    await work(refund, sale)
  }

  return {
    fund,
    follow,
    end,

    async locked(id: string, work: (inside: Statements, refund: Refund, sale: Sale) => Promise<void>): Promise<void> {
      await store.together((inside) => lockBoth(inside, id, (refund, sale) => work(inside, refund, sale)))
    },
  }
}

type Locked = (refund: Refund, sale: Sale) => Promise<void>

function isOf(sale: Sale, owner: Owner | null): boolean {
  return owner === null || (sale.userId === owner.userId && sale.environment === owner.environment)
}

export interface RefundDeps {
  store: RefundStore
  sales: Sales
  ledger: Pick<Ledger, 'reserve' | 'capture'>
  payouts: Payouts
  accountOf: AccountOf
  event: AnnounceEvent
  ended: RefundEnded
  clock: Clock
  log: Log
  measures: Measures
  failpoints: Failpoints
  /** The address of the hosted forms. */
  pay: string
}

const AT_ONCE = 8
const DUE_MAX = 500
const LOST_MS = 60_000
const HOLD_MS = 60_000
