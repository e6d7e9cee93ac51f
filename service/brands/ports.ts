import type { Purpose, StoredFile } from '../files/model.ts'
import type { Owner } from '../kit/owner.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Brand } from './model.ts'

/** Where brands are stored: at most one row for each account. */
export interface BrandStore {
  inTransaction<T>(work: (inside: Statements) => Promise<T>): Promise<T>
  /** An empty one where nothing was set. */
  find(owner: Owner): Promise<Brand>
  /** The same, locked until the transaction ends. */
  lock(inside: Statements, owner: Owner, now: Date): Promise<Brand>
  save(inside: Statements, owner: Owner, brand: Brand, now: Date): Promise<void>
}

/** The part of the files' API that brands use. */
export interface FilePort {
  named(owner: Owner, id: string, as: { purpose: Purpose; field: string }): Promise<StoredFile>
  use(inside: Statements, owner: Owner, subject: string, files: readonly string[]): Promise<void>
  find(id: string): Promise<StoredFile | null>
  addressOf(picture: string): string
}

/** What a change may leave out. */
export type BrandChange = { [Name in keyof Brand]?: Brand[Name] | undefined }

/** The name under which a brand uses its logo, which cannot be deleted meanwhile. */
export function subjectOf({ userId, environment }: Owner): string {
  return `brand ${userId} ${environment}`
}
