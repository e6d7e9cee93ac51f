import { PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { Metered } from '../../service/paywall/model.ts'
import { gather } from '../../service/paywall/service/answer.ts'
import { StreamMeter } from '../../service/paywall/service/usage-meter.ts'
import { openWorld, type World } from './world.ts'

const PRICING = { model: 'per-minute', perMinute: 1n, maximum: 1n } as unknown as Metered

describe('an upstream that breaks off while its payment settles', () => {
  async function brokenOff() {
    const body = new PassThrough()
    body.write('the first of it')
    const answer = { status: 200, headers: [], body, trailers: () => ({}), tunnel: null }
    const gathered = await gather(answer, { keptBytes: 1_000, gatherMs: 1, wholeMs: 1 })
    if (gathered.kind !== 'stream') throw new Error('it has not ended')
    body.destroy(new Error('reset by the upstream'))
    await new Promise((resolve) => body.once('close', resolve))
    await setImmediate()
    return gathered.body
  }

  test('ends its stream only, without an unhandled error', async () => {
    expect((await brokenOff()).destroyed).toBe(true)
  })

  test('also ends for the meter, which gets no end event', async () => {
    const meter = new StreamMeter(PRICING, [])
    await meter.listen(await brokenOff(), 3_600_000).end
    expect(meter.destroyed).toBe(true)
  })
})

describe('a paid stream whose upstream breaks off while its payment settles', () => {
  let world: World
  /** Breaks the answer off, and waits until that has reached the gate. */
  let breakOff: (() => Promise<void>) | null = null
  beforeAll(async () => {
    const reach = async (name: string): Promise<void> => {
      if (name === 'sale settled') await breakOff?.()
    }
    world = await openWorld({ chain: true, failpoints: { reach } })
  })
  afterAll(() => world.close())

  const prices = [
    { name: 'a price for each request', pricing: { model: 'per-request', amount: 0.05 } },
    {
      name: 'a price for the use',
      pricing: { model: 'per-token', input: 0.001, output: 0.002, minimum: 0.001, maximum: 0.2 },
    },
  ]

  it.each(prices)('breaks the connection of its buyer off too, with $name', async ({ pricing }) => {
    const path = `/${pricing.model}`
    const { gate } = await world.sell([{ path, pricing }])
    const payer = await world.chain.payer(1_000_000n)
    const headers = await world.sign(payer, await world.request(gate + path))
    world.upstream.on(path, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: the first of it\n\n')
      breakOff = async () => {
        breakOff = null
        response.destroy()
        await new Promise((resolve) => response.once('close', resolve))
        await untilRead(world.upstream.url)
      }
    })
    const answered = fetch(gate + path, { headers, signal: AbortSignal.timeout(10_000) }).then((one) => one.text())
    await expect(answered).rejects.toThrow(/terminated|fetch failed/)
  })
})

/** By the time a later request is answered, this process has read what the upstream sent before. */
async function untilRead(url: string): Promise<void> {
  await (await fetch(url)).text()
  await setImmediate()
}
