import { DomainError } from '../../kit/errors.ts'
import { freeHash, isFree, simulatedHash, stepOf, type Sale, type Settled, type Step } from '../model.ts'
import type { EscrowEnd, Paid } from '../ports.ts'
import { isEscrowOver, simulatedState } from '../rules.ts'
import type { SellingDeps } from './deps.ts'

/**
 * Settles under the sale's own id, so every repeated call, from any process and also after a crash, asks for the same
 * transfer and gets the same success. Returns the sale in the state that it has reached when the wait is over.
 */
export function createSettling(deps: SettlingDeps) {
  const { journal, method, clock, log, measures, failpoints } = deps

  async function settle(sale: Sale, paid: Paid, waitMs?: number): Promise<Sale> {
    if (isFree(sale)) return await recordPaid(sale, freeHash(sale.id), paid)
    if (sale.simulated) return await bySimulation(sale, paid)
    const step = stepOf(sale)
    const outcome = await ask(sale, step, waitMs)
    if (outcome.status === 'pending') return sale
    await failpoints.reach('sale settled')
    if (step === 'authorize' && outcome.status === 'settled') {
      const held = await journal.authorized(sale.id, outcome.txHash)
      await failpoints.reach('sale authorized')
      return held
    }
    if (outcome.status === 'failed' || step === 'void') {
      // Until nobody can change it any more.
      const isLate = outcome.status === 'failed' && (step === 'capture' || step === 'void')
      if (isLate && !isOver(sale)) return sale
      const end = await endOf(sale, step, outcome)
      if (end === 'pending') return sale
      measures.count(`${sale.product}_failed`)
      const reason = sale.result?.reason ?? (outcome.status === 'failed' ? outcome.reason : UNKNOWN)
      return await journal.failed(sale.id, reason, end)
    }
    return await recordPaid(sale, outcome.txHash, paid)
  }

  async function recordPaid(sale: Sale, txHash: string, paid: Paid): Promise<Sale> {
    const done = await journal.paid(sale.id, txHash, paid)
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
  async function ask({ id, request }: Sale, step: Step, waitMs?: number): Promise<Settled> {
    // A sale without an authorization must not count as paid.
    if (request === null) throw new Error('a sale has no authorization')
    try {
      if (step === 'settle' || step === 'authorize') return await method.settle(request, id, waitMs)
      if (method.escrow === undefined) throw new Error('this method ends no payment in the escrow')
      return await method.escrow.end(request, id, { step, waitMs })
    } catch (error) {
      if (!isPassing(error)) throw error
      log.warn({ sale: id, code: error.code }, 'the chain does not answer for a sale; retrying')
      return { status: 'pending' }
    }
  }

  /** What became of money in the escrow that is not captured. Undefined where it never waited there. */
  async function endOf(
    { id, request }: Sale,
    step: Step,
    outcome: Exclude<Settled, { status: 'pending' }>,
  ): Promise<EscrowEnd | undefined | 'pending'> {
    if (step === 'settle' || step === 'authorize') return undefined
    if (outcome.status === 'settled') return { end: 'voided', voidedTx: outcome.txHash }
    if (request === null || method.escrow === undefined) throw new Error('this method ends no payment in the escrow')
    try {
      const left = await method.escrow.left(request)
      return { end: left === 0n ? 'voided' : 'reclaimable', voidedTx: null }
    } catch (error) {
      if (!isPassing(error)) throw error
      log.warn({ sale: id, code: error.code }, 'the chain does not answer for a sale; retrying')
      return 'pending'
    }
  }

  /** A refusal before the capture deadline passes: the payer cannot have taken the money back. */
  const isOver = ({ escrow }: Sale): boolean => escrow === null || isEscrowOver(escrow, clock.now())

  return settle
}

/** Work that was given up has a reason. */
const UNKNOWN = 'settlement_failed'

type SettlingDeps = Pick<SellingDeps, 'journal' | 'method' | 'clock' | 'log' | 'measures' | 'failpoints'>

export type Settle = ReturnType<typeof createSettling>

export const NOTHING_DELIVERED = { answer: null, bodyHash: null, details: null } as const
export const NOTHING_HANDED_OVER = { handover: 'none', note: null } as const

function isPassing(error: unknown): error is DomainError {
  return error instanceof DomainError && PASSING.has(error.kind)
}

const PASSING: ReadonlySet<string> = new Set(['unavailable', 'limited', 'late', 'upstream'])
