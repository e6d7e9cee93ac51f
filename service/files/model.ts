import type { Id } from '../kit/ids.ts'
import type { Owner } from '../kit/owner.ts'

/** A file that a seller uploaded, or a customer into the form of the seller's checkout. */
export interface StoredFile {
  id: Id<'file'>
  owner: Owner
  purpose: Purpose
  /** The checkout of a customer's upload; null for every other file. */
  checkoutId: string | null
  /** One line without a folder. */
  name: string
  mediaType: string
  bytes: number
  /** Hexadecimal. */
  sha256: string
  /** In pixels; null where it is no picture. */
  width: number | null
  height: number | null
  /** Removed then; null where it stays. */
  keptUntil: Date | null
  createdAt: Date
}

/** What an upload is for. `sale`: only buyers get it. `picture`: everyone who has its address, to be shown on pages. */
export const UPLOADED = ['sale', 'picture'] as const
/**
 * `answer`: what a tool answered, where that was too large to be sent. `input`: what a customer uploaded into a form.
 * Everyone who has its link gets either.
 */
export const PURPOSES = [...UPLOADED, 'answer', 'input'] as const
export type Purpose = (typeof PURPOSES)[number]

/** A file on its way in. */
export interface Upload {
  /** How long it is, as its sender says before it is read. */
  bytes: number
  /** As its sender says. */
  mediaType: string | null
  chunks: AsyncIterable<Buffer>
}

/** A file on its way out, piece by piece. */
export interface Content {
  file: StoredFile
  chunks: AsyncIterable<Buffer>
  /** For an answer whose body it is. */
  headers: Readonly<Record<string, string>>
}

/** What a customer uploaded, by the link that is the value of a field. */
export interface CustomerUpload {
  url: string
  name: string
  bytes: number
  /** Unless an order names it before. */
  expiresAt: Date
}

/** Who shows a file or hands it out. */
export interface Use {
  /** A checkout's id, or another page's name. */
  subject: string
  current: boolean
  /** Buyers have paid for it. */
  sold: boolean
}

export interface FileLimits {
  /** Of one file. */
  bytesMax: number
  /** Of all files of an account. */
  accountBytesMax: number
  filesMax: number
  /** Of what an account's customers upload, which takes none of the room of its own files. */
  customers: RoomLimits
}

export interface RoomLimits {
  bytesMax: number
  filesMax: number
}
