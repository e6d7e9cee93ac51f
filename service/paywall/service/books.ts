import type { Clock } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import { again, type Statements } from '../../kit/transaction.ts'
import type { Owner } from '../../kit/owner.ts'
import type { Payment, Tier } from '../model.ts'
import type { Books, DeliveryPort, PaymentStore, Purchases } from '../ports.ts'
import { eventsOf, failureOf } from '../rules/payment.ts'
import { nextTier, tierOf } from '../rules/pricing.ts'

/** The gateway's books: the service's own database, its register of purchases, and its events in the same commit. */
export function createBooks({ store, deliveries, purchases, clock }: BooksParts): Books {
  async function takePlace(inside: Statements, payment: Payment, tiers: readonly Tier[] | null): Promise<void> {
    if (tiers === null) return
    const tier = nextTier(tiers, await store.takePlace(inside, payment))
    if (tierOf(tiers, tier).amount !== payment.amount) throw new AnotherTier(tier)
  }

  async function tell(inside: Statements, owner: Owner, events: ReturnType<typeof eventsOf>): Promise<void> {
    for (const event of events) {
      const headers = event.data['test'] === true ? { 'coinslot-test': 'true' } : {}
      await deliveries.event(inside, { id: newId('evt', clock.now()), owner, headers, ...event })
    }
  }

  async function ended(id: string): Promise<Payment> {
    const payment = await store.findById(id)
    if (payment === null) throw new Error('a payment vanished')
    return payment
  }

  return {
    find: (digest) => store.find(digest),
    findById: (id) => store.findById(id),

    async begin(payment, tiers) {
      const { digest, id } = payment
      if (digest === null) throw new Error('a payment without an authorization is simulated')
      try {
        return await store.inTransaction(async (inside) => {
          const bought = await purchases.claim(inside, { digest, buys: id })
          if (bought !== id) return { begun: false, bought }
          // Thrown, for what is refused must not keep the authorization.
          await takePlace(inside, payment, tiers)
          if (!(await store.add(inside, payment, null))) throw new Error('a payment was begun twice')
          return { begun: true }
        })
      } catch (error) {
        if (error instanceof AnotherTier) return { begun: false, tier: error.tier }
        throw error
      }
    },

    async take({ id, windowStart }, tiers, until) {
      try {
        return await store.inTransaction(async (inside) => {
          const taken = await store.take(inside, { id, windowStart }, clock.now(), until)
          if (taken?.state !== 'released') return taken
          await takePlace(inside, taken, tiers)
          return { ...taken, state: 'calling' }
        })
      } catch (error) {
        // Its place went to another call in this very moment; whoever asks again is told the price.
        if (error instanceof AnotherTier) return null
        throw error
      }
    },

    leave: (id) => store.leave(id),
    bind: (id, bodyHash) => store.bind(id, bodyHash),
    release: (id) => store.release(id, clock.now()),
    settling: (id, sold) => store.settling(id, sold, clock.now()),

    async paid(id, txHash, end) {
      const now = clock.now()
      const facts = await again(() =>
        store.inTransaction(async (inside) => {
          const told = await store.paid(inside, id, txHash, end, now)
          if (told !== null) await tell(inside, told.payment.owner, eventsOf(told, now))
          return told
        }),
      )
      return facts?.payment ?? (await ended(id))
    },

    async failed(id, reason) {
      const now = clock.now()
      const failed = await store.inTransaction(async (inside) => {
        const payment = await store.failed(inside, id, reason, now)
        if (payment !== null) await tell(inside, payment.owner, [failureOf(payment, now)])
        return payment
      })
      return failed ?? (await ended(id))
    },

    async simulated(payment) {
      const now = clock.now()
      const facts = { payment, customerPayments: 0, revenueBefore: payment.amount, revenue: payment.amount }
      await store.inTransaction(async (inside) => {
        if (!(await store.add(inside, payment, null))) return
        await tell(inside, payment.owner, eventsOf({ ...facts, milestones: [], tier: null }, now))
      })
    },

    keep: (id, answer, bodyHash) => store.keep(id, answer, bodyHash, clock.now()),
    answerOf: (id) => store.answerOf(id),
    begun: (id) => store.begun(id),
    delivered: (id) => store.delivered(id),
    hold: (hold) => store.hold(hold),
    draw: (call, amount) => store.draw(call, amount, clock.now()),
    left: (paywall, network, payer) => store.left(paywall, network, payer),

    async prove(digest, buys) {
      return await store.inTransaction((inside) => purchases.prove(inside, { digest, buys }))
    },

    async tier(paywall, route, payer, tiers, windowStart) {
      return nextTier(tiers, await store.places(paywall, route, payer, windowStart))
    },
  }
}

interface BooksParts {
  store: PaymentStore
  deliveries: DeliveryPort
  purchases: Purchases
  clock: Clock
}

/** Undoes a claim. */
class AnotherTier extends Error {
  readonly tier: number

  constructor(tier: number) {
    super('the payer is in another tier')
    this.tier = tier
  }
}
