import { Batch } from '../../service/kit/batch.ts'
import { tagContextWith, currentContext, within, type Context } from '../../service/kit/context.ts'
import { deriveId } from '../../service/kit/ids.ts'
import { causeHere, withCause, withoutCause } from '../../service/queue/cause.ts'
import { openTelemetry } from '../../service/tracing/opentelemetry.ts'
import { Collector } from './collector.ts'

const BODY = '01jd0000000000000000000000'

describe('the context of the current work', () => {
  it('grows with the ids that are decoded and made, the first of a kind; nothing else becomes one', () => {
    const context: Context = { tags: { requestId: 'req_1' } }
    within(context, () => {
      deriveId('run', `op_${BODY}`)
      deriveId('run', `op_${BODY.replace('1', '2')}`)
      tagContextWith({ id: `chk_${BODY}`, note: 'pay_ me', other: `constructor_${BODY}`, deep: { id: `dlv_${BODY}` } })
    })
    expect(context.tags).toEqual({ requestId: 'req_1', runId: `run_${BODY}`, checkoutId: `chk_${BODY}` })
    deriveId('run', `op_${BODY}`)
  })

  it('is each caller’s own in a batch of one, and empty in a shared batch', async () => {
    const contexts: unknown[] = []
    const batch = new Batch<string, string>({
      largest: 10,
      async run(names) {
        contexts.push([names, currentContext()?.tags])
        await new Promise(setImmediate)
        return names
      },
    })
    const addAs = (name: string) => within({ tags: { requestId: name } }, () => batch.add(name))
    const first = addAs('a')
    // Once the first is under way these two wait, and go together in the loop that `a` began.
    await new Promise(process.nextTick)
    await Promise.all([first, addAs('b'), addAs('c')])
    await addAs('d')
    expect(contexts).toEqual([
      [['a'], { requestId: 'a' }],
      [['b', 'c'], {}],
      [['d'], { requestId: 'd' }],
    ])
  })

  it("travels with an announcement, without the job's own tags, and is extracted again", () => {
    const concerns = { requestId: 'req_1', topic: 'a', row: '7' }
    const cause = within({ tags: concerns }, () => causeHere(null))
    expect(cause).toEqual({ concerns: { requestId: 'req_1' } })
    expect(withoutCause(withCause({ id: '1' }, cause))).toEqual({ payload: { id: '1' }, cause })
    expect(within({ tags: concerns, shared: true }, () => causeHere(null))).toBeUndefined()
    expect(withoutCause({ id: '1' })).toEqual({ payload: { id: '1' }, cause: undefined })
  })
})

describe('a trace', () => {
  const traceId = 'c'.repeat(32)
  const settings = { headers: {}, serviceName: 'test', instance: '1', share: 1 }

  it("continues one from a trusted proxy, and never contains an error's text", async () => {
    const collector = await new Collector().listen()
    const tracing = openTelemetry({ ...settings, endpoint: collector.origin })
    const from = { traceparent: `00-${traceId}-${'d'.repeat(16)}-01`, trusted: true }
    const failing = tracing.step({ name: 'outer', kind: 'server', from }, () =>
      tracing.within({ name: 'inner', kind: 'client' }, () => Promise.reject(new Error('somebody’s secret'))),
    )
    await expect(failing).rejects.toThrow('secret')
    await tracing.step({ name: 'odd', kind: 'server', from: { traceparent: '00-zz', trusted: true } }, () =>
      Promise.resolve(),
    )
    await tracing.close()
    const [inner, outer, odd] = collector.spans
    expect([inner!.name, inner!.traceId, inner!.parentSpanId]).toEqual(['inner', traceId, outer!.spanId])
    expect([outer!.name, outer!.traceId, outer!.parentSpanId]).toEqual(['outer', traceId, 'd'.repeat(16)])
    expect(odd!.traceId).not.toBe(traceId)
    expect(outer!.attributes['error.type']).toBe('Error')
    expect(JSON.stringify(collector.spans)).not.toContain('secret')
    await collector.close()
  })

  it('that is not sampled costs no step inside, and an unreachable collector delays nothing', async () => {
    const tracing = openTelemetry({ ...settings, endpoint: 'http://127.0.0.1:9', share: 0 })
    const parent = await tracing.step({ name: 'outer', kind: 'server' }, async () =>
      tracing.within({ name: 'inner', kind: 'client' }, () => Promise.resolve(tracing.parent())),
    )
    expect(parent).toMatch(/-00$/)
    await tracing.close()
  })
})
