/** What the whole service has to know of a capability's tables. Each capability brings its own. */
export interface Tables {
  /** Every table of the capability, by name, and how long its rows stay. */
  retention(kept: RetentionDays): Readonly<Record<string, RetentionPolicy>>
  metrics?: readonly MetricQuery[]
  /** SQL that is otherwise than before when something of that kind has changed, for the account `o`. */
  changes?: Readonly<Record<string, readonly string[]>>
}

/** How long the rows of a table stay. Every table has one. */
export type RetentionPolicy = Permanent | EndedByItsOwner | Retention

/** For ever, and why: because it is money, because it was promised, or because there is one for each of something. */
export interface Permanent {
  readonly kept: string
}

/** The part that the table belongs to removes them itself, as part of its work. */
export interface EndedByItsOwner {
  readonly ends: string
}

export interface Retention {
  /** How old a row becomes; null where the operator keeps them for ever. */
  readonly keptMs: number | null
  /** When its time began to run. */
  readonly age: string
  /**
   * Along which the rows are looked at, oldest first, with their types: together they tell any two rows apart, and an
   * index leads there. Their order is that of `age`, so what comes behind a young row is young too.
   */
  readonly key: readonly (readonly [column: string, type: KeyType])[]
  /** SQL about a row `t`: while that is true it stays, however old. */
  readonly unless?: string
  /** SQL: only these rows have the time run at all. As it stands in a partial index. */
  readonly among?: string
  /** SQL that empties a row, where the row itself is kept. */
  readonly instead?: string
  /** For people: what is removed, what stays. */
  readonly says: string
}

export type KeyType = 'timestamptz' | 'bigint' | 'text' | 'bytea' | 'date'

/** How many days operators keep what they may differ about; 0 is for ever. */
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

/** A share of the one statement that reads all metrics of the database. */
export interface MetricQuery {
  declared: readonly { name: string; help: string; labels: readonly string[] }[]
  /**
   * Rows of a metric's name, two labels and a value, along an index of what is open: a history of any length costs
   * nothing. `$1` is now, `$2` the queue's topics.
   */
  sql: string
}

export const ageOf = (moment: string): string => `greatest(0, extract(epoch FROM $1::timestamptz - ${moment}))::float8`

/** Of the account whose changes are looked for. */
export const OWNED = 'user_id = o.user_id AND environment = o.environment'

/** One text over rows of `id` and `mark`, in their order. */
export function rowMarks(rows: string): string {
  return `(SELECT string_agg(r.mark, ' ' ORDER BY r.id) FROM (${rows}) r)`
}

/** Over the account's newest rows. */
export function newestMarks(table: string, columns: string, count: number, where = OWNED): string {
  return rowMarks(
    `SELECT id::text AS id, concat_ws(',', id, ${columns}) AS mark FROM ${table} WHERE ${where} ORDER BY id DESC LIMIT ${String(count)}`,
  )
}

/** Of each of an account's newest things the last of what belongs to it. */
export function latestMarks(table: string, of: string, things: string, columns: string): string {
  return rowMarks(`
    SELECT t.id, last.mark FROM (SELECT id FROM ${things} WHERE ${OWNED} ORDER BY id DESC LIMIT 20) t
    CROSS JOIN LATERAL (
      SELECT concat_ws(',', c.id, ${columns}) AS mark FROM ${table} c WHERE c.${of} = t.id ORDER BY c.id DESC LIMIT 1
    ) last`)
}
