import type { Owner } from './owner.ts'

/** A row as models have it: its account and environment become one field. */
export function withOwner<Row extends Owner>(row: Row): Omit<Row, keyof Owner> & { owner: Owner } {
  const { userId, environment, ...rest } = row
  return { ...rest, owner: { userId, environment } }
}

/** Rows by columns, as SQL's `unnest` expects them. */
export function columnsOf<Row>(rows: readonly Row[], ...names: readonly (keyof Row)[]): unknown[][] {
  return names.map((name) => rows.map((row) => row[name]))
}

/** A row of a table whose columns are the fields of a model: `block_number` for `blockNumber`. */
export type RowOf<Model> = { [Field in keyof Model & string as Underscored<Field>]: Model[Field] }

/** The model of a row whose columns are its fields, value by value. */
export type ModelOf<Row> = { [Column in keyof Row & string as CamelCased<Column>]: Row[Column] }

export function fromRow<Row extends object>(row: Row): ModelOf<Row> {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [camelCased(column), value])) as ModelOf<Row>
}

/** Addresses and hashes are stored as bytes: this takes half the size, and letter case cannot make two of one. */
export function toBytes(hex: `0x${string}`): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}

export function toHex(bytes: Buffer): `0x${string}` {
  return `0x${bytes.toString('hex')}`
}

/**
 * The ids of a table's rows in turns of their accounts: the first of each before the second of any, so one
 * account's many rows do not delay the others'. Add a `LIMIT` to it.
 */
export function inTurns(table: string, { where, by }: { where: string; by: string }): string {
  return `
  SELECT id FROM (
    SELECT id, ${by} AS since, row_number() OVER (PARTITION BY environment, user_id ORDER BY ${by}, id) AS turn
    FROM ${table} WHERE ${where}
  ) waiting ORDER BY turn, since, id`
}

type Underscored<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Underscored<Rest>}`
  : ''

type CamelCased<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCased<Tail>>}`
  : Name

function camelCased(column: string): string {
  let name = names.get(column)
  if (name === undefined) {
    name = column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    names.set(column, name)
  }
  return name
}

const names = new Map<string, string>()
