import type { Statements } from './transaction.ts'

/** What the service needs to know about a capability's tables. Each capability supplies its own. */
export interface Tables {
  /** Every table of the capability, by name, and how long its rows stay. */
  retention(kept: RetentionDays): Readonly<Record<string, RetentionPolicy>>
  metrics?: readonly MetricQuery[]
  /** Every column of them that has secrets which the vault seals. */
  sealed?: readonly SealedColumn[]
  /** SQL whose result changes when data of that kind has changed, for the account `o`. */
  changes?: Readonly<Record<string, readonly string[]>>
}

/** A column with sealed secrets: a text that is one, or JSON with some in it. */
export interface SealedColumn {
  readonly table: string
  readonly column: string
  readonly type: 'text' | 'json' | 'jsonb'
  /** SQL of a query over a row `t`: each secret that is sealed in it, and the context that it is bound to. */
  readonly secrets: string
}

/** A column that is one sealed text. `context`: SQL over a row `t`. */
export function sealedText(table: string, column: string, context: string): SealedColumn {
  return { table, column, type: 'text', secrets: `SELECT t.${column}, ${context}` }
}

/** The columns of a secret that is rotated: the present one, the previous one and those before it. */
export function sealedInTurn(table: string, context: string): readonly SealedColumn[] {
  const earlier = `SELECT e ->> 'sealed', ${context} FROM jsonb_array_elements(t.earlier_sealed) e`
  return [
    sealedText(table, 'sealed', context),
    sealedText(table, 'previous_sealed', context),
    { table, column: 'earlier_sealed', type: 'jsonb', secrets: earlier },
  ]
}

/** How long the rows of a table stay. Every table has one. */
export type RetentionPolicy = Permanent | EndedByItsOwner | Retention

/**
 * The rows stay for ever. The reason: they are money, they were promised, or there is one for each of something else.
 */
export interface Permanent {
  readonly kept: string
}

/** The capability that owns the table removes its rows as part of its work. */
export interface EndedByItsOwner {
  readonly ends: string
}

export interface Retention {
  /** The age at which a row is removed. Null when the operator keeps rows for ever. */
  readonly keptMs: number | null
  /** The column from which the age counts. */
  readonly age: string
  /**
   * The columns, with their types, that order the scan of the rows, oldest first. They identify a row, and an index
   * covers them. Their order is that of `age`, so all rows after a young row are young too.
   */
  readonly key: readonly (readonly [column: string, type: KeyType])[]
  /** A SQL condition on a row `t`. While it is true the row stays at any age. */
  readonly unless?: string
  /** A SQL condition: only these rows expire. Written as in the table's partial index. */
  readonly among?: string
  /** SQL that empties the row instead of removing it. */
  readonly instead?: string
  /** For people: what is removed and what stays. */
  readonly says: string
}

export type KeyType = 'timestamptz' | 'bigint' | 'text' | 'bytea' | 'date'

/** How many days operators keep data whose retention they can configure. 0 is for ever. */
export interface RetentionDays {
  readonly deliveries: number
  readonly decisions: number
  readonly draws: number
  readonly answers: number
  readonly reconciliations: number
}

export const BOOKS = 'money: the books are never thinned out'
export const DAY_MS = 86_400_000
export const HOUR_MS = 3_600_000

export function days(count: number): number | null {
  return count === 0 ? null : count * DAY_MS
}

/** One part of the single statement that reads all metrics of the database. */
export interface MetricQuery {
  declared: readonly { name: string; help: string; labels: readonly string[] }[]
  /**
   * Returns rows with a metric's name, two labels and a value. It reads an index of open rows, so the length of the
   * history does not matter. `$1` is the current time, `$2` the queue's topics, `$3` the networks whose deposits are looked for.
   */
  sql: string
}

export const ageOf = (moment: string): string => `greatest(0, extract(epoch FROM $1::timestamptz - ${moment}))::float8`

/** Selects the rows of the account whose changes are looked for. */
export const OWNED = 'user_id = o.user_id AND environment = o.environment'

/** One text from rows of `id` and `mark`, in order. */
export function rowMarks(rows: string): string {
  return `(SELECT string_agg(r.mark, ' ' ORDER BY r.id) FROM (${rows}) r)`
}

/** The marks of the account's newest rows. */
export function newestMarks(table: string, columns: string, count: number, where = OWNED): string {
  return rowMarks(
    `SELECT id::text AS id, concat_ws(',', id, ${columns}) AS mark FROM ${table} WHERE ${where} ORDER BY id DESC LIMIT ${String(count)}`,
  )
}

/** For each of the account's newest things, the mark of the last row that belongs to it. */
export function latestMarks(table: string, of: string, things: string, columns: string): string {
  return rowMarks(`
    SELECT t.id, last.mark FROM (SELECT id FROM ${things} WHERE ${OWNED} ORDER BY id DESC LIMIT 20) t
    CROSS JOIN LATERAL (
      SELECT concat_ws(',', c.id, ${columns}) AS mark FROM ${table} c WHERE c.${of} = t.id ORDER BY c.id DESC LIMIT 1
    ) last`)
}

/** A figure that is not what its rows say, as the check of the books names it. */
export interface Difference {
  subject: string
  figure: string
  recorded: string
  recomputed: string
}

/** What these statements find, each of them in rows of this form. */
export async function differencesBy(statements: Statements, checks: readonly string[]): Promise<Difference[]> {
  const found: Difference[] = []
  for (const text of checks) found.push(...(await statements.run<Difference>(text, [])))
  return found
}
