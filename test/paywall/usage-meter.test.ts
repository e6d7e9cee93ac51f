import { PassThrough } from 'node:stream'
import { usdc } from '../../service/kit/money.ts'
import type { HeaderList } from '../../service/paywall/model.ts'
import { costOfWhole, StreamMeter } from '../../service/paywall/service/usage-meter.ts'

/** A millionth of a dollar for each token of the answer, so that the cost is their number. */
const PRICING = {
  model: 'per-token',
  input: usdc(0n),
  output: usdc(1_000n),
  minimum: usdc(0n),
  maximum: usdc(1_000_000_000n),
} as const
const byWords = (text: string): Promise<number> => Promise.resolve(text.split(/\s+/).filter(Boolean).length)
const typed = (type: string): HeaderList => [['Content-Type', type]]

async function costOf(type: string, ...chunks: string[]): Promise<number> {
  const source = new PassThrough()
  const meter = new StreamMeter(PRICING, typed(type))
  const heard = meter.listen(source, 60_000)
  meter.resume()
  for (const chunk of chunks) source.write(chunk)
  source.end()
  await heard.end
  return Number(await meter.cost(PRICING, '', 0, byWords))
}

const usage = { input_tokens: 0, output_tokens: 700 }
const LONG = 'x'.repeat(1_100_000)

describe('the tokens of a stream', () => {
  it.each([
    ['events that report usage', 'text/event-stream', ['event: end\ndata: ', `${JSON.stringify({ usage })}\n\n`], 700],
    [
      'plain events',
      'text/event-stream',
      ['event: piece\nid: 1\ndata: one two\n\n', 'data: three\n\ndata: [DONE]\n\n'],
      3,
    ],
    ['a plain text', 'text/plain', ['one two\nthree', ' four'], 4],
    ['lines of JSON', 'application/x-ndjson', [`{"text":"one"}\n${JSON.stringify({ usage })}\n`], 700],
    ['a document over several lines', 'application/json', [JSON.stringify({ text: 'one', usage }, null, 2)], 700],
    ['such a document without usage', 'application/json', [JSON.stringify({ text: 'one two' }, null, 2)], 2],
    ['a long document', 'application/json', [JSON.stringify({ data: LONG, model: 'm', usage })], 700],
    ['a long document with usage first', 'application/json', [JSON.stringify({ id: 'a', usage, data: LONG })], 700],
    [
      'a list of events',
      'application/json',
      [JSON.stringify([{ text: 'one' }, { usageMetadata: { candidatesTokenCount: 700 } }], null, 2)],
      700,
    ],
    ['events of another type', 'text/plain', [`data: {"text":"one"}\n\ndata: ${JSON.stringify({ usage })}\n\n`], 700],
    ['a text in one line', 'text/plain', ['one two three'], 3],
  ])('are those of %s', async (_, type, chunks, tokens) => {
    expect(await costOf(type, ...chunks)).toBe(tokens)
  })

  it('are not what a model was asked to write', async () => {
    const written = JSON.stringify({ usage: { output_tokens: 0 } })
    expect(await costOf('text/plain', `one two three\n${written}\n`)).toBeGreaterThan(3)
    expect(await costOf('text/plain', `data: one two three\ndata: ${written}\n`)).toBe(3)
    expect(await costOf('application/json', JSON.stringify({ text: `${LONG} ${written}` }))).toBeGreaterThan(0)
    const call = { sent: '', body: Buffer.from(written), headers: typed('text/plain'), ms: 0 }
    expect(await costOfWhole({ ...PRICING, output: usdc(1_000_000n) }, call, byWords)).toBe(1_000n)
  })
})
