import { jsonOrUndefined } from '../../kit/json-shape.ts'
import { Transform, type Readable, type TransformCallback } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { HeaderList, Metered } from '../model.ts'
import type { CountTokens } from '../ports.ts'
import { costOf, type Tokens } from '../rules/pricing.ts'
import { headerIn } from '../rules/headers.ts'
import { textIn, together, usageAtEnd, usageAtStart, usageIn } from '../rules/usage.ts'
import type { Usdc } from '../../kit/money.ts'

/** The cost of a complete answer. */
export async function costOfWhole(
  pricing: Metered,
  call: { sent: string; body: Buffer; headers: HeaderList; ms: number },
  countTokens: CountTokens,
): Promise<Usdc> {
  if (pricing.model === 'per-minute') return costOf(pricing, { tokens: null, ms: call.ms })
  const text = call.body.toString('utf8')
  const json = jsonOrUndefined(text)
  const said = usageIn(json)
  const isText = kindOf(call.headers) === 'text'
  if (said !== null && !isText) return costOf(pricing, { tokens: said, ms: call.ms })
  const got = json === undefined || isText ? text : textIn(json)
  return costOf(pricing, { tokens: together(said, await counted(call.sent, got, countTokens)), ms: call.ms })
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
/** The end of a long document, in which its usage is looked for. */
const END_LENGTH = 16_384

/** Of a text, what it says of usage may be what a model was asked to write: it is the least that was used. */
type Kind = 'events' | 'text' | 'document'

function kindOf(headers: HeaderList): Kind {
  const [type = ''] = (headerIn(headers, 'content-type') ?? '').toLowerCase().split(';')
  if (type.trim() === 'text/event-stream') return 'events'
  return type.trim().startsWith('text/') && !type.includes('json') ? 'text' : 'document'
}

/** Passes a stream on unchanged and reads the usage that it reports. */
export class StreamMeter extends Transform {
  readonly #decoder = new StringDecoder('utf8')
  #line = ''
  /** The beginning of a document, its end, and its length. */
  #start = ''
  #end = ''
  #length = 0
  #usage: Tokens | null = null
  #text = ''
  readonly #listens: boolean
  readonly #kind: Kind
  /** The stream has reached its own end, so its report of usage is complete. */
  #whole = false

  constructor(pricing: Metered, headers: HeaderList) {
    super()
    this.#kind = kindOf(headers)
    this.#listens = pricing.model === 'per-token'
  }

  async cost(pricing: Metered, sent: string, ms: number, countTokens: CountTokens): Promise<Usdc> {
    if (pricing.model === 'per-minute') return costOf(pricing, { tokens: null, ms })
    this.#finish()
    if (this.#whole && this.#usage !== null && this.#kind !== 'text')
      return costOf(pricing, { tokens: this.#usage, ms })
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
    for (const line of lines) this.#read(line)
    // No event is as long as this.
    if (this.#line.length > COUNTED_MAX) {
      this.#add(this.#line)
      this.#line = ''
    }
    if (this.#kind !== 'document') return
    if (this.#start.length < COUNTED_MAX) this.#start += text
    this.#length += text.length
    this.#end = (this.#end + text).slice(-END_LENGTH)
  }

  #read(line: string): void {
    const isData = line.startsWith('data:')
    // The other fields of an event are no part of the answer.
    if (this.#kind === 'events' && !isData) return
    const told = isData ? line.slice('data:'.length) : line
    const json = this.#kind === 'text' && !isData ? undefined : jsonOrUndefined(told)
    if (typeof json !== 'object') {
      if (told.trim() !== LAST_EVENT) this.#add(told)
      return
    }
    this.#usage = together(this.#usage, usageIn(json))
    this.#add(textIn(json))
  }

  #add(text: string): void {
    if (this.#text.length < COUNTED_MAX) this.#text += ` ${text}`
  }

  /** What has no event of usage may be one document, which has it inside. */
  #finish(): void {
    this.#read(this.#line)
    this.#line = ''
    if (this.#usage !== null || this.#kind !== 'document' || !this.#whole) return
    const json = this.#length === this.#start.length ? jsonOrUndefined(this.#start) : undefined
    if (json !== undefined) this.#text = textIn(json)
    this.#usage = json === undefined ? (usageAtEnd(this.#end) ?? usageAtStart(this.#start)) : usageIn(json)
  }
}

const LAST_EVENT = '[DONE]'
