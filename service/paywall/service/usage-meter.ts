import { Transform, type Readable, type TransformCallback } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { Metered } from '../model.ts'
import type { CountTokens } from '../ports.ts'
import { costOf, type Tokens } from '../rules/pricing.ts'
import { textIn, together, usageIn } from '../rules/usage.ts'
import type { Usdc } from '../../kit/money.ts'

/** What a whole answer cost. */
export async function costOfWhole(
  pricing: Metered,
  call: { sent: string; body: Buffer; ms: number },
  countTokens: CountTokens,
): Promise<Usdc> {
  if (pricing.model === 'per-minute') return costOf(pricing, { tokens: null, ms: call.ms })
  const text = call.body.toString('utf8')
  const json = parse(text)
  const said = usageIn(json)
  return costOf(pricing, {
    tokens: said ?? (await counted(call.sent, json === undefined ? text : textIn(json), countTokens)),
    ms: call.ms,
  })
}

async function counted(sent: string, got: string, countTokens: CountTokens): Promise<Tokens> {
  const asked = parse(sent)
  const [input, output] = await Promise.all([
    countTokens((asked === undefined ? sent : textIn(asked)).slice(0, COUNTED_MAX)),
    countTokens(got.slice(0, COUNTED_MAX)),
  ])
  return { input, output }
}

/** Beyond this a text is not counted word for word. */
const COUNTED_MAX = 1_000_000

/** Passes a stream on as it comes, and listens for what it says of its use. */
export class StreamMeter extends Transform {
  readonly #decoder = new StringDecoder('utf8')
  #line = ''
  #usage: Tokens | null = null
  #text = ''
  readonly #listens: boolean
  /** The stream has come to its own end, so that what it said of its use is all there is to say. */
  #whole = false

  constructor(pricing: Metered) {
    super()
    this.#listens = pricing.model === 'per-token'
  }

  async cost(pricing: Metered, sent: string, ms: number, countTokens: CountTokens): Promise<Usdc> {
    if (pricing.model === 'per-minute') return costOf(pricing, { tokens: null, ms })
    if (this.#whole && this.#usage !== null) return costOf(pricing, { tokens: this.#usage, ms })
    // One that broke off has not said all: what was counted is the least that was used.
    return costOf(pricing, { tokens: together(this.#usage, await counted(sent, this.#text, countTokens)), ms })
  }

  /**
   * Takes the stream in; `end` is when there is no more to hear. Its reader may leave early: the upstream works on all
   * the same, so the stream is heard to its end, or for this long, for what it says of its use. Where time is what is
   * sold, the reader's leaving is the end.
   */
  listen(source: Readable, mostMs: number): { end: Promise<void> } {
    this.on('error', () => undefined)
    // It may have broken off while the payment settled: then there is nothing more to hear of it.
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
        // Cut off, not ended: its reader must not take it for whole.
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
      const json = parse(line.replace(/^data:/, ''))
      if (json === undefined) continue
      this.#usage = together(this.#usage, usageIn(json))
      if (this.#text.length < COUNTED_MAX) this.#text += ` ${textIn(json)}`
    }
    // A line without an end is no event of anybody's.
    if (this.#line.length > COUNTED_MAX) this.#line = ''
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
