import { transactionUrl } from '../../chain/networks.ts'
import { DomainError } from '../../kit/errors.ts'
import { deriveId, type Id } from '../../kit/ids.ts'
import { toWire, usdc, ZERO, type Usdc } from '../../kit/money.ts'
import type { Owner } from '../../kit/owner.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Sale } from '../../sales/model.ts'
import { paymentMissing, receivedHere, refundConflict, runUnderWay } from '../errors.ts'
import type { ReceiptRefund, Refund, RefundRequest } from '../model.ts'
import {
  amountOf,
  assertLeast,
  assertOneMore,
  isOverdue,
  isPaidByAnswer,
  isRefusal,
  nextTry,
  ownTermsOf,
  refundNonce,
  sellerOf,
  waitOf,
  wayOf,
} from '../rules.ts'
import { createMoving, type RefundDeps } from './moving.ts'
import { createOwnRefunds } from './own.ts'

/**
 * Refunds of settled sales. The money is paid by the machine that pays withdrawals: its payout has the refund's id.
 * Every transaction here locks the sale first, then the refund, then what the ledger and the outflow lock.
 */
export function createRefunds(deps: RefundDeps) {
  const { store, sales, methods, clock, measures, failpoints } = deps
  const moving = createMoving(deps)
  const own = createOwnRefunds(deps, moving)

  /**
   * Writes the refund, and holds its money if the balance suffices. Too low a balance, a limit of the day and paused
   * payouts are no refusal: the refund is counted, and waits. The same operation gives the same refund again.
   */
  async function request(input: RefundRequest, operation: Id<'op'>): Promise<Refund> {
    const id = deriveId('rfd', operation)
    const named = { ...input, id, keyHash: await keyOf(deps, id, input) }
    let refund: Refund
    try {
      refund = await write(named, null)
    } catch (error) {
      const wait = waitOf(error)
      // What the seller signs needs no balance, so it waits for nothing.
      if (wait === null || input.own !== undefined) throw error
      refund = await write(named, wait)
    }
    await failpoints.reach('refund requested')
    return refund
  }

  async function write(input: NamedRequest, wait: ReturnType<typeof waitOf>): Promise<Refund> {
    const { id } = input
    return await store.together(async (inside) => {
      const sale = await sales.lock(inside, input.saleId)
      if (sale === null || !isOf(sale, input.owner)) throw paymentMissing()
      const found = await store.find(id, inside)
      if (found !== null) {
        if (found.saleId !== sale.id) throw refundConflict()
        return found
      }
      const now = clock.now()
      const made = await store.ofSales([sale.id], inside)
      const { nonce, before } = refundNonce(input, { made, now })
      if (before !== null) return before
      const owner = sellerOf(sale)
      await input.assert?.(inside)
      if (isPaidByAnswer(sale) && !(await sales.hasAnswer(inside, sale.id))) throw runUnderWay()
      const amount = amountOf(sale, input.amount)
      const way = methods.of(sale).simulated
        ? 'simulated'
        : wayOf(sale, await deps.accountOf(sale.payer, inside), input.own !== undefined)
      if (way === 'own' && (await moving.receives(inside, owner, sale))) throw receivedHere()
      assertLeast(amount, way, sale)
      assertOneMore(way, made)
      const waits =
        wait === null ? { waitsFor: null, missing: null, tryAt: null } : { ...wait, tryAt: nextTry(now, now) }
      const { reason, by: requestedBy } = input
      const terms = { ...waits, nonce, ...ownTermsOf(way, input.own?.seenBlock, now) }
      await store.add(inside, { id, saleId: sale.id, owner, amount, reason, requestedBy, way, ...terms, now })
      measures.count('refund_requested')
      const refund = await known(id, inside)
      if (way === 'own') await own.bind(inside, refund, sale)
      else if (wait === null) await moving.fund(inside, refund, { ...sale, refunded: usdc(sale.refunded + amount) })
      return await known(id, inside)
    })
  }

  /**
   * A requested refund: its money may be there now, or its time is over. It fails by what its last attempt says, since its
   * transfer may have been booked meanwhile. Any other error is for the log, and it is tried again later.
   */
  async function retry(id: string): Promise<void> {
    const now = clock.now()
    try {
      await moving.locked(id, whileWaiting(moving.fund))
    } catch (error) {
      const wait = waitOf(error)
      const refund = await store.find(id)
      if (refund === null) throw error
      const { waitsFor, missing } = wait ?? refund
      // First, since the chain that is asked below may not answer.
      await store.wait(id, { waitsFor, missing, tryAt: nextTry(refund.createdAt, now) })
      const failure = isRefusal(error) || isOverdue(refund, now) ? failureOf(error, refund.waitsFor) : null
      if (failure !== null && (isRefusal(error) || !(await mayHaveLeft(deps, refund)))) {
        const fail: Work = (inside, known, sale) => moving.end(inside, sale, known, { state: 'failed', failure })
        return await moving.locked(id, whileWaiting(fail))
      }
      if (wait === null) throw error
    }
  }

  async function known(id: string, inside: Statements): Promise<Refund> {
    const refund = await store.find(id, inside)
    if (refund === null) throw new Error(`the refund ${id} was not found`)
    return refund
  }

  return {
    request,
    follow: moving.follow,
    ofSale: (saleId: string, inside?: Statements) => store.ofSales([saleId], inside),
    shown: (sales: readonly RefundedSale[]) => shownOf(deps, sales),
    own,

    assertRefundable: (sale: Sale, amount?: Usdc) => assertRefundable(deps, sale, amount),
    /** Refunds that the chain ends: from the sellers' own wallets. */
    async followOwn(now: Date, signal: AbortSignal): Promise<void> {
      await each(deps, { ids: await store.dueOwn(now, OWN_MAX), signal }, own.step)
    },

    /** Refunds that wait. */
    async retryDue(now: Date, signal: AbortSignal): Promise<void> {
      await each(deps, { ids: await store.due(now, DUE_MAX), signal }, retry)
    },

    /** Follows payouts that ended without their refunds, in a process of the version before refunds. */
    async followLost(now: Date, signal: AbortSignal): Promise<void> {
      const ids = await store.open(new Date(now.getTime() - LOST_MS), DUE_MAX)
      await each(deps, { ids, signal }, async (id) => {
        const payout = await deps.payouts.payout(id)
        if (payout?.endedAt != null) await store.together((inside) => moving.follow(inside, payout))
      })
    },
  }
}

/**
 * The key that names the transfer. None of a restored database that has the key without the refund that was paid by it: in the
 * version before, the operation of the key named the transfer. Nor of one from the seller's own wallet, which pays nothing
 * unless its seller signs again.
 */
async function keyOf(
  { store, payouts }: Pick<RefundDeps, 'store' | 'payouts'>,
  id: Id<'rfd'>,
  { keyHash = null, mayHaveBegun = false, owner, own }: RefundRequest,
): Promise<Buffer | null> {
  if (keyHash === null || own !== undefined) return null
  if (!mayHaveBegun || owner === null || (await store.find(id)) !== null) return keyHash
  return (await payouts.hasLeft({ id }, owner.environment)) ? null : keyHash
}

/**
 * Before the database was restored: while payouts are off the operator still books what has left, and what nobody booked is
 * on the chain.
 */
async function mayHaveLeft(
  { outflow, payouts, log }: Pick<RefundDeps, 'outflow' | 'payouts' | 'log'>,
  { id, owner, way, nonce }: Refund,
): Promise<boolean> {
  if (await outflow.isPaused()) return true
  if (way !== 'wallet' || !(await payouts.hasLeft({ id, nonce }, owner.environment))) return false
  log.error({ refund: id }, 'a refund waits: its transfer has left and is not booked')
  return true
}

/** Some at a time. What cannot be continued is tried again later. */
async function each(
  { log }: Pick<RefundDeps, 'log'>,
  { ids, signal }: { ids: readonly string[]; signal: AbortSignal },
  act: (id: string) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < ids.length && !signal.aborted; at += AT_ONCE) {
    const some = ids.slice(at, at + AT_ONCE)
    for (const [place, outcome] of (await Promise.allSettled(some.map(act))).entries()) {
      if (outcome.status === 'fulfilled') continue
      const failed = { err: outcome.reason as unknown, refund: some[place] }
      log.warn(failed, 'a refund could not be continued; retrying')
    }
  }
}

/** Null where the transfer has left and is another's in the books: the refund has not failed. */
function failureOf(error: unknown, waitedFor: string | null): string | null {
  if (isRefusal(error)) return error.code
  const isHere = error instanceof DomainError && error.code !== 'payout_booked_otherwise'
  return isHere ? (waitedFor ?? error.code) : null
}

/** Nothing where another process has taken the refund further. */
function whileWaiting(work: Work): Work {
  return async (inside, refund, sale) => {
    if (refund.state === 'requested' && refund.way !== 'own') await work(inside, refund, sale)
  }
}

type Work = (inside: Statements, refund: Refund, sale: Sale) => Promise<void>

/** Throws where no refund of such a sale is accepted: whatever its amount, or of this one. */
function assertRefundable({ methods }: Pick<RefundDeps, 'methods'>, sale: Sale, amount?: Usdc): void {
  sellerOf(sale)
  const way = methods.of(sale).simulated || sale.amount === ZERO ? 'simulated' : wayOf(sale, null, false)
  if (amount !== undefined) assertLeast(amount, way, sale)
}

/** The refunds of each of these sales. */
async function shownOf(
  { store }: Pick<RefundDeps, 'store'>,
  sales: readonly RefundedSale[],
): Promise<ReadonlyMap<string, readonly ReceiptRefund[]>> {
  const all = sales.length === 0 ? [] : await store.ofSales(sales.map(({ id }) => id))
  const ofSale = ({ id }: RefundedSale): readonly Refund[] => all.filter(({ saleId }) => saleId === id)
  return new Map(sales.map((sale) => [sale.id, toShown(ofSale(sale), sale)]))
}

/** Refunds as the buyer of the sale sees them. */
function toShown(refunds: readonly Refund[], sale: RefundedSale): ReceiptRefund[] {
  return refunds.map((refund) => {
    const { id, state, amount, txHash } = refund
    return { id, state, amount: toWire(amount), txHash, explorerUrl: transactionUrl(sale.network, txHash) }
  })
}

interface NamedRequest extends RefundRequest {
  id: Id<'rfd'>
  keyHash: Buffer | null
}

type RefundedSale = Pick<Sale, 'id' | 'network'>

export type Refunds = ReturnType<typeof createRefunds>

function isOf(sale: Sale, owner: Owner | null): boolean {
  return owner === null || (sale.userId === owner.userId && sale.environment === owner.environment)
}

const AT_ONCE = 8
const DUE_MAX = 500
/** Each asks every configured node three times. */
const OWN_MAX = 100
const LOST_MS = 60_000
