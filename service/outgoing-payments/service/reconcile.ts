import { REORG_SECONDS } from '../../chain/networks.ts'
import type { Payment } from '../model.ts'
import type { ChainOf } from '../ports.ts'
import { fundingNonce, nextLook, remainingOf, UNSIGNED_MS } from '../rules.ts'
import type { OutgoingPaymentDeps } from './deps.ts'
import type { Ending } from './end.ts'
import type { Funding } from './fund.ts'

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
    const { id, payer, nonce, validBefore, seenBlock } = payment
    const chain = chainOf(payment.network)
    if (chain === null) return
    const head = await chain.head()
    if ((await chain.authorization(payer, nonce)).used) {
      const use = await chain.findUse(payer, nonce, seenBlock)
      if (use === null) return await lookAgain(payment)
      // The head may be a second older than what was found in it.
      const depth = head.number < use.blockNumber ? 1n : head.number - use.blockNumber + 1n
      if (depth < BigInt(confirmations)) {
        return await store.seen(id, use.cancelled ? null : use.hash, soon(SOON_MS))
      }
      // Canceled by its payer's own key: nothing has moved, and nothing can.
      if (use.cancelled) return await giveBackUnused(payment, chain)
      await ending.settle(payment, use.hash, use.blockNumber)
    } else if (head.timestamp > validBefore + REORG_SECONDS) await giveBackUnused(payment, chain)
    else await store.seen(id, null, soon(LATER_MS))
  }

  /** The state may come from a node that lags behind the one that named the block, so the others are asked as well. */
  async function giveBackUnused(payment: Payment, chain: PaymentChain): Promise<void> {
    const { payer, nonce, validBefore, seenBlock } = payment
    const past = validBefore + REORG_SECONDS
    const agreed = await chain.agreedUse({ payer, nonce, from: seenBlock, past })
    const isUnused = agreed.known && (agreed.use === null ? !agreed.used : agreed.use.cancelled)
    await (isUnused ? giveBack(payment, 'expired') : lookAgain(payment))
  }

  /** Not signed, and never signed once this is written: there is nothing to wait for. */
  async function expireUnsigned(payment: Payment): Promise<void> {
    if (clock.now().getTime() - payment.createdAt.getTime() >= UNSIGNED_MS) await giveBack(payment, 'not_signed')
    else await lookAgain(payment)
  }

  /** What is spare at the payer is what the nodes agree has arrived. */
  async function giveBack(payment: Payment, reason: 'expired' | 'not_signed'): Promise<void> {
    const { id, network, funding } = payment
    if (funding === null) {
      await ending.giveBack(payment, reason, remainingOf(payment, true))
      return
    }
    const { from: payer, seenBlock: from, validBefore: past } = funding
    const agreed = await chainOf(network)?.agreedUse({ payer, nonce: fundingNonce(id), from, past })
    if (agreed?.known !== true || (agreed.used && agreed.use === null)) return await lookAgain(payment)
    const hasArrived = agreed.use?.cancelled === false
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
    const { id, payer, nonce, seenBlock, endedAt } = payment
    const chain = chainOf(payment.network)
    if (chain === null || endedAt === null) return
    const { used } = await chain.authorization(payer, nonce)
    if (!used) return await store.checked(id, nextLook(endedAt, clock.now()))
    const use = await chain.findUse(payer, nonce, seenBlock)
    if (use === null) return
    if (use.cancelled) return await store.checked(id, null)
    if ((await chain.head()).number - use.blockNumber + 1n < BigInt(confirmations)) return
    if (!(await store.lost(payment, use))) return
    measures.count('outgoing_payment_lost')
    log.error(
      { paymentId: id, amount: String(payment.amount), txHash: use.hash },
      'a payment was made after its hold had been given back; its amount is a loss of the operator',
    )
  }

  /** All that are due, some at once; a network that is away delays only its own. */
  async function reconcileDue(): Promise<void> {
    await all('open', reconcile)
    await all('returned', check)
  }

  async function all(which: 'open' | 'returned', look: (payment: Payment) => Promise<void>): Promise<void> {
    for (;;) {
      const due = await store.due(which, { now: clock.now(), until: soon(LATER_MS), limit: BATCH })
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

type PaymentChain = NonNullable<ReturnType<ChainOf>>

const SOON_MS = 2_000
const LATER_MS = 5_000
const BATCH = 100
const AT_ONCE = 8
