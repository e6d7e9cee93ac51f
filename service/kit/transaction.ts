/** Somewhere to run SQL: the pool, or one open transaction. Who is given one need not know which. */
export interface Statements {
  /** A name makes it a prepared statement of that name; the same name always means the same text. */
  run<Row>(text: string, values: readonly unknown[], name?: string): Promise<Row[]>
}

/** The pool itself: statements one by one, or several that happen together or not at all. */
export interface StatementPool extends Statements {
  /** One short transaction of nothing but SQL. Whatever `work` throws undoes it. */
  together<T>(work: (inside: Statements) => Promise<T>): Promise<T>
}

/**
 * Another process committed the same thing, or locked the same rows the other way round, after this work took
 * its view: with a new view it finds what is there. The work must be safe to repeat.
 */
export async function again<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === ATTEMPTS || !COLLISIONS.has((error as { code?: string }).code ?? '')) throw error
    }
  }
}

const ATTEMPTS = 3
/** Unique violation, deadlock, serialization failure. */
const COLLISIONS = new Set(['23505', '40P01', '40001'])
