import { once } from 'node:events'
import { connect as connectTo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { leaveWhileWaiting } from '../harness/leaving.ts'
import type { TestPerson } from '../harness/service.ts'
import { toolWorld, type ToolWorld } from './calls/world.ts'
import { until } from '../harness/until.ts'

/** The official client against the whole service. */
describe('MCP', () => {
  let world: ToolWorld
  const open: Client[] = []

  beforeAll(async () => {
    world = await toolWorld({ TOP_UP_URL: 'https://pay.example/top-up', STREAM_CHECK_MS: '50' })
    world.upstream.respondWith('/notes', { id: 7 }, 201)
  })
  afterEach(async () => {
    await Promise.all(open.splice(0).map((client) => client.close()))
  })
  afterAll(async () => {
    await world.close()
  })

  function address(query = ''): URL {
    return new URL(`${world.service.origin}/tools/mcp${query}`)
  }

  async function connect(transport: unknown): Promise<Client> {
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(transport as Transport)
    open.push(client)
    return client
  }

  function bearer({ key }: TestPerson) {
    return { requestInit: { headers: { authorization: `Bearer ${key}` } } }
  }

  const streamable = (person: TestPerson, query = '') =>
    connect(new StreamableHTTPClientTransport(address(query), bearer(person)))

  const call = async (client: Client, name: string, input: Record<string, unknown> = {}, options = {}) =>
    (await client.callTool({ name, arguments: input }, undefined, options)) as CallToolResult

  test('five tools lead to all others', async () => {
    const person = await world.caller()
    const client = await streamable(person)
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
      'search_tools',
      'describe_tool',
      'call_tool',
      'get_result',
      'get_balance',
    ])
    const found = (await call(client, 'search_tools', { query: 'write a note' })).structuredContent!
    expect(found['tools']).toEqual(
      expect.arrayContaining([expect.objectContaining({ slug: 'acme-create-note', price: 0.01, required: ['title'] })]),
    )
    expect(client.getInstructions()).toContain('GET /v1/rdas?search=')
    const described = (await call(client, 'describe_tool', { slug: 'acme-create-note' })).structuredContent!
    expect(described).toMatchObject({ slug: 'acme-create-note', price: 0.01, inputSchema: { type: 'object' } })
    const result = await call(client, 'call_tool', { slug: 'acme-create-note', input: { title: 'By MCP' } })
    expect(result.isError).toBeUndefined()
    expect(result.structuredContent).toEqual({ id: 7 })
    expect(JSON.parse((result.content[0] as { text: string }).text)).toEqual({ id: 7 })
    expect(result._meta!['coinslot/billing']).toEqual({
      cost: 0.01,
      credits: 4.99,
      balance: 0,
      callId: expect.stringMatching(/^call_/),
    })
    expect((await call(client, 'get_balance')).structuredContent).toEqual({
      credits: 4.99,
      balance: 0,
      available: 4.99,
    })
  })

  test('with view=all, or of a provider, the tools themselves; the key in the address will do', async () => {
    const person = await world.caller()
    const client = await connect(new StreamableHTTPClientTransport(address(`?view=all&key=${person.key}`)))
    const all = (await client.listTools()).tools
    expect(all.map(({ name }) => name)).toContain('acme-create-note')
    expect(await call(client, 'acme-create-note', { title: 'Direct' })).toMatchObject({ structuredContent: { id: 7 } })
    const other = await streamable(person, '?provider=nobody')
    expect((await other.listTools()).tools).toEqual([])
    const acme = await streamable(person, '?provider=acme')
    expect((await acme.listTools()).tools.length).toBe(6)
  })

  test('each tool’s documentation is a resource', async () => {
    const client = await streamable(await world.caller())
    const { resources } = await client.listResources()
    const uri = 'coinslot://tools/acme-create-note'
    expect(resources.map((resource) => resource.uri)).toContain(uri)
    const [page] = (await client.readResource({ uri })).contents as { text: string }[]
    expect(page!.text).toContain('price: 0.01 USDC')
    await expect(client.readResource({ uri: 'coinslot://tools/none' })).rejects.toMatchObject({ code: -32002 })
  })

  test('errors name what is missing, the cost and the next step', async () => {
    const person = await world.caller()
    const client = await streamable(person)
    const invalid = await call(client, 'call_tool', { slug: 'acme-create-note', input: { pages: 0 } })
    expect(invalid.isError).toBe(true)
    expect((invalid.content[0] as { text: string }).text).toContain('title is required')
    const unknown = await call(client, 'call_tool', { slug: 'acme-make-note', input: {} })
    expect(unknown.structuredContent).toMatchObject({
      error: { code: 'tool_not_found', suggestions: expect.arrayContaining(['acme-create-note']) },
    })
    const dear = await call(client, 'call_tool', { slug: 'acme-create-note', input: { title: 'a' }, maxCost: 0.001 })
    expect(dear.structuredContent).toMatchObject({ error: { code: 'max_cost_exceeded', required: 0.01 } })
    const bound = { name: 'acme-create-note', arguments: { title: 'a' }, _meta: { 'coinslot/max-cost': 0.001 } }
    const bounded = { error: { code: 'max_cost_exceeded', required: 0.01, maxCost: 0.001 } }
    expect((await client.callTool(bound)).structuredContent).toMatchObject(bounded)
    await expect(call(client, 'no-such-tool')).rejects.toMatchObject({ code: -32602 })
    await world.spend(person, 5_000_000n)
    const poor = await call(client, 'call_tool', { slug: 'acme-create-note', input: { title: 'a' } })
    expect(poor.structuredContent).toMatchObject({
      error: {
        code: 'insufficient_credits',
        required: 0.01,
        available: 0,
        advice: expect.stringContaining('https://pay.example/top-up'),
      },
    })
  })

  test('reports progress through the stream of the call itself', async () => {
    world.upstream.respondWith('/slow', { done: true })
    const client = await streamable(await world.caller())
    const messages: string[] = []
    const onprogress = ({ message }: { message?: string }) => messages.push(message ?? '')
    await call(client, 'call_tool', { slug: 'acme-get-slow' }, { onprogress })
    expect(messages).toEqual(['Calling acme-get-slow', 'Charging the call'])
  })

  test('finishes and charges a call that was cancelled after its tool was called', async () => {
    const open = world.upstream.holds('/slow', { done: true })
    const person = await world.caller()
    const client = await streamable(person)
    const stop = new AbortController()
    const times = world.upstream.to('/slow').length
    const pendingCall = call(client, 'call_tool', { slug: 'acme-get-slow' }, { signal: stop.signal })
    await world.upstream.waitForRequest('/slow', times + 1)
    stop.abort('changed my mind')
    await expect(pendingCall).rejects.toThrow('changed my mind')
    open()
    await until(async () => (await world.left(person)).credits === 4.99 && (await world.locks()) === 0)
  })

  test('a client that loses the stream of a call in a session can fetch its answer', async () => {
    const open = world.upstream.holds('/slow', { done: true })
    const person = await world.caller()
    const times = world.upstream.to('/slow').length
    const headers = {
      authorization: `Bearer ${person.key}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': '2025-11-25',
    }
    const post = (body: unknown, more = {}, signal?: AbortSignal) =>
      fetch(address(), {
        method: 'POST',
        headers: { ...headers, ...more },
        body: JSON.stringify(body),
        signal: signal ?? null,
      })
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
    const begun = await post({ jsonrpc: '2.0', id: 0, method: 'initialize', params })
    await begun.text()
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id')! }
    const controller = new AbortController()
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'acme-get-slow', arguments: {} } }
    const stream = await post(message, session, controller.signal)
    const { value } = (await stream.body!.getReader().read()) as { value: Uint8Array }
    const first = new TextDecoder().decode(value)
    const eventId = /^id: (\S+)$/m.exec(first)![1]!
    await world.upstream.waitForRequest('/slow', times + 1)
    controller.abort()
    const resume = (event: string, more = {}) =>
      fetch(address(), { headers: { ...headers, ...session, 'last-event-id': event, ...more } })
    const answerIn = (text: string) => JSON.parse(/^data: (\{.*\})$/m.exec(text)![1]!) as Record<string, unknown>
    const [again, older] = [await resume(eventId), await resume(eventId, { 'mcp-protocol-version': '2025-06-18' })]
    const [operation] = JSON.parse(Buffer.from(eventId, 'base64url').toString()) as [string]
    const unknown = await resume(
      Buffer.from(JSON.stringify([`${operation.slice(0, -4)}0000`, 1, 0])).toString('base64url'),
    )
    // A call that is still being made is waited for, since it may be charged. One that never held its money is not:
    // its client has given up after a minute.
    world.service.clock.forward(31_000)
    expect(answerIn(await unknown.text())).toMatchObject({
      error: { code: -32_000, message: expect.stringContaining('No charge for this call is known') as unknown },
    })
    const looks = looksAt(world)
    await until(() => Promise.resolve(looks() >= 6))
    open()
    const text = await again.text()
    expect(answerIn(text)).toMatchObject({ id: 1, result: { structuredContent: { done: true } } })
    // This stream can break as well: the event that it begins with is where its client resumes.
    expect(text.startsWith(`id: ${eventId}\nevent: message\ndata: \n\n`)).toBe(true)
    expect(await older.text()).toMatch(/^id: \S+\nevent: message\ndata: \{/)
    expect(await world.left(person)).toMatchObject({ credits: 4.99, locks: 0 })

    // Another account can't use its session id, not even at its own expense, and an ended session is gone.
    const other = await world.caller()
    const stranger = { authorization: `Bearer ${other.key}` }
    expect((await fetch(address(), { headers: { ...headers, ...stranger, ...session } })).status).toBe(404)
    const swapped = await post(message, { ...stranger, ...session })
    expect([swapped.status, await swapped.json()]).toEqual([404, expect.objectContaining({ error: SESSION_GONE })])
    expect(world.upstream.to('/slow')).toHaveLength(times + 1)
    expect(await world.left(other)).toMatchObject({ credits: 5, locks: 0 })
    expect((await fetch(address(), { method: 'DELETE', headers: { ...headers, ...session } })).status).toBe(200)
    expect((await post({ jsonrpc: '2.0', id: 2, method: 'ping' }, session)).status).toBe(404)
  })

  test('arguments that are too large or too deep are refused, and cost nothing', async () => {
    const person = await world.caller()
    const times = world.upstream.to('/notes').length
    const params = (input: string) => `{"name":"acme-create-note","arguments":{"title":"A note","more":${input}}}`
    const send = async (input: string) => {
      const raw = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params(input)}}`
      const headers = { accept: 'application/json, text/event-stream' }
      const { status, body } = await world.service.call('POST', '/tools/mcp?view=all', {
        raw,
        key: person.key,
        headers,
      })
      return [status, (body.code ?? body.error.code) as unknown]
    }
    expect(await send(`"${'x'.repeat(300_000)}"`)).toEqual([413, 'body_too_large'])
    expect(await send(`${'['.repeat(5_000)}${']'.repeat(5_000)}`)).toEqual([400, -32_700])
    expect(world.upstream.to('/notes')).toHaveLength(times)
    expect(await world.left(person)).toMatchObject({ credits: 5, locks: 0 })
  })

  test('charges a client without a session that hangs up after the tool was called', async () => {
    const open = world.upstream.holds('/slow', { done: true })
    const person = await world.caller()
    const times = world.upstream.to('/slow').length
    const controller = new AbortController()
    const request = fetch(address(), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${person.key}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'acme-get-slow' } }),
      signal: controller.signal,
    }).then((response) => response.text())
    await world.upstream.waitForRequest('/slow', times + 1)
    controller.abort()
    await expect(request).rejects.toThrow()
    open()
    await until(async () => (await world.left(person)).credits === 4.99 && (await world.locks()) === 0)
  })

  test('serves the older transport, where a GET without a session opens a stream', async () => {
    const person = await world.caller()
    // oxlint-disable-next-line typescript/no-deprecated -- clients that have no other are who it is for
    const client = await connect(new SSEClientTransport(address(`?key=${person.key}`)))
    expect((await client.listTools()).tools).toHaveLength(5)
    expect(await call(client, 'call_tool', { slug: 'acme-create-note', input: { title: 'Old' } })).toMatchObject({
      structuredContent: { id: 7 },
    })
    const lost = await world.service.call('POST', '/tools/mcp/messages?sessionId=nobody', {
      body: { jsonrpc: '2.0', id: 1, method: 'ping' },
      key: person.key,
    })
    expect(lost.status).toBe(404)
  })

  /** Reads a stream of the older transport, or of the newer one where there is a session, until it ends. */
  async function listening(query: string, headers: Record<string, string>) {
    const response = await fetch(address(query), { headers: { accept: 'text/event-stream', ...headers } })
    expect(response.status).toBe(200)
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    const ended = async (): Promise<void> => {
      while (!(await reader.read()).done);
    }
    return { first: async () => (await reader.read()).value ?? '', ended, close: () => reader.cancel() }
  }

  test('the older transport: each message says who sends it', async () => {
    const [person, other] = [await world.caller(), await world.caller()]
    const stream = await listening('', { authorization: `Bearer ${person.key}` })
    const endpoint = /data: (\S+)/.exec(await stream.first())![1]!
    expect(endpoint).not.toContain(person.key)
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
    const post = async (options: { key?: string; raw?: string }) =>
      (await world.service.call('POST', endpoint, { ...(options.raw === undefined ? { body: ping } : {}), ...options }))
        .status
    // The session id alone spends nothing; nor does another account's key, whose body is not even read.
    expect([await post({}), await post({ key: other.key }), await post({ key: other.key, raw: '{' })]).toEqual([
      401, 404, 404,
    ])
    expect(await post({ key: person.key })).toBe(202)
    await stream.close()
    const byAddress = await listening(`?key=${person.key}`, {})
    expect(await byAddress.first()).toContain(`key=${person.key}`)
    await byAddress.close()
  })

  test('every stream ends with the key that opened it, and the key spends no more', async () => {
    const person = await world.caller()
    const { secret, key } = (await person.call('POST', '/v1/keys', { body: { name: 'short' } })).body
    const headers = { authorization: `Bearer ${secret}` }
    const older = await listening('', headers)
    const endpoint = /data: (\S+)/.exec(await older.first())![1]!
    const begun = await world.service.call('POST', '/tools/mcp', {
      key: secret,
      headers: { accept: 'application/json, text/event-stream' },
      body: {
        ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
      },
    })
    const newer = await listening('', { ...headers, 'mcp-session-id': begun.headers.get('mcp-session-id')! })
    expect((await person.call('DELETE', `/v1/keys/${String(key.id)}`)).status).toBeLessThan(300)
    await Promise.all([older.ended(), newer.ended()])
    const body = { jsonrpc: '2.0', id: 2, method: 'ping' }
    expect((await world.service.call('POST', endpoint, { body, key: secret })).status).toBe(401)
  })

  test('an account has so many streams open and no more', async () => {
    const person = await world.caller()
    const streams = await Promise.all(Array.from({ length: 20 }, () => listening(`?key=${person.key}`, {})))
    const more = await fetch(address(`?key=${person.key}`), { headers: { accept: 'text/event-stream' } })
    expect([more.status, await more.json()]).toEqual([
      429,
      expect.objectContaining({ code: 'quota_exceeded', quota: 'event_streams', limit: 20, resetsAt: null }),
    ])
    await Promise.all(streams.map((stream) => stream.close()))
  })

  test('a stream whose client hangs up before it begins takes no place', async () => {
    const person = await world.caller()
    const request = `GET ${address().pathname}?key=${person.key} HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n`
    await Promise.all(
      Array.from({ length: 60 }, async (_, place) => {
        const socket = connectTo(Number(address().port), '127.0.0.1')
        await once(socket, 'connect')
        socket.write(request)
        // Meanwhile the server, in this same process, reads it and asks the database who sends it.
        for (let turn = 0; turn < place / 3; turn++) await setImmediate()
        socket.resetAndDestroy()
        await once(socket, 'close')
      }),
    )
    const streams = await Promise.all(Array.from({ length: 20 }, () => listening(`?key=${person.key}`, {})))
    await Promise.all(streams.map((stream) => stream.close()))
  })

  test('a call whose client hangs up before it begins reaches no tool', async () => {
    const person = await world.caller()
    const input = (title: string) => ({ slug: 'acme-create-note', input: { title } })
    const message = { method: 'tools/call', params: { name: 'call_tool', arguments: input('before') } }
    const headers = {
      ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      ...{ authorization: `Bearer ${person.key}`, 'idempotency-key': 'note-1' },
    }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...message })
    await world.service.database.statements.together(async (inside) => {
      await inside.run('LOCK TABLE idempotent_request IN ACCESS EXCLUSIVE MODE', [])
      await leaveWhileWaiting(inside, (signal) => fetch(address(), { method: 'POST', headers, body, signal }))
    })
    await call(await streamable(await world.caller()), 'call_tool', input('after'))
    const titles = world.upstream.to('/notes').map(({ body: sent }) => (JSON.parse(sent) as { title: string }).title)
    expect(titles).toContain('after')
    expect(titles).not.toContain('before')
    expect(await world.left(person)).toMatchObject({ credits: 5, locks: 0 })
  })

  test("answers 401 to a wrong key in every transport, and 403 to another site's page", async () => {
    for (const key of ['', '?key=csk_test_nonsense']) {
      expect((await fetch(address(key), { headers: { accept: 'text/event-stream' } })).status).toBe(401)
    }
    expect((await world.service.call('POST', '/tools/mcp?key=csk_test_nonsense', { body: {} })).status).toBe(401)
    const { key } = await world.caller()
    const headers = { origin: 'https://evil.example' }
    expect((await world.service.call('POST', '/tools/mcp', { body: {}, key, headers })).status).toBe(403)
    expect((await world.service.call('POST', '/tools/mcp', { raw: '{', key })).body.error.code).toBe(-32700)
    expect((await world.service.call('PUT', '/tools/mcp', { body: {}, key })).status).toBe(405)
  })
})

const SESSION_GONE = { code: -32_001, message: 'Session not found: start a new one with initialize.' }

/** How often calls were looked up since. */
function looksAt({ service: { ledger } }: ToolWorld): () => number {
  const { holdStates } = ledger
  let count = 0
  ledger.holdStates = (...args) => {
    count++
    return holdStates(...args)
  }
  return () => count
}
