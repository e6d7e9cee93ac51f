import { createHash } from 'node:crypto'
import { accountOf, type Caller } from '../kit/caller.ts'
import type { Clock } from '../kit/clock.ts'
import { deriveId, isId, newId, type Id } from '../kit/ids.ts'
import type { Owner } from '../kit/owner.ts'
import type { Statements } from '../kit/transaction.ts'
import { fileGone, fileMissing, fileUnknown } from './errors.ts'
import type { Content, FileLimits, Purpose, StoredFile, Upload, UPLOADED } from './model.ts'
import type { FileStore, Living, NewUpload, Page } from './ports.ts'
import { assertDeletable, assertSize, downloadHeaders, HEAD_BYTES, PICTURE_HEADERS, typeOf } from './rules.ts'

/** Files that sellers upload: what checkouts sell, and pictures for pages. */
export function createFiles({ store, clock, limits, living, addressOf, links }: FileDeps) {
  /** The file with these bytes, which may have been there already. */
  async function received(about: Omit<NewUpload, 'leaseUntil'>, upload: Upload, keptUntil: Date | null) {
    const { id, purpose, createdAt } = about
    const begun: NewUpload = { ...about, leaseUntil: new Date(createdAt.getTime() + UPLOAD_MS) }
    await store.begin(begun)
    try {
      const { sha256, head } = await storeChunks(store, id, upload)
      const found = { ...typeOf(head, { declared: upload.mediaType, purpose }), sha256, keptUntil }
      const stored = (await store.finish(id, found)) ?? (await store.same(begun, sha256))
      if (stored === null) throw new Error('an upload was given up before it ended')
      if (stored.id !== id) await store.abandon(id)
      return stored
    } catch (error) {
      // Where this fails too, the sweeper removes it.
      await store.abandon(id).catch(() => undefined)
      throw error
    }
  }

  return {
    addressOf,
    limits,

    /** The same file again is the same file: an upload can be repeated. */
    async upload(caller: Caller, { name, purpose }: NewFile, upload: Upload, operation: Id<'op'>): Promise<StoredFile> {
      const owner = accountOf(caller)
      assertSize(upload, purpose, limits)
      const id = deriveId('file', operation)
      return await received({ id, owner, purpose, name, bytes: upload.bytes, createdAt: clock.now() }, upload, null)
    },

    /** A tool's answer that is too large to be sent. Its link opens it for whoever has it, without a key. */
    async keepAnswer(owner: Owner, { name, mediaType, body }: KeptAnswer): Promise<{ url: string; until: Date }> {
      const createdAt = clock.now()
      const id = newId('file', createdAt)
      const until = new Date(createdAt.getTime() + ANSWER_MS)
      const upload = { bytes: body.length, mediaType, chunks: piecesOf(body) }
      const about = { id, owner, purpose: 'answer', name, bytes: body.length, createdAt } as const
      const file = await received(about, upload, until)
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

/** Stores the bytes as they come. Only one piece of the file is in memory. */
async function storeChunks(
  store: FileStore,
  id: string,
  { chunks }: Upload,
): Promise<{ sha256: string; head: Buffer }> {
  const hash = createHash('sha256')
  const waiting: Buffer[] = []
  let length = 0
  let place = 0
  let head: Buffer | null = null
  const write = async (): Promise<void> => {
    if (length === 0) return
    const content = Buffer.concat(waiting.splice(0))
    length = 0
    head ??= content.subarray(0, HEAD_BYTES)
    await store.append(id, place++, content)
  }
  for await (const chunk of chunks) {
    hash.update(chunk)
    waiting.push(chunk)
    length += chunk.length
    if (length >= CHUNK_BYTES) await write()
  }
  await write()
  return { sha256: hash.digest('hex'), head: head ?? Buffer.alloc(0) }
}

async function* piecesOf(body: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < body.length; at += CHUNK_BYTES) yield await Promise.resolve(body.subarray(at, at + CHUNK_BYTES))
}

/** Its bytes stay until the sweeper comes by. */
function isOver({ keptUntil }: StoredFile, now: Date): boolean {
  return keptUntil !== null && keptUntil <= now
}

async function* chunksOf(store: FileStore, { id, bytes }: StoredFile): AsyncGenerator<Buffer> {
  let left = bytes
  for (let place = 0; left > 0; place++) {
    const chunk = await store.chunk(id, place)
    if (chunk === null) throw new Error('a file was deleted while it was read')
    left -= chunk.length
    yield chunk
  }
}

const CHUNK_BYTES = 262_144
/** Longer than a request may take to arrive. */
const UPLOAD_MS = 300_000
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
}

export type Files = ReturnType<typeof createFiles>
