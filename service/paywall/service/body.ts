import { createHash } from 'node:crypto'
import { Transform, type Readable, type TransformCallback } from 'node:stream'
import { tooLarge } from '../errors.ts'

/** What the body is bound to as it goes out: no upstream has all of it before `bind` has agreed. */
export interface Binding {
  /** As announced; null where it is not. */
  length: number | null
  /** Rejects where the payment is for another body. */
  bind(hash: Buffer): Promise<void>
}

/** A request's body on its way to the upstream: counted, remembered as far as it is measured, and its hash taken. */
export class WatchedBody extends Transform {
  readonly #hash = createHash('sha256')
  readonly #most: number
  readonly #kept: Buffer[] = []
  #keep: number
  readonly #binding: Binding | null
  /** Held back until the payment is bound to the body. */
  #end: Buffer | null = null
  #bytes = 0
  /** Known once it has ended. */
  hash: Buffer | null = null

  constructor(most: number, keep: number, binding: Binding | null) {
    super()
    this.#most = most
    this.#keep = keep
    this.#binding = binding
  }

  /** The beginning of it. */
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

/** Its errors are those of whoever reads it. */
export function watched(
  body: Readable | null,
  most: number,
  keep: number,
  binding: Binding | null,
): WatchedBody | null {
  if (body === null) return null
  const through = new WatchedBody(most, keep, binding)
  body.on('error', (error) => through.destroy(error))
  // An upstream that answers without reading on must not leave the sender stuck.
  through.on('close', () => body.unpipe(through).resume())
  body.pipe(through)
  return through
}

/** Of a body that is only compared. */
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
