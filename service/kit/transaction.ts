/** Runs SQL: the pool, or one open transaction. */
export interface Statements {
  /** A name makes it a prepared statement of that name; the same name always means the same text. */
  run<Row>(text: string, values: readonly unknown[], name?: string): Promise<Row[]>
}

/** The pool itself: statements one by one, or several that happen together or not at all. */
export interface StatementPool extends Statements {
  /** One short transaction of nothing but SQL. An error of `work` undoes it. */
  together<T>(work: (inside: Statements) => Promise<T>): Promise<T>
}

/**
 * Repeats the work after a conflict: another process committed the same thing, or locked the same rows in another
 * order. The work must be safe to repeat.
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
