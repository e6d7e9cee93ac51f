import { DomainError } from '../../kit/errors.ts'
import { simulatedHash, type Sale, type Settled } from '../model.ts'
import type { Paid } from '../ports.ts'
import { simulatedState } from '../rules.ts'
import type { SellingDeps } from './deps.ts'

/**
 * Settles under the sale's own id, so every repeated call, from any process and also after a crash, asks for the same
 * transfer and gets the same success. Returns the sale in the state that it has reached when the wait is over.
 */
export function createSettling(deps: SettlingDeps) {
  const { journal, method, clock, log, measures, failpoints } = deps

  async function settle(sale: Sale, paid: Paid, waitMs?: number): Promise<Sale> {
    if (sale.simulated) return await bySimulation(sale, paid)
    const outcome = await ask(sale, waitMs)
    if (outcome.status === 'pending') return sale
    await failpoints.reach('sale settled')
    if (outcome.status === 'failed') {
      measures.count(`${sale.product}_failed`)
      return await journal.failed(sale.id, outcome.reason)
    }
    const done = await journal.paid(sale.id, outcome.txHash, paid)
    measures.count(`${sale.product}_paid`)
    await failpoints.reach('sale paid')
    return done
  }

  /** A simulated payment advances only with time. */
  async function bySimulation(sale: Sale, paid: Paid): Promise<Sale> {
    const state = simulatedState(sale.createdAt, clock.now())
    if (state === 'claimed') return sale
    if (sale.state === 'claimed') await journal.settling(sale.id, NOTHING_DELIVERED, null)
    return state === 'paid' ? await journal.paid(sale.id, simulatedHash(sale.id), paid) : { ...sale, state }
  }

  /**
   * The result is also `pending` when the outcome is unknown: the chain is unavailable, or today's gas budget is spent.
   * The chain is asked again later.
   */
  async function ask({ id, request }: Sale, waitMs?: number): Promise<Settled> {
    // A sale without an authorization must not count as paid.
    if (request === null) throw new Error('a sale has no authorization')
    try {
      return await method.settle(request, id, waitMs)
    } catch (error) {
      if (!(error instanceof DomainError) || !PASSING.has(error.kind)) throw error
      log.warn({ sale: id, code: error.code }, 'the chain does not answer for a sale; retrying')
      return { status: 'pending' }
    }
  }

  return settle
}

type SettlingDeps = Pick<SellingDeps, 'journal' | 'method' | 'clock' | 'log' | 'measures' | 'failpoints'>

export type Settle = ReturnType<typeof createSettling>

export const NOTHING_DELIVERED = { answer: null, bodyHash: null, details: null } as const
export const NOTHING_HANDED_OVER = { handover: 'none', note: null } as const

const PASSING: ReadonlySet<string> = new Set(['unavailable', 'limited', 'late', 'upstream'])
