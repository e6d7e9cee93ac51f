import { pipeline, Readable, Transform, type TransformCallback } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { responseTooLarge, responseUndecodable } from './errors.ts'

export interface BodyRules {
  readonly host: string
  readonly bytes: number
  readonly truncate: boolean
  /** Converts an error of the connection or of zlib to the error that the reader gets. */
  readonly explain: (error: unknown) => Error
}

/**
 * A response body as its reader gets it: decoded, and never longer than allowed. Each stage waits for the next, so a
 * decompression bomb is unpacked piece by piece and dropped at the limit. Memory use does not grow with the body.
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
    // The body may fail before its reader listens. The reader still gets the error.
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
      // The body is empty but claims an encoding. zlib would report a missing header, but the sender meant an empty
      // body.
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

  /** Errors after the end are ignored: a truncated body ends by closing the connection, which is not a failure. */
  #fail(error: Error): void {
    if (!this.#over) this.destroy(this.#rules.explain(error))
  }
}

/** The encodings in the `content-encoding` header, the outermost last. `identity` is left out. */
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
  // More than one layer is suspicious. Two are allowed for honest proxies.
  if (makers.length < encodings.length || makers.length > 2) {
    wire.on('error', () => undefined).destroy()
    throw responseUndecodable(rules.host, new Error(`content-encoding: ${encodings.join(', ')}`))
  }
  const stages = [wire, meter, ...makers.reverse().map((make) => make())] as [Readable, ...Transform[]]
  // Errors reach the last stage by themselves. `pipeline` only requires a callback.
  pipeline(stages, () => undefined)
  return stages.at(-1) as Readable
}

/** Ends a compressed body that is too large even before decompression: empty blocks could go on for ever. */
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
  // At most a 16 MB window: brotli's large-window mode could ask for a gigabyte.
  ['br', () => createBrotliDecompress({ params: { [constants.BROTLI_DECODER_PARAM_LARGE_WINDOW]: 0 } })],
])
