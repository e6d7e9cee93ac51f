import { createHash } from 'node:crypto'
import type { StoredFile, Upload } from './model.ts'
import type { FileStore, NewUpload } from './ports.ts'
import { HEAD_BYTES, typeOf } from './rules.ts'

/** Stores an upload and returns its file: where the account has the same one already, that one. */
export async function receive(
  store: FileStore,
  about: Omit<NewUpload, 'leaseUntil'>,
  upload: Upload,
  keptUntil: Date | null,
): Promise<StoredFile> {
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

export async function* piecesOf(body: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < body.length; at += CHUNK_BYTES) yield await Promise.resolve(body.subarray(at, at + CHUNK_BYTES))
}

/** Its bytes stay until the sweeper comes by. */
export function isOver({ keptUntil }: StoredFile, now: Date): boolean {
  return keptUntil !== null && keptUntil <= now
}

export async function* chunksOf(store: FileStore, { id, bytes }: StoredFile): AsyncGenerator<Buffer> {
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
