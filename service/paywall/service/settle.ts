import { DomainError } from '../../kit/errors.ts'
import type { Payment, Settled } from '../model.ts'
import type { Ending } from '../ports.ts'
import type { GateParts } from './parts.ts'

export interface Settling {
  /** From `settling` to its end, or as far as the chain lets it come within the time. */
  settle(payment: Payment, end: Ending, waitMs?: number): Promise<Payment>
}

/**
 * The chain is asked under the payment's own id: whoever asks again, in whatever process, after whatever crash, asks
 * for the same transfer.
 */
export function createSettling({ books, settler, log, checkpoint }: GateParts): Settling {
  return {
    async settle(payment, end, waitMs) {
      const outcome = await ask(payment, waitMs)
      await checkpoint('settled')
      switch (outcome.status) {
        case 'pending':
          return payment
        case 'failed':
          return await books.failed(payment.id, outcome.reason)
        case 'settled': {
          const paid = await books.paid(payment.id, outcome.txHash, end)
          await checkpoint('paid')
          return paid
        }
      }
    },
  }

  /** Pending also where nothing is known: the chain is away, or today's gas is spent. It is asked again later. */
  async function ask({ id, request }: Payment, waitMs?: number): Promise<Settled> {
    if (request === null) throw new Error('a payment has no authorization')
    try {
      return await settler.settle(request, id, waitMs)
    } catch (error) {
      if (!(error instanceof DomainError) || !PASSING.has(error.kind)) throw error
      log.warn({ payment: id, code: error.code }, 'the chain does not answer for a payment; it is asked again')
      return { status: 'pending' }
    }
  }
}

const PASSING: ReadonlySet<string> = new Set(['unavailable', 'limited', 'late', 'upstream'])
