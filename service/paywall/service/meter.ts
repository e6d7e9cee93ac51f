import { Transform, type TransformCallback } from 'node:stream'
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

  constructor(pricing: Metered) {
    super()
    this.#listens = pricing.model === 'per-token'
  }

  async cost(pricing: Metered, sent: string, ms: number, countTokens: CountTokens): Promise<Usdc> {
    if (pricing.model === 'per-minute') return costOf(pricing, { tokens: null, ms })
    return costOf(pricing, { tokens: this.#usage ?? (await counted(sent, this.#text, countTokens)), ms })
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    if (this.#listens) this.#hear(this.#decoder.write(chunk))
    done(null, chunk)
  }

  override _flush(done: TransformCallback): void {
    if (this.#listens) this.#hear('\n')
    done()
  }

  #hear(text: string): void {
    const lines = (this.#line + text).split('\n')
    this.#line = lines.pop() ?? ''
    for (const line of lines) {
      const json = parse(line.replace(/^data:/, ''))
      if (json === undefined) continue
      this.#usage = together(this.#usage, usageIn(json))
      if (this.#usage === null && this.#text.length < COUNTED_MAX) this.#text += ` ${textIn(json)}`
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
