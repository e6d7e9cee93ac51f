import { PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { Metered } from '../../service/paywall/model.ts'
import { gather } from '../../service/paywall/service/answer.ts'
import { StreamMeter } from '../../service/paywall/service/usage-meter.ts'

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
    const meter = new StreamMeter(PRICING)
    await meter.listen(await brokenOff(), 3_600_000).end
    expect(meter.destroyed).toBe(true)
  })
})
