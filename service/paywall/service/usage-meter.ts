import { jsonOrUndefined } from '../../kit/json-shape.ts'
import { Transform, type Readable, type TransformCallback } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { Metered } from '../model.ts'
import type { CountTokens } from '../ports.ts'
import { costOf, type Tokens } from '../rules/pricing.ts'
import { textIn, together, usageIn } from '../rules/usage.ts'
import type { Usdc } from '../../kit/money.ts'

/** The cost of a complete answer. */
export async function costOfWhole(
  pricing: Metered,
  call: { sent: string; body: Buffer; ms: number },
  countTokens: CountTokens,
): Promise<Usdc> {
  if (pricing.model === 'per-minute') return costOf(pricing, { tokens: null, ms: call.ms })
  const text = call.body.toString('utf8')
  const json = jsonOrUndefined(text)
  const said = usageIn(json)
  return costOf(pricing, {
    tokens: said ?? (await counted(call.sent, json === undefined ? text : textIn(json), countTokens)),
    ms: call.ms,
  })
}

async function counted(sent: string, got: string, countTokens: CountTokens): Promise<Tokens> {
  const asked = jsonOrUndefined(sent)
  const [input, output] = await Promise.all([
    countTokens((asked === undefined ? sent : textIn(asked)).slice(0, COUNTED_MAX)),
    countTokens(got.slice(0, COUNTED_MAX)),
  ])
  return { input, output }
}

/** A text beyond this length is not tokenized in full. */
const COUNTED_MAX = 1_000_000

/** Passes a stream on unchanged and reads the usage that it reports. */
export class StreamMeter extends Transform {
  readonly #decoder = new StringDecoder('utf8')
  #line = ''
  #usage: Tokens | null = null
  #text = ''
  readonly #listens: boolean
  /** The stream has reached its own end, so its report of usage is complete. */
  #whole = false

  constructor(pricing: Metered) {
    super()
    this.#listens = pricing.model === 'per-token'
  }

  async cost(pricing: Metered, sent: string, ms: number, countTokens: CountTokens): Promise<Usdc> {
    if (pricing.model === 'per-minute') return costOf(pricing, { tokens: null, ms })
    if (this.#whole && this.#usage !== null) return costOf(pricing, { tokens: this.#usage, ms })
    // A stream that broke off has not reported everything: the count so far is the least that was used.
    return costOf(pricing, { tokens: together(this.#usage, await counted(sent, this.#text, countTokens)), ms })
  }

  /**
   * Reads the stream; `end` resolves when there is nothing more to read. If the reader leaves early, the upstream still
   * does the work, so the stream is read to its end or for this long, to get its usage. If time is charged, the stream
   * ends when the reader leaves.
   */
  listen(source: Readable, mostMs: number): { end: Promise<void> } {
    this.on('error', () => undefined)
    // The stream may have broken off while the payment settled; then there is nothing more to read.
    if (source.destroyed && !source.readableEnded) {
      this.destroy()
      return { end: Promise.resolve() }
    }
    const end = new Promise<void>((resolve) => {
      const late = setTimeout(() => source.destroy(), mostMs)
      source.once('end', () => {
        if (this.#listens) this.#hear('\n')
        this.#whole = true
      })
      source.once('error', (error) => this.destroy(error))
      source.once('close', () => {
        clearTimeout(late)
        // Cut off and not ended: the reader must not take it for complete.
        if (!this.#whole) this.destroy()
        resolve()
      })
      this.once('close', () => {
        source.unpipe(this)
        if (!this.#listens) source.destroy()
        else if (!source.destroyed) {
          source.on('data', (chunk: Buffer) => {
            this.#hear(this.#decoder.write(chunk))
          })
          source.resume()
        }
      })
    })
    source.pipe(this)
    return { end }
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    if (this.#listens) this.#hear(this.#decoder.write(chunk))
    done(null, chunk)
  }

  #hear(text: string): void {
    const lines = (this.#line + text).split('\n')
    this.#line = lines.pop() ?? ''
    for (const line of lines) {
      const json = jsonOrUndefined(line.replace(/^data:/, ''))
      if (json === undefined) continue
      this.#usage = together(this.#usage, usageIn(json))
      if (this.#text.length < COUNTED_MAX) this.#text += ` ${textIn(json)}`
    }
    // A line this long without an end is not a valid event.
    if (this.#line.length > COUNTED_MAX) this.#line = ''
  }
}
