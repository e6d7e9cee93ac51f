/** A table as it is copied. */
export interface Table {
  readonly name: string
  /** Quoted, without those that the server computes. */
  readonly columns: string
  readonly blocks: number
  readonly bytes: number
}

/** What a table holds, told in a few digits: how many rows, and a sum over them in which their order does not matter. */
export interface Sum {
  readonly rows: string
  readonly sum: string
}

/** Where the rows come from: whose they are, and whether anybody wrote there since. */
export interface Source {
  /** One cluster's, for good. */
  readonly id: string
  /** The number of the next transaction that writes: the same again, and nothing was written in between. */
  readonly state: string
  readonly migrations: string
}

export interface Progress {
  readonly table: string
  /** Of all tables together, by the source's size. */
  readonly done: number
  readonly of: number
  readonly copied: number
}
