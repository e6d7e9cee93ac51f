/** What becomes of a table's rows in time. Every table has one, or its rows would be nobody's. */
export type Fate = Kept | EndedByItsOwner | Retention

/** For ever, and why: because it is money, because it was promised, or because there is one for each of something. */
export interface Kept {
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

/** How far a look at a table has come. */
export interface Stretch {
  readonly removed: number
  /** Where the next one begins; null when nothing old comes behind it. */
  readonly next: readonly string[] | null
}
