import { readRequest } from '../../x402/payload.ts'
import type { Answer } from '../../facilitator/model.ts'
import { DomainError } from '../../kit/errors.ts'
import type { Payment } from '../model.ts'
import type { Sale } from '../ports.ts'
import { deliveryOf, simulatedHash, slowState } from '../rules/life.ts'
import type { Failures } from './failures.ts'
import type { CheckoutParts } from './parts.ts'

export interface Settling {
  /** From wherever the payment stands to its end, or as far as the chain lets it come within the time. */
  settle(sale: Sale, waitMs?: number): Promise<Sale>
  /** Goes on with those that nobody waits for. */
  sweep(now: Date): Promise<void>
}

/**
 * The chain is asked under the payment's own id: whoever asks again, in whatever process, after whatever crash, asks
 * for the same transfer and is told of the same success.
 */
export function createSettling(parts: CheckoutParts & { failures: Failures }): Settling {
  const { store, payments, deliveries, facilitator, clock, log, measures, checkpoint, receiptOf, failures } = parts

  async function settle(sale: Sale, waitMs?: number): Promise<Sale> {
    const { payment, authorized } = sale
    if (payment.state === 'paid' || payment.state === 'failed') return sale
    if (authorized === null) return await simulate(sale)
    await payments.settling(payment.id)
    await checkpoint('settling')
    const settling: Sale = { ...sale, payment: { ...payment, state: 'settling' } }
    const asker = { operation: payment.id, keeps: true, ...(waitMs === undefined ? {} : { waitMs }) }
    const answer = await ask(() => facilitator.settle(readRequest(authorized.request), asker), payment)
    if (answer === null || answer.status === 'pending') return settling
    await checkpoint('answered')
    if (!answer.success) return { ...sale, payment: await fail(payment, answer.reason) }
    return { ...sale, payment: await pay(settling, answer.txHash) }
  }

  /** A slow payment of test mode: the chain is never asked. */
  async function simulate(sale: Sale): Promise<Sale> {
    const { payment } = sale
    // Only test mode has payments without an authorization; of any other this would be money that nobody paid.
    if (!payment.simulated) throw new Error('a payment has no authorization')
    const state = slowState(payment.createdAt, clock.now())
    if (state === 'created') return sale
    await payments.settling(payment.id)
    const settling: Sale = { ...sale, payment: { ...payment, state: 'settling' } }
    return state === 'paid' ? { ...sale, payment: await pay(settling, simulatedHash(payment.id)) } : settling
  }

  /** Null when nothing is known: the chain is away, or the gas is spent for today. It is asked again later. */
  async function ask(settled: () => Promise<Answer>, { id }: Payment): Promise<Answer | null> {
    try {
      return await settled()
    } catch (error) {
      if (!(error instanceof DomainError) || !PASSING.has(error.kind)) throw error
      log.warn({ payment: id, code: error.code }, 'the chain does not answer for a payment; it is asked again')
      return null
    }
  }

  /** The payment and what has to be told of it, together or not at all. */
  async function pay({ payment, checkout }: Sale, txHash: string): Promise<Payment> {
    const paid = await store.inTransaction(async (inside) => {
      const now = clock.now()
      const done = await payments.paid(inside, payment.id, txHash, now)
      if (done === null) return null
      await deliveries.write(inside, deliveryOf(done, checkout, { paidAt: now, receiptUrl: receiptOf(done.id) }))
      return done
    })
    await checkpoint('paid')
    if (paid !== null && !paid.simulated) measures.count('checkout_paid')
    return paid ?? (await ended(payment))
  }

  async function fail(payment: Payment, reason: string): Promise<Payment> {
    await store.inTransaction(async (inside) => {
      const failed = await payments.failed(inside, payment.id, reason, clock.now())
      if (failed !== null) await failures.failed(inside, failed)
    })
    measures.count('checkout_failed')
    return await ended(payment)
  }

  /** As somebody wrote it down, this process or another. */
  async function ended({ id }: Payment): Promise<Payment> {
    const sale = await payments.find(id)
    if (sale === null) throw new Error('a payment vanished')
    return sale.payment
  }

  return {
    settle,
    async sweep(now) {
      // Apart from each other: simulated ones cost nothing to make, and must not stand before those with money.
      const both = [false, true].map((simulated) => payments.takeOpen(now, AT_ONCE, simulated))
      const open = (await Promise.all(both)).flat()
      const outcomes = await Promise.allSettled(open.map((sale) => settle(sale, 0)))
      for (const [place, outcome] of outcomes.entries()) {
        if (outcome.status === 'rejected') {
          log.error({ payment: open[place]?.payment.id, err: outcome.reason }, 'a payment could not be carried on')
        }
      }
    },
  }
}

const PASSING: ReadonlySet<string> = new Set(['unavailable', 'limited', 'late', 'upstream'])
const AT_ONCE = 50
