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
