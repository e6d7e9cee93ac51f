import { DomainError } from '../../kit/errors.ts'
import type { Sale, Settled } from '../model.ts'
import type { Paid } from '../ports.ts'
import type { SellingDeps } from './deps.ts'

/**
 * The chain is asked under the sale's own id: whoever asks again, in whatever process, after whatever crash, asks for
 * the same transfer and hears of the same success. The sale comes back as far as the chain lets it come in time.
 */
export function createSettling({
  journal,
  method,
  log,
  failpoints,
}: Pick<SellingDeps, 'journal' | 'method' | 'log' | 'failpoints'>) {
  async function settle(sale: Sale, paid: Paid, waitMs?: number): Promise<Sale> {
    const outcome = await ask(sale, waitMs)
    if (outcome.status === 'pending') return sale
    await failpoints.reach('sale settled')
    if (outcome.status === 'failed') return await journal.failed(sale.id, outcome.reason)
    const done = await journal.paid(sale.id, outcome.txHash, paid)
    await failpoints.reach('sale paid')
    return done
  }

  /** Pending also where nothing is known: the chain is away, or today's gas is spent. It is asked again later. */
  async function ask({ id, request }: Sale, waitMs?: number): Promise<Settled> {
    // Of any other sale this would be money that nobody paid.
    if (request === null) throw new Error('a sale has no authorization')
    try {
      return await method.settle(request, id, waitMs)
    } catch (error) {
      if (!(error instanceof DomainError) || !PASSING.has(error.kind)) throw error
      log.warn({ sale: id, code: error.code }, 'the chain does not answer for a sale; it is asked again')
      return { status: 'pending' }
    }
  }

  return settle
}

export type Settle = ReturnType<typeof createSettling>

const PASSING: ReadonlySet<string> = new Set(['unavailable', 'limited', 'late', 'upstream'])
