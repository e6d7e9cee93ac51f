import type { Clock } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { Log } from '../../kit/log.ts'
import { failedPaymentOf, FAILURES_PER_HOUR } from '../../sales/service/refused.ts'
import type { DeliveryPort, PrepaidStore } from '../ports.ts'
import { failureOf } from '../rules/payment.ts'
import { keyOf } from '../rules/routes.ts'
import { endpointOf } from './call.ts'
import type { TellRefused } from './deps.ts'

/** Sends `payment.failed` to a paywall's owner for an authorization that was refused before it became a payment. */
export function createFailures({ store, deliveries, clock, log }: FailureDeps): TellRefused {
  return async ({ gate, route, request, presented }, terms, refusal) => {
    const { reason } = refusal
    const failed = failedPaymentOf({ terms, presented, ...refusal })
    if (failed === null) return
    const now = clock.now()
    const { amount, network } = terms
    const place = { paywallId: gate.id, route: keyOf(route), endpoint: endpointOf(request) }
    const payment = { id: null, payer: failed.payer, txHash: null, simulated: false, amount, network, reason, ...place }
    const bound = { about: gate.id, key: failed.key, perHour: FAILURES_PER_HOUR }
    try {
      await store.inTransaction((inside) =>
        deliveries.event(inside, { id: newId('evt', now), owner: gate.owner, bound, ...failureOf(payment, now) }),
      )
    } catch (error) {
      // The buyer must get the refusal's reason even if the event fails.
      log.error({ paywall: gate.id, err: error }, 'payment.failed could not be sent to a seller')
    }
  }
}

interface FailureDeps {
  store: Pick<PrepaidStore, 'inTransaction'>
  deliveries: DeliveryPort
  clock: Clock
  log: Log
}
