import { accountOf, type Caller } from '../../kit/caller.ts'
import type { Id } from '../../kit/ids.ts'
import type { Statements } from '../../kit/transaction.ts'
import { paymentMissing, requestClosed, requestMissing } from '../errors.ts'
import type { PaymentRequest } from '../model.ts'
import { assertTerms } from '../rules/lifecycle.ts'
import {
  assertAskable,
  assertMayWait,
  assertRequestRoom,
  newRequest,
  requestDelivery,
  requestsWithin,
  requestStatus,
  type Wanted,
} from '../rules/requests.ts'
import { versionOf } from '../rules/versions.ts'
import type { CheckoutDeps } from './deps.ts'
import { ownSale } from './capture.ts'

/**
 * A seller asks the buyer of a payment for a further amount. It is a sale of its own, at a checkout of its own: its price,
 * proof, settlement and refund are those of every sale.
 */
export function createRequests({ store, selling, callbacks, captureLimits, deliveries, clock }: RequestDeps) {
  return {
    async ask(caller: Caller, payment: string, wanted: Wanted, operation: Id<'op'>): Promise<PaymentRequest> {
      const sale = await ownSale(selling.journal, caller, payment)
      const checkout = await store.find(sale.subject, versionOf(sale))
      if (checkout === null) throw paymentMissing()
      const { environment } = accountOf(caller)
      const { request, place } = newRequest({ sale, checkout }, wanted, operation, clock.now())
      assertTerms(place, environment, captureLimits())
      const delivery = wanted.waits ? (await deliveries.bySubject(null, [sale.id])).get(sale.id) : undefined
      if (wanted.callbackUrl !== null) await callbacks.check(wanted.callbackUrl)
      return await store.inTransaction(async (inside) => {
        const before = await store.lockRequests(inside, sale.id)
        const made = before.find(({ id }) => id === request.id)
        if (made !== undefined) return made
        assertAskable(sale)
        assertMayWait(checkout, delivery)
        assertRequestRoom(before, clock.now())
        await store.assertRoom(inside, place)
        await store.add(inside, place)
        await store.addRequest(inside, request)
        return request
      })
    },

    async requests(caller: Caller, payment: string): Promise<readonly PaymentRequest[]> {
      const sale = await ownSale(selling.journal, caller, payment)
      return requestsWithin(sale, (await store.requestsOf([sale.id])).get(sale.id) ?? [])
    },

    /** By the buyer of the payment, whose token shows that. The same refusal again changes nothing. */
    async refuse(checkout: string, { payment, token, id }: Refusal): Promise<PaymentRequest> {
      const sale = await selling.journal.findById(payment)
      if (sale?.subject !== checkout || !selling.tokens.matches(sale.id, sale.tokenHash, token)) throw paymentMissing()
      const refused = await store.inTransaction(async (inside) => {
        const ended = await store.refuseRequest(inside, { id, payment: sale.id, now: clock.now() })
        if (ended !== null) await tell(inside, ended)
        return ended
      })
      if (refused !== null) return refused
      const found = (await store.requestsOf([sale.id])).get(sale.id)?.find((one) => one.id === id)
      if (found === undefined) throw requestMissing()
      if (found.endedAs !== 'refused') throw requestClosed(requestStatus(found, clock.now()))
      return found
    },

    /** Ends those whose time is over. */
    async expireRequests(now: Date): Promise<void> {
      for (;;) {
        const ended = await store.inTransaction(async (inside) => {
          const expired = await store.expireRequests(inside, now, AT_ONCE)
          for (const one of expired) await tell(inside, one)
          return expired.length
        })
        if (ended < AT_ONCE) return
      }
    },
  }

  async function tell(inside: Statements, ended: PaymentRequest): Promise<void> {
    const delivery = requestDelivery(ended)
    if (delivery !== null) await deliveries.write(inside, delivery)
  }
}

/** What the buyer refuses. */
export interface Refusal {
  payment: string
  /** The token of that payment. */
  token: string | null
  id: string
}

const AT_ONCE = 100

type RequestDeps = Pick<CheckoutDeps, 'store' | 'selling' | 'callbacks' | 'captureLimits' | 'deliveries' | 'clock'>
