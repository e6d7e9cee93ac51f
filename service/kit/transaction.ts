import { AsyncLocalStorage } from 'node:async_hooks'

/** Runs SQL: the pool, or one open transaction. */
export interface Statements {
  /** A name makes it a prepared statement. The same name must always have the same text. */
  run<Row>(text: string, values: readonly unknown[], name?: string): Promise<Row[]>
}

/** The pool itself: single statements, or several in one transaction. */
export interface StatementPool extends Statements {
  /**
   * One short transaction of SQL only. An error of `work` rolls it back. It runs again where a migration has changed a table
   * since its statements were prepared, so that it must be safe to repeat.
   */
  together<T>(work: (inside: Statements) => Promise<T>): Promise<T>
}

/** A transaction as the work in it finds it. Only tests have all of them watched. */
export interface WatchedTransaction {
  /** Its work may ask the database only. */
  readonly isStrict: boolean
  /** What outlives the transaction may ask others again. */
  isOver?: true
}

/** One for all databases: Node writes each such store into every promise of the process, also after its pool has closed. */
const transactions = new AsyncLocalStorage<WatchedTransaction>()

export function currentTransaction(): WatchedTransaction | undefined {
  return transactions.getStore()
}

export function watched<T>(transaction: WatchedTransaction, work: () => Promise<T>): Promise<T> {
  return transactions.run(transaction, () =>
    work().finally(() => {
      transaction.isOver = true
    }),
  )
}

/** Call before a chain or another server is asked. Throws inside a transaction, whose locks would be held for that long. */
export function assertNoTransaction(asked: string): void {
  const transaction = currentTransaction()
  if (transaction?.isStrict !== true || transaction.isOver === true) return
  throw new Error(`Inside a transaction ${asked} is not asked: its locks would wait for the answer.`)
}

/**
 * Repeats the work after a conflict: another process committed the same row, or locked the same rows in another order.
 * The work must be safe to repeat.
 */
export async function retryConflicts<T>(work: () => Promise<T>, attempts = 3): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === attempts || !COLLISIONS.has((error as { code?: string }).code ?? '')) throw error
    }
  }
}

/** Unique violation, deadlock, serialization failure. */
const COLLISIONS = new Set(['23505', '40P01', '40001'])
