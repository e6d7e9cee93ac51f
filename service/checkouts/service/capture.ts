import { accountOf, type Caller } from '../../kit/caller.ts'
import { DomainError } from '../../kit/errors.ts'
import { deriveId, isId, type Id } from '../../kit/ids.ts'
import type { Statements } from '../../kit/transaction.ts'
import { isFree, isGoingBack, type Sale, type WorkResult } from '../../sales/model.ts'
import type { Announcement } from '../../queue/model.ts'
import { outcomeKnown, paymentMissing } from '../errors.ts'
import { explanationIn, failed, isCapturedLate, isRefusal, outcomeOf, succeeded } from '../rules/capture.ts'
import { paymentOf } from '../rules/lifecycle.ts'
import { planIn } from '../rules/plans.ts'
import { versionOf } from '../rules/versions.ts'
import type { SellingDeps } from '../../sales/service/deps.ts'
import type { CheckoutDeps } from './deps.ts'
import { noticeOf, turnOfSeller, type Sold } from './notices.ts'

/** What a seller says about the work that a payment bought. */
export interface Report {
  status: 'succeeded' | 'failed'
  /** For the buyer: the result, or why it failed. */
  answer: string | null
}

/**
 * Charges a held payment once its workflow has succeeded, and gives it up where it has failed or takes too long. Each
 * step may be repeated, in any process: the sale's row decides once.
 */
export function createCapturing(deps: CapturingDeps) {
  const { selling, holding, deliveries, announce, store, clock, log } = deps
  const { journal } = selling
  const refundFailed = refundingFailed(deps)

  async function end(sale: Sale, result: WorkResult): Promise<void> {
    const { id } = sale
    if (result.status === 'succeeded') {
      await holding.capture(id, result)
      return
    }
    if ((await holding.giveUp(id, result)) !== null)
      log.info({ sale: id, reason: result.reason }, 'an order was given up')
  }

  /** A workflow that has not started does not start any more. */
  async function stop(payment: string): Promise<void> {
    await store.inTransaction((inside) => deliveries.stop(inside, deliveryOf(payment), 'work_failed'))
  }

  async function look(sales: readonly Sale[]): Promise<void> {
    const delivered = await deliveries.bySubject(
      null,
      sales.map(({ id }) => id),
    )
    const now = clock.now()
    const outcomes = await Promise.allSettled(
      sales.map(async (sale) => {
        const result = outcomeOf(sale, delivered.get(sale.id), now)
        if (result !== null) await end(sale, result)
      }),
    )
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') log.error({ err: outcome.reason }, 'a held payment could not be ended')
    }
  }

  /** The delivery of this payment has ended, in whatever way. */
  async function ended(payment: string): Promise<void> {
    const sale = isId('pay', payment) ? await journal.findById(payment) : null
    if (sale?.product !== 'checkout') return
    if (sale.state === 'held') return await look([sale])
    if (sale.state !== 'paid' || isCapturedLate(sale)) return
    if (sale.result?.status === 'failed') return await refundFailed(sale)
    // The buyer has the result. What the workflow does afterwards may fail, and so may a second delivery.
    if (sale.result?.status === 'succeeded') return
    const delivery = (await deliveries.bySubject(null, [payment])).get(payment)
    // It may have been redelivered meanwhile.
    if (delivery === undefined || !FAILED.has(delivery.state)) return
    if (isRefusal(delivery)) {
      const explained = explanationIn(delivery.answer)
      await holding.report(payment, failed('workflow_failed', explained, clock.now()))
    }
    await refundFailed(sale)
  }

  return {
    ended,

    /** Runs in the transaction in which a delivery ended without a confirmation. */
    async deliveryFailed(inside: Statements, target: string, sold: Sold): Promise<void> {
      if (!isId('chk', target)) return
      await announce(inside, [failedWorkOf(sold), noticeOf(sold, 'failure')])
    },

    /** In the transaction in which all of a payment was held for its payer, or went back. */
    async returning(inside: Statements, { id, product }: Sale): Promise<void> {
      if (product === 'checkout') await deliveries.stop(inside, deliveryOf(id), 'payment_refunded')
    },

    async sweep(): Promise<void> {
      const due = await holding.due('checkout')
      if (due.length > 0) await look(due)
    },

    /** The workflow would run again for a payment that was given up or goes back: nothing pays for that. */
    async mayRedeliver(inside: Statements, payment: string): Promise<boolean> {
      const sale = isId('pay', payment) ? await holding.lock(inside, payment) : null
      return sale?.product !== 'checkout' || (sale.state === 'paid' && !isGoingBack(sale))
    },

    /** A paid order that failed is worked on again, so its outcome is open again. */
    async redelivered(inside: Statements, payment: string): Promise<void> {
      if (!isId('pay', payment)) return
      await holding.reopen(inside, payment)
      await store.setFailureAside(inside, payment)
    },

    /** The seller reports how the work ended. The first report counts; the same one again changes nothing. */
    async report(caller: Caller, payment: string, { status, answer }: Report): Promise<Sale> {
      const sale = await ownSale(journal, caller, payment)
      const now = clock.now()
      const result = status === 'succeeded' ? succeeded(answer, now) : failed('workflow_failed', answer, now)
      if (sale.state === 'held') await end(sale, result)
      else if (sale.state === 'paid' && sale.result === null && (await holding.report(payment, result))) {
        if (status === 'failed') await refundFailed(sale)
      }
      const after = await journal.findById(payment)
      if (after === null) throw paymentMissing()
      if (after.result?.status !== status || after.result.answer !== answer) throw outcomeKnown(after)
      // Also at a repetition: the process may have ended between the two.
      if (status === 'failed') await stop(payment)
      return after
    },
  }
}

/** The sale of one of the caller's checkouts. Throws where there is none. */
export async function ownSale(
  journal: Pick<SellingDeps['journal'], 'findById'>,
  caller: Caller,
  payment: string,
): Promise<Sale> {
  const { userId, environment } = accountOf(caller)
  const sale = isId('pay', payment) ? await journal.findById(payment) : null
  if (sale?.product !== 'checkout' || sale.userId !== userId || sale.environment !== environment) throw paymentMissing()
  return sale
}

/** With `refundOnFailure` the money of work that has failed goes back, once. */
function refundingFailed({ selling, refunds, passes, store, log }: CapturingDeps): (sale: Sale) => Promise<void> {
  return async (sale) => {
    const checkout = await store.find(sale.subject, versionOf(sale))
    if (checkout?.refundOnFailure !== true) return
    if (isFree(sale)) {
      await selling.journal.giveBack(sale.id)
      return
    }
    const refund = { saleId: sale.id, amount: null, reason: 'The workflow failed.', by: 'rule', owner: null } as const
    const assert = async (inside: Statements): Promise<void> => {
      if (planIn(sale) !== null && (await passes.isUsed(inside, sale.id))) throw new PlanUsed()
    }
    try {
      // The operation of the sale itself: the rule refunds a payment once.
      await refunds.request({ ...refund, assert }, deriveId('op', paymentOf(sale).id))
    } catch (error) {
      if (error instanceof PlanUsed) return await passes.giveFirstBack(sale.id)
      if (!(error instanceof DomainError) || error.kind !== 'conflict') throw error
      log.info({ sale: sale.id, code: error.code }, 'a failed order could not be refunded by its rule')
    }
  }
}

/** Its buyer keeps the rest of the plan, so the run that has failed comes back instead of the money. */
class PlanUsed extends Error {}

type CapturingDeps = Pick<
  CheckoutDeps,
  'selling' | 'holding' | 'deliveries' | 'announce' | 'refunds' | 'passes' | 'store' | 'clock' | 'log'
>

function deliveryOf(payment: string): Id<'dlv'> {
  return deriveId('dlv', payment as Id<'pay'>)
}

/** The topic of payments whose delivery or work has failed. */
export const OUTCOME = 'checkouts.outcome'

export function failedWorkOf(sold: Sold): Announcement {
  return { topic: OUTCOME, payload: { paymentId: sold.id }, turn: turnOfSeller(sold) }
}

const FAILED: ReadonlySet<string> = new Set(['unconfirmed', 'stopped', 'exhausted'])
