import type { Answer } from '../../facilitator/model.ts'
import { DomainError } from '../../kit/errors.ts'
import type { Payment } from '../model.ts'
import type { Sale } from '../ports.ts'
import { deliveryOf } from '../rules/life.ts'
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
export function createSettling(parts: CheckoutParts): Settling {
  const { store, payments, deliveries, facilitator, clock, log, measures, checkpoint } = parts

  async function settle(sale: Sale, waitMs?: number): Promise<Sale> {
    const { payment, authorized } = sale
    if (authorized === null || payment.state === 'paid' || payment.state === 'failed') return sale
    await payments.settling(payment.id)
    await checkpoint('settling')
    const settling: Sale = { ...sale, payment: { ...payment, state: 'settling' } }
    const asker = { operation: payment.id, keeps: true, ...(waitMs === undefined ? {} : { waitMs }) }
    const answer = await ask(() => facilitator.settle(facilitator.read(authorized.request), asker), payment)
    if (answer === null || answer.status === 'pending') return settling
    await checkpoint('answered')
    if (!answer.success) return { ...sale, payment: await fail(payment, answer.reason) }
    return { ...sale, payment: await pay(settling, answer.txHash) }
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
      if (done !== null) await deliveries.write(inside, deliveryOf(done, checkout, now))
      return done
    })
    await checkpoint('paid')
    if (paid !== null) measures.count('checkout_paid')
    return paid ?? (await ended(payment))
  }

  async function fail(payment: Payment, reason: string): Promise<Payment> {
    await payments.failed(payment.id, reason, clock.now())
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
      const open = await payments.takeOpen(now, AT_ONCE)
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
