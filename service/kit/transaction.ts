/** Somewhere to run SQL: the pool, or one open transaction. Who is given one need not know which. */
export interface Statements {
  /** A name makes it a prepared statement of that name; the same name always means the same text. */
  run<Row>(text: string, values: readonly unknown[], name?: string): Promise<Row[]>
}
