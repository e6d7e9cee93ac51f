import { DomainError } from '../../kit/errors.ts'
import { attemptOf, deriveId, relatedId } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Refund } from '../../refunds/model.ts'
import type { Sale } from '../../sales/model.ts'
import { disputeEnded, disputeMissing } from '../errors.ts'
import type { Decider, Dispute } from '../model.ts'
import { DAY_MS, decidedAmount, dueAction, eventOf, hasShare, isGiven, isPromised, refundOf } from '../rules.ts'
import type { DisputeDeps } from './deps.ts'

/**
 * From a decision to the end of a dispute. A refund is claimed first, then requested under an id that follows from the
 * payment and the attempt, so that a process which dies in between, or two at once, make one refund. Every transaction
 * here locks the sale before its dispute, as those of refunds do.
 */
export function createDeciding(deps: DisputeDeps) {
  const { store, sales, refunds, clock, measures, failpoints } = deps

  async function locked<T>(saleId: string, work: (inside: Statements, sale: Sale) => Promise<T>): Promise<T> {
    return await store.together(async (inside) => {
      const sale = await sales.lock(inside, saleId)
      if (sale === null) throw new Error(`the sale ${saleId} was not found`)
      return await work(inside, sale)
    })
  }

  /** The event of the end, in its transaction. Null: another process ended it. */
  async function closed(inside: Statements, dispute: Dispute | null, sale: Sale): Promise<Dispute | null> {
    if (dispute === null) return null
    const { data, ...rest } = eventOf({ dispute, sale, now: clock.now(), pay: deps.addresses.pay })
    const id = deriveId('evt', relatedId(dispute.id, 'closed'))
    await deps.event(inside, { id, owner: dispute.owner, data, ...rest })
    measures.count(`dispute_${dispute.state}`)
    return dispute
  }

  async function end(dispute: Dispute, how: { state: 'declined' | 'closed'; by: Decider; answer: string | null }) {
    return await locked(dispute.saleId, async (inside, sale) => {
      const { state, by: decidedBy, answer } = how
      const ended = await store.end(inside, dispute.id, { state, answer, decidedBy, now: clock.now() })
      return await closed(inside, ended, sale)
    })
  }

  /** Claims a refund for an open dispute, and requests it. False where the deadline has to wait. */
  async function refund(dispute: Dispute, how: Decision): Promise<boolean> {
    const claimed = await locked(dispute.saleId, async (inside, sale) => {
      const made = await refunds.ofSale(sale.id, inside)
      if (how.by === 'seller') {
        if (isPromised(dispute, made)) throw disputeEnded('refunding')
        return await claim(deps, inside, { dispute, how })
      }
      // The seller may have refunded the payment since it was read.
      if (dueAction(dispute, sale, made) !== 'refund') return 'waits'
      if (!(await hasShareLeft(deps, inside, { dispute, sale }))) return 'waits'
      const amount = decidedAmount(dispute, sale, made)
      return await claim(deps, inside, { dispute, how: { ...how, amount, answer: null } })
    })
    if (claimed === 'waits') return false
    if (claimed === null) throw disputeEnded((await store.find(dispute.id))?.state ?? 'refunding')
    await failpoints.reach('dispute claimed')
    await request(claimed)
    return true
  }

  /** Requests the refund of a claimed dispute; again and again it is the same refund. */
  async function request(dispute: Dispute): Promise<void> {
    const { id, saleId, refundAmount: amount, answer, text, decidedBy, refundId } = dispute
    if (refundId === null) throw new Error('a dispute that is being refunded names its refund')
    const by = decidedBy === 'policy' ? 'agent' : 'dispute'
    const reason = (answer ?? text ?? `Dispute ${id}: ${dispute.reason}`).slice(0, REFUND_REASON_MAX)
    try {
      await refunds.request({ saleId, amount, reason, by, owner: dispute.owner }, deriveId('op', refundId))
    } catch (error) {
      // Its transfer has left. Open again, the dispute would be paid by another refund.
      if (!(error instanceof DomainError) || error.code === 'payout_booked_otherwise') throw error
      const isRefunded = await undo(dispute, error.code)
      if (!isRefunded) throw error
    }
  }

  /** The refund was refused, so the dispute is open again. True where the payment was refunded by another request. */
  async function undo(dispute: Dispute, failure: string): Promise<boolean> {
    const now = clock.now()
    return await locked(dispute.saleId, async (inside, sale) => {
      // While the sale is locked, no process can make the refund after all.
      const made = await refunds.ofSale(sale.id, inside)
      if (made.some(({ id }) => id === dispute.refundId)) return true
      if (sale.state === 'refunded') {
        await closed(inside, await store.refunded(inside, sale.id, { refundId: null, now }), sale)
        return true
      }
      const answerBy = new Date(Math.max(dispute.answerBy.getTime(), now.getTime() + RETRY_MS))
      await store.reopen(inside, dispute.id, dispute.attempts, { failure, answerBy })
      return false
    })
  }

  /** A refund has ended, in its transaction. The sale is locked, and as it is afterwards. */
  async function follow(inside: Statements, made: Refund, sale: Sale): Promise<void> {
    const now = clock.now()
    if (made.state === 'confirmed') {
      const refundId = sale.state === 'refunded' || (await isAnswered(deps, inside, sale)) ? null : made.id
      await closed(inside, await store.refunded(inside, sale.id, { refundId, now }), sale)
      return
    }
    const dispute = await store.ofSale(sale.id, inside)
    if (dispute?.refundId !== made.id) return
    const answerBy = new Date(now.getTime() + dispute.answerDays * DAY_MS)
    await store.reopen(inside, dispute.id, dispute.attempts, { failure: made.failure ?? 'expired', answerBy })
  }

  return {
    locked,
    end,
    refund,
    request,
    follow,
    sweepers: createSweeping(deps, { locked, closed, end, refund, request, follow }),
  }
}

/** Whether the seller has refunded the part that was asked for without answering. */
async function isAnswered({ store, refunds }: DisputeDeps, inside: Statements, { id }: Sale): Promise<boolean> {
  const dispute = await store.ofSale(id, inside)
  return dispute?.state === 'open' && isGiven(dispute, await refunds.ofSale(id, inside))
}

async function hasShareLeft(
  { store, clock }: DisputeDeps,
  inside: Statements,
  { dispute: { owner, payer }, sale }: { dispute: Dispute; sale: Sale },
): Promise<boolean> {
  const since = new Date(clock.now().getTime() - DAY_MS)
  return hasShare(sale, await store.holdUnasked(inside, owner, payer, since))
}

async function claim(
  { store, clock }: DisputeDeps,
  inside: Statements,
  { dispute: { id, saleId, attempts }, how }: { dispute: Dispute; how: Claim },
): Promise<Dispute | null> {
  const now = clock.now()
  return await store.claim(inside, id, attempts, {
    refundId: refundOf(saleId, attempts + 1),
    refundAmount: how.amount,
    answer: how.answer,
    decidedBy: how.by,
    leaseUntil: new Date(now.getTime() + LEASE_MS),
    now,
  })
}

export type Deciding = ReturnType<typeof createDeciding>

/** One that fails is tried later, so that it holds up no other. */
function createSweeping({ store, sales, refunds, clock, log }: DisputeDeps, work: Work) {
  const { locked, closed, end, refund, request, follow } = work

  /** The time to answer is over. */
  async function expire(dispute: Dispute): Promise<void> {
    const now = clock.now()
    const sale = (await sales.findAll([dispute.saleId])).get(dispute.saleId)
    if (sale === undefined) throw disputeMissing()
    switch (dueAction(dispute, sale, await refunds.ofSale(sale.id))) {
      case 'refunded':
        await locked(sale.id, async (inside, current) =>
          closed(inside, await store.refunded(inside, sale.id, { refundId: null, now }), current),
        )
        return
      case 'wait':
        await store.postpone(dispute.id, new Date(now.getTime() + DAY_MS))
        return
      case 'blocked':
        return
      case 'close':
        await end(dispute, { state: 'closed', by: 'deadline', answer: dispute.answer })
        return
      case 'refund':
        if (await refund(dispute, { by: 'deadline' })) return
        await store.postpone(dispute.id, new Date(now.getTime() + DAY_MS))
    }
  }

  /** No process works on its refund: it was never requested, or ended in a process of an earlier version. */
  async function resume(dispute: Dispute): Promise<void> {
    const { id: disputeId, attempts, saleId, refundId } = dispute
    const all = await refunds.ofSale(saleId)
    const own = all.find(({ id }) => id === refundId)
    // A process of the version before may have requested it by another id.
    const made = own ?? all.find(({ id }) => id === deriveId('rfd', attemptOf(disputeId, attempts)))
    if (made === undefined) return await request(dispute)
    if (made.endedAt === null) return await store.prolong(dispute.id, new Date(clock.now().getTime() + FOLLOW_MS))
    if (own !== undefined) return await locked(saleId, (inside, sale) => follow(inside, own, sale))
    if (made.state !== 'confirmed') return await request(dispute)
    await locked(saleId, async (inside, sale) =>
      closed(inside, await store.refunded(inside, saleId, { refundId: null, now: clock.now() }), sale),
    )
  }

  async function each(
    disputes: readonly Dispute[],
    signal: AbortSignal,
    { act, later }: { act: (dispute: Dispute) => Promise<void>; later: (id: string, at: Date) => Promise<void> },
  ): Promise<void> {
    for (const dispute of disputes) {
      if (signal.aborted) return
      try {
        await act(dispute)
      } catch (err) {
        log.warn({ dispute: dispute.id, err }, 'a dispute could not be continued; retrying')
        await later(dispute.id, new Date(clock.now().getTime() + RETRY_MS))
      }
    }
  }

  return {
    async due(now: Date, signal: AbortSignal): Promise<void> {
      await each(await store.due(now, AT_MOST), signal, { act: expire, later: (id, at) => store.postpone(id, at) })
    },
    async left(now: Date, signal: AbortSignal): Promise<void> {
      await each(await store.left(now, AT_MOST), signal, { act: resume, later: (id, at) => store.prolong(id, at) })
    },
  }
}

type Decision = { by: 'deadline' } | ({ by: 'seller' } & Omit<Claim, 'by'>)

interface Claim {
  /** Null: all that is left. */
  amount: Usdc | null
  by: Decider
  answer: string | null
}

interface Work {
  locked<T>(saleId: string, work: (inside: Statements, sale: Sale) => Promise<T>): Promise<T>
  closed(inside: Statements, dispute: Dispute | null, sale: Sale): Promise<Dispute | null>
  end(dispute: Dispute, how: { state: 'closed'; by: Decider; answer: string | null }): Promise<unknown>
  refund(dispute: Dispute, how: Decision): Promise<boolean>
  request(dispute: Dispute): Promise<void>
  follow(inside: Statements, made: Refund, sale: Sale): Promise<void>
}

/** Longer than requesting a refund takes. */
export const LEASE_MS = 60_000
const RETRY_MS = 3_600_000
/** A refund that waits tells the dispute its end by itself. */
const FOLLOW_MS = 6 * 3_600_000
const AT_MOST = 200
const REFUND_REASON_MAX = 500
