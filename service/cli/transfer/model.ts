import { DomainError } from '../../kit/errors.ts'

/** A table as it is copied. */
export interface Table {
  readonly name: string
  /** Quoted, without those that the server computes. */
  readonly columns: string
  readonly blocks: number
  readonly bytes: number
}

/** A table's checksum: how many rows, and a sum over them in which their order does not matter. */
export interface Sum {
  readonly rows: string
  readonly sum: string
}

/** Identifies the source database, and shows whether it was written to since. */
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

/** Why nothing is moved, as a sentence for the operator. */
export function refused(sentence: string): DomainError {
  return new DomainError('conflict', 'move_refused', sentence)
}
