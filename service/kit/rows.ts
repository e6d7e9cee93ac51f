import type { Owner } from './owner.ts'

/** A row as models have it: the account and environment that it belongs to are one field. */
export function withOwner<Row extends Owner>(row: Row): Omit<Row, keyof Owner> & { owner: Owner } {
  const { userId, environment, ...rest } = row
  return { ...rest, owner: { userId, environment } }
}

/** Rows by columns, as SQL's `unnest` takes them. */
export function columnsOf<Row>(rows: readonly Row[], ...names: readonly (keyof Row)[]): unknown[][] {
  return names.map((name) => rows.map((row) => row[name]))
}
