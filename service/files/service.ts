import { accountOf, type Caller } from '../kit/caller.ts'
import type { Clock } from '../kit/clock.ts'
import { deriveId, isId, newId, type Id } from '../kit/ids.ts'
import type { Owner } from '../kit/owner.ts'
import type { Statements } from '../kit/transaction.ts'
import { fileGone, fileMissing, fileUnknown } from './errors.ts'
import type { Content, FileLimits, Purpose, StoredFile, Upload, UPLOADED } from './model.ts'
import { createCustomerUploads, type UploadLinks } from './customer-uploads.ts'
import type { FileStore, Living, Page } from './ports.ts'
import { chunksOf, isOver, piecesOf, receive } from './receive.ts'
import { assertDeletable, assertSize, downloadHeaders, PICTURE_HEADERS } from './rules.ts'

/** Files that sellers upload: what checkouts sell, and pictures for pages. And what customers upload into forms. */
export function createFiles({ store, clock, limits, living, addressOf, links, uploadLinks }: FileDeps) {
  return {
    addressOf,
    limits,
    customers: createCustomerUploads({ store, clock, limits, links: uploadLinks }),

    /** The same file again is the same file: an upload can be repeated. */
    async upload(caller: Caller, { name, purpose }: NewFile, upload: Upload, operation: Id<'op'>): Promise<StoredFile> {
      const owner = accountOf(caller)
      assertSize(upload, purpose, limits)
      const id = deriveId('file', operation)
      const about = { id, owner, purpose, checkoutId: null, name, bytes: upload.bytes, createdAt: clock.now() }
      return await receive(store, about, upload, null)
    },

    /** A tool's answer that is too large to be sent. Its link opens it for whoever has it, without a key. */
    async keepAnswer(owner: Owner, { name, mediaType, body }: KeptAnswer): Promise<{ url: string; until: Date }> {
      const createdAt = clock.now()
      const id = newId('file', createdAt)
      const until = new Date(createdAt.getTime() + ANSWER_MS)
      const upload = { bytes: body.length, mediaType, chunks: piecesOf(body) }
      const about = { id, owner, purpose: 'answer', checkoutId: null, name, bytes: body.length, createdAt } as const
      const file = await receive(store, about, upload, until)
      return { url: links.of(file.id), until: file.keptUntil ?? until }
    },

    async answer(id: string, token: string): Promise<Content> {
      const file = isId('file', id) && links.isFor(id, token) ? await store.find(id) : null
      if (file?.purpose !== 'answer' || isOver(file, clock.now())) throw fileMissing()
      return { file, chunks: chunksOf(store, file), headers: downloadHeaders(file) }
    },

    async get(caller: Caller, id: string): Promise<StoredFile> {
      const file = isId('file', id) ? await store.findOwn(accountOf(caller), id) : null
      if (file === null) throw fileMissing()
      return file
    },

    list: (caller: Caller, page: Page) => store.list(accountOf(caller), page),

    /** `soldToo`: also where buyers can still download it. */
    async delete(caller: Caller, id: string, { soldToo }: { soldToo: boolean }): Promise<void> {
      const owner = accountOf(caller)
      await store.inTransaction(async (inside) => {
        const file = isId('file', id) ? await store.lockOwn(inside, owner, id) : null
        if (file === null) throw fileMissing()
        const uses = await store.usesOf(inside, file.id)
        const shown = await living(
          uses.filter(({ current }) => current).map(({ subject }) => subject),
          inside,
        )
        const today = uses.map((use) => ({ ...use, current: use.current && shown.has(use.subject) }))
        assertDeletable(today, { soldToo })
        await store.delete(inside, owner, file.id)
      })
    },

    /** The owner's file for a field of a page or a checkout; throws with the field's name. */
    async named(
      owner: Owner,
      id: string,
      { purpose, field }: { purpose: Purpose; field: string },
    ): Promise<StoredFile> {
      const file = isId('file', id) ? await store.findOwn(owner, id) : null
      if (file?.purpose !== purpose) throw fileUnknown(field)
      return file
    },

    /**
     * In the transaction that stores the page: from now on the subject uses exactly these files, and they cannot be
     * deleted. A checkout's subject is its id.
     */
    async use(inside: Statements, owner: Owner, subject: string, files: readonly string[]): Promise<void> {
      const wanted = [...new Set(files)]
      if ((await store.use(inside, owner, subject, wanted)) < wanted.length) throw fileUnknown('fileId')
    },

    /** In the transaction that sells it. False where it was deleted meanwhile. */
    sold: (inside: Statements, id: string, subject: string): Promise<boolean> => store.sold(inside, id, subject),

    /** For a buyer who has paid. */
    async content(id: string): Promise<Content> {
      const file = await store.find(id)
      if (file === null) throw fileGone()
      return { file, chunks: chunksOf(store, file), headers: downloadHeaders(file) }
    },

    find: (id: string): Promise<StoredFile | null> => (isId('file', id) ? store.find(id) : Promise.resolve(null)),

    /** For everyone: only what was uploaded as a picture. */
    async picture(id: string): Promise<Content> {
      const file = isId('file', id) ? await store.find(id) : null
      if (file?.purpose !== 'picture') throw fileMissing()
      return { file, chunks: chunksOf(store, file), headers: PICTURE_HEADERS }
    },

    sweep: (now: Date): Promise<number> => store.sweep(now),
  }
}

/** As long as a request can be repeated. */
const ANSWER_MS = 26 * 3_600_000

export interface NewFile {
  name: string
  purpose: (typeof UPLOADED)[number]
}

export interface KeptAnswer {
  name: string
  mediaType: string
  body: Buffer
}

/** Every process can make a file's link from its id, so none is stored. */
export interface FileLinks {
  of(id: string): string
  isFor(id: string, token: string): boolean
}

export interface FileDeps {
  store: FileStore
  clock: Clock
  limits: FileLimits
  living: Living
  /** Where a picture is shown from. */
  addressOf(picture: string): string
  links: FileLinks
  uploadLinks: UploadLinks
}

export type Files = ReturnType<typeof createFiles>
