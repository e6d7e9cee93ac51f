import type { Payment } from '../model.ts'
import { nextLook, remainingOf, UNSIGNED_MS } from '../rules.ts'
import type { Outcome } from '../../transfers/model.ts'
import { outcomeOf } from '../../transfers/service/outcome.ts'
import type { OutgoingPaymentDeps } from './deps.ts'
import type { Ending } from './end.ts'
import { outcomeOfFunding, type Funding } from './fund.ts'

/** Asks the chain about payments, and ends those where its answer is final. */
export function createReconciling(deps: ReconcilingDeps) {
  const { store, chainOf, clock, log, measures, confirmations, funding, ending } = deps

  /**
   * A hold is captured when its authorization was used and lies deep enough, and given back when it can never be used:
   * the nodes agree that it is unused past its time, or that its payer canceled it. In between it stays held,
   * however long. One that is being funded goes on; one that is not signed in time is given back.
   */
  async function reconcile(payment: Payment): Promise<void> {
    switch (payment.state) {
      case 'reserved':
      case 'funded':
        return await expireUnsigned(payment)
      case 'funding':
        await funding.step(payment)
        return
      default:
        return await follow(payment)
    }
  }

  async function follow(payment: Payment): Promise<void> {
    const { id } = payment
    const outcome = await outcomeOfPayment(payment)
    if (outcome === null) return
    switch (outcome.state) {
      case 'used': {
        const { hash, blockNumber } = outcome.use
        await (outcome.final ? ending.settle(payment, hash, blockNumber) : store.seen(id, hash, soon(SOON_MS)))
        return
      }
      // Canceled by its payer's own key: nothing has moved, and nothing can.
      case 'spent':
      case 'over':
        return await giveBack(payment, 'expired')
      case 'open':
      case 'ending':
        return await store.seen(id, null, soon(LATER_MS))
      case 'unclear':
        return await lookAgain(payment)
    }
  }

  /** Null without a chain. */
  async function outcomeOfPayment(payment: Payment): Promise<Outcome | null> {
    const { network, payer: from, nonce, validBefore, seenBlock } = payment
    const chain = chainOf(network)
    if (chain === null) return null
    return await outcomeOf(chain, { from, nonce, validBefore, pays: null, seenBlock }, confirmations)
  }

  /** Not signed, and never signed once this is written: there is nothing to wait for. */
  async function expireUnsigned(payment: Payment): Promise<void> {
    if (clock.now().getTime() - payment.createdAt.getTime() >= UNSIGNED_MS) await giveBack(payment, 'not_signed')
    else await lookAgain(payment)
  }

  /** What is spare at the payer is what the nodes agree has arrived. */
  async function giveBack(payment: Payment, reason: 'expired' | 'not_signed'): Promise<void> {
    const { network, funding } = payment
    if (funding === null) {
      await ending.giveBack(payment, reason, remainingOf(payment, true))
      return
    }
    const chain = chainOf(network)
    const outcome = chain === null ? null : await outcomeOfFunding(chain, payment, confirmations)
    const hasArrived = outcome?.state === 'used'
    if (!hasArrived && outcome?.state !== 'spent' && outcome?.state !== 'over') return await lookAgain(payment)
    await ending.giveBack(payment, reason, remainingOf(payment, hasArrived))
  }

  function lookAgain({ id }: Payment): Promise<void> {
    return store.seen(id, null, soon(SOON_MS))
  }

  function soon(ms: number): Date {
    return new Date(clock.now().getTime() + ms)
  }

  /**
   * Nodes that agreed may have been wrong together. A payment that was made after all is a loss of the operator: the
   * seller has the money, and its account could spend what was held for it.
   */
  async function check(payment: Payment): Promise<void> {
    const { id, endedAt } = payment
    const outcome = await outcomeOfPayment(payment)
    if (outcome === null || endedAt === null || outcome.state === 'unclear') return
    if (outcome.state === 'spent') return await store.checked(id, null)
    if (outcome.state !== 'used') return await store.checked(id, nextLook(endedAt, clock.now()))
    if (!outcome.final || !(await store.lost(payment, outcome.use))) return
    measures.count('outgoing_payment_lost')
    log.error(
      { paymentId: id, amount: String(payment.amount), txHash: outcome.use.hash },
      'a payment was made after its hold had been given back; its amount is a loss of the operator',
    )
  }

  /** All that are due, some at once; a network that is away delays only its own. */
  async function reconcileDue(): Promise<void> {
    const now = clock.now()
    await all('open', now, reconcile)
    await all('returned', now, check)
  }

  /** What is due again before all have been looked at waits for the next turn, or this one might never end. */
  async function all(which: 'open' | 'returned', now: Date, look: (payment: Payment) => Promise<void>): Promise<void> {
    for (;;) {
      const due = await store.due(which, { now, until: soon(LATER_MS), limit: BATCH })
      for (let at = 0; at < due.length; at += AT_ONCE) {
        await Promise.all(
          due.slice(at, at + AT_ONCE).map(async (payment) => {
            await look(payment).catch((error: unknown) => {
              log.warn({ err: error, paymentId: payment.id }, 'The chain could not be read for a payment.')
            })
          }),
        )
      }
      if (due.length < BATCH) return
    }
  }

  return { reconcile, reconcileDue }
}

export type Reconciling = ReturnType<typeof createReconciling>

type ReconcilingDeps = Pick<
  OutgoingPaymentDeps,
  'store' | 'chainOf' | 'clock' | 'log' | 'measures' | 'confirmations'
> & {
  funding: Funding
  ending: Ending
}

const SOON_MS = 2_000
const LATER_MS = 5_000
const BATCH = 100
const AT_ONCE = 8
