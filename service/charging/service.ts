import { setTimeout as wait } from 'node:timers/promises'
import type { AgentAct, Guard } from '../budgets/service/guard.ts'
import { Batch } from '../kit/batch.ts'
import { DomainError } from '../kit/errors.ts'
import type { Statements } from '../kit/transaction.ts'
import { orAborted } from '../kit/under-way.ts'
import { isHoldLost } from '../ledger/errors.ts'
import type { ActOutcome } from '../ledger/model.ts'

/**
 * Does work whose price is held, and ends the hold: captured with the work's result, or released with the reason why
 * there is none. An error of the hold is thrown as it is, since then there is nothing to end.
 */
export async function chargeFor<Value, Result>({ signal, ...held }: HeldWork<Value, Result>): Promise<Result> {
  const started = performance.now()
  const elapsedMs = (): number => Math.round(performance.now() - started)
  if (held.hold !== undefined) await held.hold()
  let value: Value
  try {
    value = await orAborted(held.work(), signal)
    signal.throwIfAborted()
  } catch (error) {
    // Work that heeds the signal throws an error of its own. The signal's reason says more.
    return await held.release(signal.aborted ? signal.reason : error, elapsedMs())
  }
  return await held.capture(value, elapsedMs())
}

interface HeldWork<Value, Result> {
  /** Ends the work early: the price is then released. */
  signal: AbortSignal
  /** Absent when the price is held already. */
  hold?(): Promise<void>
  work(): Promise<Value>
  capture(value: Value, durationMs: number): Promise<Result>
  /** The error is the signal's reason when that has ended the work. */
  release(error: unknown, durationMs: number): Promise<Result>
}

/**
 * Holds that begin and end at the same moment share a batch: what the ledger does and what the product writes about it
 * are one short transaction with one disk flush. What comes meanwhile goes into the next one.
 */
export class ChargeBatch<Row extends { id: string }> {
  readonly #deps: ChargeBatchDeps<Row>
  readonly #batch: Batch<Charge<Row>, Result<Row>>

  constructor(deps: ChargeBatchDeps<Row>) {
    this.#deps = deps
    this.#batch = new Batch({ largest: LARGEST, run: (charges) => this.#flush(charges) })
  }

  /** Takes the hold and writes the row. Throws why there is no hold. */
  begin(charge: Charge<Row>): Promise<Written<Row>> {
    return this.#add(charge)
  }

  /** Captures or releases the hold and writes the row. Throws why nothing can be captured. */
  end(charge: Charge<Row>): Promise<Written<Row>> {
    return persisting(() => this.#add(charge))
  }

  async #add(charge: Charge<Row>): Promise<Written<Row>> {
    const isAlone = this.#deps.isAlone?.(charge.row) === true
    for (;;) {
      const [result] = isAlone ? await this.#flush([charge]) : [await this.#batch.add(charge)]
      if (result === undefined) throw new Error('a charge ended without a result')
      if ('refusal' in result) throw result.refusal
      if ('row' in result) return result
    }
  }

  async #flush(charges: readonly Charge<Row>[]): Promise<Result<Row>[]> {
    const { guard, write } = this.#deps
    const acts = charges.map(({ act }) => act)
    return await guard.actTogether(acts, async (inside, outcomes) => {
      const decisions = charges.map((charge, place) => decide(charge, outcomes[place]))
      const rows = decisions.flatMap((decision) => ('row' in decision ? [decision.row] : []))
      const written = rows.length === 0 ? new Set<string>() : await write(inside, rows)
      return decisions.map((decision) =>
        'row' in decision ? { ...decision, isNew: written.has(decision.row.id) } : decision,
      )
    })
  }
}

export interface ChargeBatchDeps<Row> {
  guard: Pick<Guard, 'actTogether'>
  /** Runs in the transaction of the money. Returns the ids of the rows that it changed. May be called again. */
  write(inside: Statements, rows: readonly Row[]): Promise<ReadonlySet<string>>
  /** Whether this row's transaction has no other rows in it, because `write` may refuse it. None when absent. */
  isAlone?(row: Row): boolean
}

/** An act of the ledger, and what is written with it. */
export interface Charge<Row> {
  act: AgentAct
  row: Row
  /** Written instead when the hold is lost and nothing can be captured. Absent: the capture is refused. */
  late?: Row
}

/** The row that stands. Not new: it was there, or had ended, before. */
interface Written<Row> {
  row: Row
  isNew: boolean
}

type Undone = { refusal: Error } | { askAgain: true }
type Result<Row> = Written<Row> | Undone

/** Which row is written for this outcome in the ledger, or why none is. */
export function decide<Row>({ act, row, late }: Charge<Row>, outcome: ActOutcome | undefined): { row: Row } | Undone {
  if (outcome === undefined) throw new Error('an operation ended without an outcome')
  if ('askAgain' in outcome) return outcome
  if (!('refusal' in outcome)) return { row }
  if (!isHoldLost(outcome.refusal)) return outcome
  // The money was given back already, so a release has nothing left to do.
  if ('release' in act) return { row }
  return late === undefined ? outcome : { row: late }
}

/** Retries, so that a short outage of the database does not cost a caller the result. A refusal is final. */
export async function persisting<T>(
  work: () => Promise<T>,
  pause: (ms: number) => Promise<unknown> = wait,
): Promise<T> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await work()
    } catch (error) {
      if (error instanceof DomainError) throw error
      await pause(pauseMs)
    }
  }
  return await work()
}

const PAUSES_MS = [100, 500, 2_000]
const LARGEST = 256
