import { pipeline, Readable, Transform, type TransformCallback } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { responseTooLarge, responseUndecodable } from './errors.ts'

export interface BodyRules {
  readonly host: string
  readonly bytes: number
  readonly truncate: boolean
  /** What an error of the wire or of zlib is to the one who reads. */
  readonly explain: (error: unknown) => Error
}

/**
 * A body as its reader gets it: decoded, and never longer than allowed. Each stage waits for the next, so a
 * bomb unfolds one piece at a time and is dropped at the limit; what is held does not grow with what is sent.
 */
export class CappedBody extends Readable {
  /** Known when the body has ended. */
  truncated = false
  readonly #source: Readable
  readonly #rules: BodyRules
  #left: number
  #over = false

  constructor(wire: Readable, encodings: readonly string[], rules: BodyRules) {
    super()
    this.#rules = rules
    this.#left = rules.bytes
    // It may fail before its reader has come to listen; the reader learns of it all the same.
    this.on('error', () => undefined)
    const meter = new Meter(rules)
    this.#source = decoded(wire, encodings, meter, rules)
    this.#source.on('data', (chunk: Buffer) => {
      this.#take(chunk)
    })
    this.#source.once('end', () => {
      this.#end()
    })
    this.#source.on('error', (error) => {
      // An encoding of nothing at all: zlib misses its header, the sender meant an empty body.
      if (wire.readableEnded && meter.bytes === 0) this.#end()
      else this.#fail(error)
    })
    this.#source.once('close', () => {
      this.#fail(new Error('the body broke off'))
    })
    this.#source.pause()
  }

  override _read(): void {
    this.#source.resume()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#source.destroy()
    done(error)
  }

  #take(chunk: Buffer): void {
    if (this.#over || this.destroyed) return
    if (chunk.length <= this.#left) {
      this.#left -= chunk.length
      if (!this.push(chunk)) this.#source.pause()
    } else if (this.#rules.truncate) {
      this.truncated = true
      this.push(chunk.subarray(0, this.#left))
      this.#end()
      this.#source.destroy()
    } else {
      this.destroy(responseTooLarge(this.#rules.host, this.#rules.bytes))
    }
  }

  #end(): void {
    this.#over = true
    this.push(null)
  }

  /** After the end nothing fails any more: hanging up on what is not wanted is how a truncated body ends well. */
  #fail(error: Error): void {
    if (!this.#over) this.destroy(this.#rules.explain(error))
  }
}

/** The `content-encoding` header as a list, the outermost last; what changes nothing is left out. */
export function toEncodings(header: string | readonly string[] | undefined): string[] {
  const text = typeof header === 'string' ? header : (header ?? []).join(',')
  return text
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity')
}

function decoded(wire: Readable, encodings: readonly string[], meter: Meter, rules: BodyRules): Readable {
  if (encodings.length === 0) return wire
  const makers = encodings.map((encoding) => DECODERS.get(encoding)).filter((maker) => maker !== undefined)
  // More than one layer is suspicious; two are let through for honest proxies.
  if (makers.length < encodings.length || makers.length > 2) {
    wire.on('error', () => undefined).destroy()
    throw responseUndecodable(rules.host, new Error(`content-encoding: ${encodings.join(', ')}`))
  }
  const stages = [wire, meter, ...makers.reverse().map((make) => make())] as [Readable, ...Transform[]]
  // Errors reach the last stage by themselves; pipeline only wants a listener.
  pipeline(stages, () => undefined)
  return stages.at(-1) as Readable
}

/** Ends a compressed body that would be too large even as sent: empty blocks unfold to nothing for ever. */
class Meter extends Transform {
  bytes = 0
  readonly #rules: BodyRules
  readonly #most: number

  constructor(rules: BodyRules) {
    super()
    this.#rules = rules
    this.#most = rules.truncate ? Infinity : rules.bytes + 65_536
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.bytes += chunk.length
    if (this.bytes <= this.#most) done(null, chunk)
    else done(responseTooLarge(this.#rules.host, this.#rules.bytes))
  }
}

const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['deflate', () => createInflate()],
  // 16 MB of window at most: brotli's large-window mode could ask for a gigabyte.
  ['br', () => createBrotliDecompress({ params: { [constants.BROTLI_DECODER_PARAM_LARGE_WINDOW]: 0 } })],
])
