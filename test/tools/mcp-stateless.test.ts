import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { statelessClient, post, VERSION, type Message } from './mcp-client.ts'
import { payWorld, type PayWorld } from './calls/pay-world.ts'

const VERSIONED = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** MCP of 2026-07-28, by the official client where it can send the message. */
describe('stateless MCP', () => {
  let world: PayWorld
  let address: string
  let key: string
  beforeAll(async () => {
    world = await payWorld({ STREAM_CHECK_MS: '50' })
    address = `${world.service.origin}/tools/mcp`
    key = (await world.caller()).key
  })
  afterAll(() => world.close())
  beforeEach(() => {
    world.upstream.respondWith('/notes', { id: 7 }, 201)
  })

  const raw = (message: Message) => post(address, key, message)

  test('the official client discovers, lists and calls without a session', async () => {
    const client = await statelessClient(address, key)
    expect(client.getServerVersion()).toMatchObject({ name: 'coinslot' })
    expect(client.getInstructions()).toContain('get_balance')
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      'search_tools',
      'describe_tool',
      'call_tool',
      'get_result',
      'get_balance',
    ])
    const result = await client.callTool({
      name: 'call_tool',
      arguments: { slug: 'acme-create-note', input: { title: 'Stateless' } },
    })
    expect(result).toMatchObject({ structuredContent: { id: 7 }, _meta: { 'coinslot/billing': { cost: 0.01 } } })
    const uri = 'coinslot://tools/acme-create-note'
    expect((await client.readResource({ uri })).contents).toHaveLength(1)
    await expect(client.readResource({ uri: 'coinslot://tools/none' })).rejects.toMatchObject({ code: -32602 })
    await client.close()
  })

  test('the official client finds this version by itself, and is served without it as before', async () => {
    for (const [mode, version] of [
      ['auto', VERSION],
      ['legacy', '2025-11-25'],
    ] as const) {
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
      const headers = { authorization: `Bearer ${key}` }
      await client.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers } }))
      expect(client.getNegotiatedProtocolVersion()).toBe(version)
      expect((await client.listTools()).tools).toHaveLength(5)
      await client.close()
    }
  })

  test('without a key: lists for everyone, and the price of a call', async () => {
    const client = await statelessClient(address, null)
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('get_balance')
    const unpaid = await client.callTool({
      name: 'call_tool',
      arguments: { slug: 'acme-create-note', input: { title: 'a' } },
    })
    expect(unpaid).toMatchObject({ isError: true, structuredContent: { x402Version: 2 } })
    await client.close()
  })

  test('lists say who may keep them and for how long; results say their type', async () => {
    const mine = await raw({ method: 'tools/list' })
    expect(mine.body.result).toMatchObject({ resultType: 'complete', cacheScope: 'private', ttlMs: 60_000 })
    const open = await post(address, null, { method: 'tools/list' })
    expect(open.body.result).toMatchObject({ cacheScope: 'public' })
    const all = await post(`${address}?view=all`, key, { method: 'tools/list' })
    expect((await post(`${address}?view=all`, key, { method: 'tools/list' })).body.result).toEqual(all.body.result)
    const discovered = await raw({ method: 'server/discover' })
    expect(discovered.body.result).toMatchObject({
      resultType: 'complete',
      supportedVersions: [VERSION],
      capabilities: { tools: {}, resources: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
    })
  })

  test('refuses headers that differ from the body, unknown versions and methods, at no cost', async () => {
    const person = await world.caller()
    const times = world.upstream.to('/notes').length
    const raw = (message: Message) => post(`${address}?view=all`, person.key, message)
    const params = { name: 'acme-create-note', arguments: { title: 'Never written' } }
    const answers = await Promise.all([
      raw({ method: 'tools/call', params, headers: { 'mcp-name': 'search_tools' } }),
      raw({ method: 'tools/call', params, headers: { 'mcp-name': null } }),
      raw({ method: 'tools/call', params, headers: { 'mcp-method': 'tools/list' } }),
      raw({ method: 'tools/call', params, headers: { 'mcp-method': null } }),
      raw({ method: 'tools/call', params, headers: { 'mcp-protocol-version': '2025-11-25' } }),
    ])
    expect(answers.map(({ status, body }) => [status, body.error?.code, body.id])).toEqual(
      answers.map(() => [400, -32020, 1]),
    )
    expect(world.upstream.to('/notes')).toHaveLength(times)
    expect(await world.left(person)).toMatchObject({ credits: 5, locks: 0 })
    const future = '2099-01-01'
    const unsupported = await raw({
      method: 'tools/list',
      params: { _meta: { 'io.modelcontextprotocol/protocolVersion': future } },
      headers: { 'mcp-protocol-version': future },
    })
    expect([unsupported.status, unsupported.body.error]).toEqual([
      400,
      expect.objectContaining({ code: -32022, data: { supported: [VERSION], requested: future } }),
    ])
    const batch = JSON.stringify([{ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: VERSIONED } }])
    const together = await world.service.call('POST', '/tools/mcp', { raw: batch, key })
    expect([together.status, together.body.error.code]).toEqual([400, -32600])
    for (const method of ['prompts/list', 'initialize', 'subscriptions/listen']) {
      const unknown = await raw({ method })
      expect([method, unknown.status, unknown.body.error?.code]).toEqual([method, 404, -32601])
    }
  })

  test('there is nothing to get; a wrong key and a foreign page are refused', async () => {
    const headers = { 'mcp-protocol-version': VERSION, authorization: `Bearer ${key}`, accept: 'text/event-stream' }
    expect((await fetch(address, { headers })).status).toBe(405)
    expect((await post(address, 'csk_test_nonsense', { method: 'tools/list' })).status).toBe(401)
    expect((await raw({ method: 'tools/list', headers: { origin: 'https://evil.example' } })).status).toBe(403)
    const text = await raw({ method: 'tools/list', headers: { 'content-type': 'text/plain' } })
    expect(text.status).toBe(415)
  })

  test('sends progress only to calls with a progress token', async () => {
    world.upstream.respondWith('/slow', { done: true })
    const call = (_meta = {}) => raw({ method: 'tools/call', params: { name: 'acme-get-slow', arguments: {}, _meta } })
    expect((await call()).events).toEqual([])
    const { events } = await call({ progressToken: 'p' })
    expect(events.slice(0, -1)).toEqual([
      expect.objectContaining({
        params: expect.objectContaining({ progressToken: 'p', message: 'Calling acme-get-slow' }),
      }),
      expect.objectContaining({
        params: expect.objectContaining({ progressToken: 'p', message: 'Charging the call' }),
      }),
    ])
    expect(events.at(-1)!.result).toMatchObject({ structuredContent: { done: true } })
  })
})
