import { deriveId, newId } from '../../kit/ids.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { NewEvent } from '../../deliveries/model.ts'
import { failedPaymentOf, FAILURES_PER_HOUR, type Refused } from '../../sales/service/refused.ts'
import type { Checkout, Payment } from '../model.ts'
import { failureOf, paymentDataOf, refusalDataOf } from '../rules/payment-events.ts'
import type { CheckoutDeps } from './deps.ts'

export interface PaymentEvents {
  /** Runs in the transaction in which the money arrived. */
  completed(inside: Statements, payment: Payment): Promise<void>
  /** Runs in the transaction in which the payment failed. */
  failed(inside: Statements, payment: Payment): Promise<void>
  /** An authorization was refused and did not become a payment. */
  refused(checkout: Checkout, refused: Refused): Promise<void>
}

/** Sends `payment.completed` and `payment.failed` to the seller's endpoints, once for each payment or authorization. */
export function createPaymentEvents({ store, deliveries, clock, log, addresses }: EventDeps): PaymentEvents {
  const endpointOf = (checkout: Checkout['id']): string => `${addresses.pay}/${checkout}`

  /** A payment is completed or failed, so one id is enough. */
  async function send(inside: Statements, event: NewEvent['event'], payment: Payment, data: NewEvent['data']) {
    const { id, checkoutId, owner, simulated } = payment
    await deliveries.event(inside, {
      id: deriveId('evt', id),
      owner,
      event,
      data,
      // Any client with the link can simulate without limit, so these events are bounded. On chain a payment costs its
      // amount, and a failure gas, which has its own limit.
      ...(simulated ? { headers: { 'coinslot-test': 'true' }, bound: boundOf(checkoutId, Buffer.from(id)) } : {}),
    })
  }

  return {
    completed: (inside, payment) =>
      send(inside, 'payment.completed', payment, {
        ...paymentDataOf(payment, endpointOf(payment.checkoutId), clock.now()),
      }),

    failed: (inside, payment) =>
      send(inside, 'payment.failed', payment, { ...failureOf(payment, endpointOf(payment.checkoutId), clock.now()) }),

    async refused({ id: checkoutId, owner }, refused) {
      const failed = failedPaymentOf(refused)
      if (failed === null) return
      const now = clock.now()
      const { terms, reason } = refused
      const data = refusalDataOf({ checkoutId, terms, payer: failed.payer, reason }, endpointOf(checkoutId), now)
      const bound = boundOf(checkoutId, failed.key)
      try {
        await store.inTransaction((inside) =>
          deliveries.event(inside, {
            id: newId('evt', now),
            owner,
            event: 'payment.failed',
            data: { ...data },
            bound,
          }),
        )
      } catch (error) {
        // The buyer must get the refusal's reason even if the event fails.
        log.error({ checkout: checkoutId, err: error }, 'payment.failed could not be sent to a seller')
      }
    },
  }
}

function boundOf(about: Checkout['id'], key: Buffer) {
  return { about, key, perHour: FAILURES_PER_HOUR }
}

type EventDeps = Pick<CheckoutDeps, 'store' | 'deliveries' | 'clock' | 'log' | 'addresses'>
