import type { Clock } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { SaleHooks } from '../../sales/model.ts'
import type { Payment, Tier } from '../model.ts'
import type { DeliveryPort, Hold, PrepaidStore } from '../ports.ts'
import { eventsOf, failureOf, passIn, paymentOf } from '../rules/payment.ts'
import { nextTier, tierOf } from '../rules/pricing.ts'
import { AnotherTier } from './product.ts'

/**
 * What payments at gates write in addition to the sale: places in tiers, customers, revenue, balances, and the owner's
 * events.
 */
export function gateHooks({ store, deliveries, clock }: HookDeps): SaleHooks {
  async function send(inside: Statements, { owner }: Payment, events: ReturnType<typeof eventsOf>): Promise<void> {
    for (const event of events) {
      const headers = event.data['test'] === true ? { 'coinslot-test': 'true' } : {}
      await deliveries.event(inside, { id: newId('evt', clock.now()), owner, headers, ...event })
    }
  }

  return {
    async claimed(inside, sale, note) {
      const tiers = note as readonly Tier[] | null
      if (tiers === null) return
      const tier = nextTier(tiers, await store.takePlace(inside, paymentOf(sale)))
      if (tierOf(tiers, tier).amount !== sale.amount) throw new AnotherTier()
    },

    async freed(inside, sale) {
      const payment = paymentOf(sale)
      if (payment.windowStart !== null) await store.freePlace(inside, payment)
    },

    async paid(inside, sale, note) {
      const now = clock.now()
      const payment = paymentOf(sale)
      if (sale.simulated) {
        const nothing = { customerPayments: 0, revenueBefore: sale.amount, revenue: sale.amount, tier: null }
        await send(inside, payment, eventsOf({ payment, ...nothing, milestones: [] }, now))
        return
      }
      const facts = await store.paid(inside, payment, { tokenHash: sale.tokenHash, hold: note as Hold | null }, now)
      const path = passIn(sale)
      if (path !== null) await store.addPass(inside, { ...payment, path }, now)
      await send(inside, payment, eventsOf(facts, now))
    },

    async failed(inside, sale) {
      const payment = paymentOf(sale)
      await send(inside, payment, [failureOf(payment, clock.now())])
    },
  }
}

interface HookDeps {
  store: PrepaidStore
  deliveries: DeliveryPort
  clock: Clock
}
