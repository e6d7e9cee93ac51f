import type { Owner } from '../kit/owner.ts'
import type { Statements } from '../kit/transaction.ts'
import type { StoredFile, Use } from './model.ts'

/** Where files are stored. */
export interface FileStore {
  inTransaction<T>(work: (inside: Statements) => Promise<T>): Promise<T>
  /** Throws where the account, or its customers, have no room for it. Its bytes count from now on. */
  begin(upload: NewUpload): Promise<void>
  append(id: string, place: number, content: Buffer): Promise<void>
  /** Null where the upload was given up meanwhile, or where the account has the same file already. */
  finish(id: string, found: Found): Promise<StoredFile | null>
  /** A file of the same name and content. */
  same(upload: NewUpload, sha256: string): Promise<StoredFile | null>
  /** Removes an upload that was not finished. */
  abandon(id: string): Promise<void>
  /** Removes uploads that have not ended in time, and files that are kept no longer. */
  sweep(now: Date): Promise<number>

  /** Stores until when these uploads of a checkout stay, never shorter than before; answers those that are there. */
  keep(inside: Statements, uploads: KeptUploads): Promise<string[]>
  /** What only this sale names waits for another one again, until then. */
  free(inside: Statements, saleId: string, until: Date): Promise<void>

  findOwn(owner: Owner, id: string): Promise<StoredFile | null>
  find(id: string): Promise<StoredFile | null>
  list(owner: Owner, page: Page): Promise<{ files: StoredFile[]; total: number; bytes: number }>
  chunk(id: string, place: number): Promise<Buffer | null>

  /** Locks the file until the transaction ends. */
  lockOwn(inside: Statements, owner: Owner, id: string): Promise<StoredFile | null>
  usesOf(inside: Statements, id: string): Promise<Use[]>
  delete(inside: Statements, owner: Owner, id: string): Promise<void>
  /** Makes these the files that the subject uses today; returns how many of them are the owner's. */
  use(inside: Statements, owner: Owner, subject: string, files: readonly string[]): Promise<number>
  /** False where there is no such file any more. */
  sold(inside: Statements, id: string, subject: string): Promise<boolean>
}

export interface NewUpload extends Pick<
  StoredFile,
  'id' | 'owner' | 'purpose' | 'checkoutId' | 'name' | 'bytes' | 'createdAt'
> {
  leaseUntil: Date
}

/** Uploads that an order names. */
export interface KeptUploads {
  checkoutId: string
  ids: readonly string[]
  /** Null where they go on counting as waiting. */
  saleId: string | null
  now: Date
  until: Date
}

export type Found = Pick<StoredFile, 'mediaType' | 'sha256' | 'width' | 'height' | 'keptUntil'>

export interface Page {
  limit: number
  offset: number
}

/** Which of these still show anything. What has ended holds no file back, unless it was sold. */
export type Living = (subjects: readonly string[], inside: Statements) => Promise<ReadonlySet<string>>
