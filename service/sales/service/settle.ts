import { DomainError } from '../../kit/errors.ts'
import { stepOf, type Sale, type Settled, type Step } from '../model.ts'
import type { EscrowEnd, Paid, SaleMethod } from '../ports.ts'
import { isEscrowOver, mayPayLater } from '../rules.ts'
import type { SellingDeps } from './deps.ts'

/** For books that a product keeps itself. */
export { nextResume, OWED_AWAY_MS, owedUntil } from '../rules.ts'

/**
 * Settles by the sale's own method and under its own id, so every repeated call, from any process and also after a crash,
 * asks for the same transfer and gets the same success. Returns the sale in the state that it has reached when the wait is
 * over.
 */
export function createSettling(deps: SettlingDeps) {
  const { journal, methods, clock, log, measures, failpoints } = deps

  async function settle(sale: Sale, paid: Paid, { waitMs, isFirst = false }: SettleOptions = {}): Promise<Sale> {
    const method = methods.of(sale)
    const outcome = await ask(sale, () => method.settle(sale, waitMs, isFirst))
    if (outcome.status === 'waiting') return sale
    if (outcome.status === 'pending') return method.signed ? sale : await startSettling(sale)
    if (method.signed) await failpoints.reach('sale settled')
    const step = stepOf(sale)
    if (step === 'authorize' && outcome.status === 'settled') {
      const held = await journal.authorized(sale.id, outcome.txHash)
      await failpoints.reach('sale authorized')
      return held
    }
    if (outcome.status === 'failed' || step === 'void') {
      // Until nobody can change it any more.
      const isLate = outcome.status === 'failed' && (step === 'capture' || step === 'void')
      if (isLate && !isOver(sale)) return sale
      if (outcome.status === 'failed' && mayPayLater(sale, outcome.reason, clock.now())) {
        await journal.unpaid(sale.id, outcome.reason)
        return sale
      }
      const end = await endOf(method, sale, outcome)
      if (end === 'pending') return sale
      measures.count(`${sale.product}_failed`)
      const reason = sale.result?.reason ?? sale.reason ?? (outcome.status === 'failed' ? outcome.reason : UNKNOWN)
      return await journal.failed(sale.id, reason, end)
    }
    const done = await journal.paid(sale.id, outcome.txHash, paid)
    if (!method.simulated) measures.count(`${sale.product}_paid`)
    await failpoints.reach('sale paid')
    return done
  }

  /** Nobody outside is asked for a payment without an authorization, so it becomes `settling` only now. */
  async function startSettling(sale: Sale): Promise<Sale> {
    if (sale.state === 'claimed') await journal.settling(sale, NOTHING_DELIVERED, null)
    return { ...sale, state: 'settling' }
  }

  /**
   * The result is also `pending` when the outcome is unknown: the chain is unavailable, or today's gas budget is spent.
   * The chain is asked again later.
   */
  async function ask(sale: Sale, settled: () => ReturnType<SaleMethod['settle']>): ReturnType<SaleMethod['settle']> {
    try {
      return await settled()
    } catch (error) {
      if (!isPassing(error)) throw error
      log.warn({ sale: sale.id, code: error.code }, 'the chain does not answer for a sale; retrying')
      return { status: 'pending' }
    }
  }

  /** What became of money in the escrow that is not captured. Undefined where it never waited there. */
  async function endOf(
    method: SaleMethod,
    sale: Sale,
    outcome: Exclude<Settled, { status: 'pending' }>,
  ): Promise<EscrowEnd | undefined | 'pending'> {
    if (UNMOVED.has(stepOf(sale))) return undefined
    if (outcome.status === 'settled') return { end: 'voided', voidedTx: outcome.txHash }
    if (method.left === undefined) throw new Error('this method ends no payment in the escrow')
    try {
      const left = await method.left(sale)
      return { end: left === 0n ? 'voided' : 'reclaimable', voidedTx: null }
    } catch (error) {
      if (!isPassing(error)) throw error
      log.warn({ sale: sale.id, code: error.code }, 'the chain does not answer for a sale; retrying')
      return 'pending'
    }
  }

  /** A refusal before the capture deadline passes: the payer cannot have taken the money back. */
  const isOver = ({ escrow }: Sale): boolean => escrow === null || isEscrowOver(escrow, clock.now())

  return settle
}

/** Work that was given up has a reason. */
const UNKNOWN = 'settlement_failed'

/** Nothing waits in the escrow yet when these are refused. */
const UNMOVED: ReadonlySet<Step> = new Set<Step>(['settle', 'authorize'])

export interface SettleOptions {
  waitMs?: number
  /** This attempt has made the sale `settling`. */
  isFirst?: boolean
}

type SettlingDeps = Pick<SellingDeps, 'journal' | 'methods' | 'clock' | 'log' | 'measures' | 'failpoints'>

export type Settle = ReturnType<typeof createSettling>

export const NOTHING_DELIVERED = { answer: null, bodyHash: null, details: null, amount: null } as const
export const NOTHING_HANDED_OVER = { handover: 'none', note: null } as const
/** What is settled without its buyer. */
export const BUYER_AWAY = { ...NOTHING_HANDED_OVER, away: true } as const

function isPassing(error: unknown): error is DomainError {
  return error instanceof DomainError && PASSING.has(error.kind)
}

const PASSING: ReadonlySet<string> = new Set(['unavailable', 'limited', 'late', 'upstream'])
