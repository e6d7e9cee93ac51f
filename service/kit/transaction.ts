/** Runs SQL: the pool, or one open transaction. */
export interface Statements {
  /** A name makes it a prepared statement. The same name must always have the same text. */
  run<Row>(text: string, values: readonly unknown[], name?: string): Promise<Row[]>
}

/** The pool itself: single statements, or several in one transaction. */
export interface StatementPool extends Statements {
  /** One short transaction of SQL only. An error of `work` rolls it back. */
  together<T>(work: (inside: Statements) => Promise<T>): Promise<T>
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
