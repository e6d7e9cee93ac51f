import type { Facilitator } from '../../facilitator/service/facilitator.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Publish } from '../../kit/facts.ts'
import type { Failpoints } from '../../kit/failpoints.ts'
import type { Log, Measures } from '../../kit/log.ts'
import type { Ledger } from '../../ledger/service.ts'
import type { Outflows } from '../../outflow/service.ts'
import { attemptOf, deriveId, madeAt } from '../../kit/ids.ts'
import { usdc } from '../../kit/money.ts'
import type { Owner } from '../../kit/owner.ts'
import type { Statements } from '../../kit/transaction.ts'
import { simulatedHash } from '../../methods/simulated/settle.ts'
import type { Sale } from '../../sales/model.ts'
import type { NewPayout, Withdrawal } from '../../wallet/model.ts'
import type { Refund, RefundFact } from '../model.ts'
import type {
  AccountOf,
  AnnounceEvent,
  Chains,
  Payouts,
  RefundEnd,
  RefundMethods,
  RefundStore,
  Returning,
  Sales,
} from '../ports.ts'
import { eventOf, paidTo } from '../rules.ts'

/** From a request to the money's end. */
export function createMoving(deps: RefundDeps) {
  const { store, sales, ledger, outflow, payouts, accountOf, event, publish, returning, clock, measures, pay } = deps

  /** Places the hold. A refund that moves nothing on a chain ends at once. */
  async function fund(inside: Statements, refund: Refund, sale: Sale): Promise<void> {
    const { id, amount, way } = refund
    const owner = paidTo(sale, refund.owner)
    switch (way) {
      case 'wallet': {
        const returns = await isReturn(inside, owner, sale)
        const payout = payoutOf(refund, sale, { owner, returns })
        const { id: held, transactionHash: txHash } = await payouts.hold(inside, payout)
        if (held !== id) return await end(inside, sale, refund, { state: 'confirmed', txHash })
        await store.fund(inside, id, clock.now())
        if (sale.refunded === sale.amount) await returning(inside, sale)
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
        const returns = await isReturn(inside, owner, sale)
        await outflow.take({ id, owner, kind: 'account', to: sale.payer, amount, returns }, inside)
        await end(inside, sale, refund, { state: 'confirmed', txHash: null })
        return
      }
      case 'simulated':
        await end(inside, sale, refund, { state: 'confirmed', txHash: simulatedHash(id) })
        return
      case 'own':
        throw new Error(`the refund ${id} takes nothing from a balance`)
    }
  }

  /**
   * The list of allowed addresses is for addresses that somebody names. A payer is not named, as long as what it paid
   * reached this wallet: otherwise a thief with a key could pay one of their addresses from another one.
   */
  async function isReturn(inside: Statements, owner: Owner, sale: Sale): Promise<boolean> {
    return sale.product === 'asset' || (await receives(inside, owner, sale))
  }

  /** Whether what was paid is in the seller's balance here. */
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
    const isWhole = how.state === 'confirmed' && (await closeSale(deps, inside, sale))
    if (isWhole) await returning(inside, sale)
    const refunded = how.state === 'failed' ? usdc(sale.refunded - refund.amount) : sale.refunded
    const after: Sale = { ...sale, refunded, state: isWhole ? 'refunded' : sale.state }
    const { data, ...rest } = eventOf({ refund, sale: after, now, pay })
    // A rule may derive its operation from the payment, whose own events have ids derived from it.
    const eventId = madeAt(deriveId('evt', attemptOf(id, 2)), now)
    await event(inside, { id: eventId, owner: refund.owner, data, ...rest })
    await publish(inside, { kind: 'refund.ended', refund, sale: after })
    measures.count(`refund_${how.state}`)
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
    receives,

    async read(id: string): Promise<{ refund: Refund; sale: Sale } | null> {
      return await store.together(async (inside) => {
        const refund = await store.find(id, inside)
        const sale = refund === null ? null : await sales.lock(inside, refund.saleId)
        return refund === null || sale === null ? null : { refund, sale }
      })
    },

    async locked(id: string, work: (inside: Statements, refund: Refund, sale: Sale) => Promise<void>): Promise<void> {
      await store.together((inside) => lockBoth(inside, id, (refund, sale) => work(inside, refund, sale)))
    },
  }
}

/** A sale of which all has gone back has ended as refunded. */
async function closeSale(
  { store, sales }: Pick<RefundDeps, 'store' | 'sales'>,
  inside: Statements,
  { id, amount }: Sale,
): Promise<boolean> {
  let confirmed = 0n
  for (const refund of await store.ofSales([id], inside)) if (refund.state === 'confirmed') confirmed += refund.amount
  if (confirmed === amount) await sales.markRefunded(inside, id)
  return confirmed === amount
}

/** It counts for its seller, also where the guests' wallet pays it: each costs gas. */
function payoutOf(
  { id, owner: countedOf, amount, nonce }: Refund,
  { payer: to }: Sale,
  by: Pick<NewPayout, 'owner' | 'returns'>,
) {
  return { id, kind: 'refund', countedOf, to, amount, nonce, ...by } as const
}

export type Moving = ReturnType<typeof createMoving>

type Locked = (refund: Refund, sale: Sale) => Promise<void>

const HOLD_MS = 60_000

/** The dependencies of refunds. */
export interface RefundDeps {
  store: RefundStore
  sales: Sales
  ledger: Pick<Ledger, 'reserve' | 'capture'>
  outflow: Pick<Outflows, 'take' | 'isPaused'>
  payouts: Payouts
  facilitator: Pick<Facilitator, 'verify' | 'settle' | 'purchases'>
  methods: RefundMethods
  chains: Chains
  /** What makes a transfer final. */
  confirmations: number
  accountOf: AccountOf
  event: AnnounceEvent
  publish: Publish<RefundFact>
  returning: Returning
  clock: Clock
  log: Log
  measures: Measures
  failpoints: Failpoints
  /** The address of the hosted forms. */
  pay: string
}
