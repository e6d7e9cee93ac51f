import { createHash } from 'node:crypto'
import { Transform, type Readable, type TransformCallback } from 'node:stream'
import { tooLarge } from '../errors.ts'

/** Binds the payment to the body: no upstream gets the last byte before `bind` has accepted the hash. */
export interface Binding {
  /** The announced length; null without one. */
  length: number | null
  /** Rejects if the payment is bound to another body. */
  bind(hash: Buffer): Promise<void>
}

/** Counts and hashes a request's body on its way to the upstream, and keeps its beginning for measuring. */
export class WatchedBody extends Transform {
  readonly #hash = createHash('sha256')
  readonly #most: number
  readonly #kept: Buffer[] = []
  #keep: number
  readonly #binding: Binding | null
  /** Held back until the payment is bound to the body. */
  #end: Buffer | null = null
  #bytes = 0
  /** Set once the body has ended. */
  hash: Buffer | null = null

  constructor(most: number, keep: number, binding: Binding | null) {
    super()
    this.#most = most
    this.#keep = keep
    this.#binding = binding
  }

  /** The kept beginning of the body. */
  text(): string {
    return Buffer.concat(this.#kept).toString('utf8')
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#bytes += chunk.length
    if (this.#bytes > this.#most) {
      done(tooLarge(this.#most))
      return
    }
    this.#hash.update(chunk)
    if (this.#keep > 0) {
      this.#kept.push(chunk.subarray(0, this.#keep))
      this.#keep -= chunk.length
    }
    // A body of unknown length ends with its stream; one of a known length with its last byte.
    const last = this.#binding?.length === this.#bytes && chunk.length > 0
    if (last) this.#end = chunk.subarray(-1)
    done(null, last ? chunk.subarray(0, -1) : chunk)
  }

  override _flush(done: TransformCallback): void {
    const hash = this.#hash.digest()
    const bound = this.#binding?.bind(hash) ?? Promise.resolve()
    bound.then(() => {
      this.hash = hash
      if (this.#end !== null) this.push(this.#end)
      done()
    }, done)
  }
}

/** The reader of the returned stream handles its errors. */
export function watched(
  body: Readable | null,
  most: number,
  keep: number,
  binding: Binding | null,
): WatchedBody | null {
  if (body === null) return null
  const through = new WatchedBody(most, keep, binding)
  body.on('error', (error) => through.destroy(error))
  // If an upstream answers without reading the whole body, the sender must not get stuck.
  through.on('close', () => body.unpipe(through).resume())
  body.pipe(through)
  return through
}

/** The hash of a body that is only compared. */
export async function hashOf(body: Readable | null, most: number): Promise<Buffer> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += (chunk as Buffer).length
    if (bytes > most) throw tooLarge(most)
    hash.update(chunk as Buffer)
  }
  return hash.digest()
}
