import { toolWorld, importRequest, type ToolWorld } from '../../tools/calls/world.ts'

describe('POST {tools_url}/{slug} → 429, 503', () => {
  let world: ToolWorld
  beforeAll(async () => {
    world = await toolWorld({ RATE_TOOLS_PER_MINUTE: '20', TOOL_CALLS_AT_ONCE: '3', TOOL_PROVIDER_AT_ONCE: '5' })
    world.upstream.respondWith('/text', 'text')
  })
  afterAll(async () => {
    await world.close()
  })

  test('429 above the concurrent calls of a key; finished calls free their slots', async () => {
    const open = world.upstream.holds('/slow', {})
    const [caller, other] = [await world.caller(), await world.caller()]
    const held = [1, 2, 3].map(() => world.call(caller, 'acme-get-slow'))
    await world.upstream.waitForRequest('/slow', 3)
    const refused = await world.call(caller, 'acme-get-text')
    expect([refused.status, refused.body.code]).toEqual([429, 'too_many_calls_at_once'])
    expect(refused.headers.get('retry-after')).toBe('1')
    expect((await world.call(other, 'acme-get-text')).status).toBe(200)
    open()
    for (const answer of await Promise.all(held)) expect(answer.status).toBe(200)
    expect((await world.call(caller, 'acme-get-text')).status).toBe(200)
  })

  test('a slow provider refuses its own callers, and calls of other providers succeed', async () => {
    const open = world.upstream.holds('/slow', {})
    const before = world.upstream.to('/slow').length
    const document = JSON.stringify({
      openapi: '3.1.0',
      info: { title: 'Other', version: '1' },
      paths: { '/text': { get: { operationId: 'text', summary: 'x', responses: { 200: { description: 'x' } } } } },
    })
    await world.service.catalogue.importDocument(importRequest(world.upstream.url, { slug: 'other' }), document)
    const [one, two, three] = [await world.caller(), await world.caller(), await world.caller()]
    const held = [one, one, one, two, two].map((caller) => world.call(caller, 'acme-get-slow'))
    await world.upstream.waitForRequest('/slow', before + 5)
    const refused = await world.call(three, 'acme-get-text')
    expect([refused.status, refused.body.code]).toEqual([503, 'provider_busy'])
    expect(await world.left(three)).toMatchObject({ credits: 5, locks: 0 })
    expect((await world.call(three, 'other-text')).status).toBe(200)
    open()
    await Promise.all(held)
    expect((await world.call(three, 'acme-get-text')).status).toBe(200)
  })

  test('one account with several keys cannot fill a provider, and one without money takes no slot', async () => {
    const open = world.upstream.holds('/slow', {})
    const before = world.upstream.to('/slow').length
    const [many, poor, other] = [await world.caller(), await world.caller(), await world.caller()]
    const { secret } = (await many.call('POST', '/v1/keys', { body: { name: 'second' } })).body
    const held = [1, 2, 3].map(() => world.call(many, 'acme-get-slow'))
    await world.upstream.waitForRequest('/slow', before + 3)
    const refused = await world.call(String(secret), 'acme-get-text')
    expect([refused.status, refused.body.code]).toEqual([503, 'provider_busy'])
    await world.spend(poor, 5_000_000n)
    const refusals = await Promise.all([1, 2, 3].map(() => world.call(poor, 'acme-get-slow')))
    expect(refusals.map(({ status }) => status)).toEqual([402, 402, 402])
    expect((await world.call(other, 'acme-get-text')).status).toBe(200)
    open()
    await Promise.all(held)
  })

  test('429 above the calls per minute of a key', async () => {
    const caller = await world.caller()
    for (let call = 0; call < 20; call++) {
      const { status, headers } = await world.call(caller, 'acme-get-text')
      expect([status, headers.get('ratelimit-remaining')]).toEqual([200, String(19 - call)])
    }
    const refused = await world.call(caller, 'acme-get-text')
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    // The dashboard's procedure is another door to the same calls.
    const tried = await caller.call('POST', '/trpc/tools.try', { body: { slug: 'acme-get-text', input: {} } })
    expect([tried.status, tried.text]).toEqual([429, expect.stringContaining('rate_limited')])
    // By MCP it is the same key and the same minute.
    const headers = { accept: 'application/json, text/event-stream' }
    const refusalOf = async (params: object): Promise<string> => {
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
      const { text } = await caller.call('POST', '/tools/mcp', { body, headers })
      expect(text).toContain('rate_limited')
      return text
    }
    const call = { name: 'acme-get-text', arguments: {} }
    const free = ['Nothing was charged', '"cost":0']
    const refusedCall = await refusalOf(call)
    for (const word of free) expect(refusedCall).toContain(word)
    // The call that these ask for may have been.
    const named = { _meta: { 'coinslot/payment': { paymentId: 'call_1' } } }
    const keyed = { _meta: { 'coinslot/idempotency-key': 'again' } }
    const result = { name: 'get_result', arguments: { callId: 'call_1' } }
    for (const params of [result, { ...call, ...named }, { ...call, ...keyed }]) {
      const refusedRepeat = await refusalOf(params)
      for (const word of free) expect(refusedRepeat).not.toContain(word)
    }
  })
})
