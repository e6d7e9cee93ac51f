import type { CallId } from '../../../service/tools/model/call.ts'
import { createCallStore } from '../../../service/tools/store/calls/store.ts'
import { respond } from '../../tools/calls/upstream.ts'
import { toolWorld, type ToolWorld } from '../../tools/calls/world.ts'

describe('POST {tools_url}/{slug} → 200', () => {
  let world: ToolWorld

  beforeAll(async () => {
    world = await toolWorld()
    world.upstream.on('/notes', ({ body }, response) => {
      respond(response, JSON.stringify({ id: 1, ...JSON.parse(body) }), 'application/json; charset=utf-8', 201)
    })
  })
  afterAll(async () => {
    await world.close()
  })

  test('returns the result, its cost and the remaining balances; credits pay first', async () => {
    world.upstream.on('/words/a%20b', ({ query }, response) => {
      respond(response, JSON.stringify({ word: 'a b', of: query.get('language') }), 'application/json')
    })
    const caller = await world.caller(2)
    const answer = await world.call(caller, 'acme-get-word', { word: 'a b', language: 'de' })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      success: true,
      tool: 'acme-get-word',
      output: { word: 'a b', of: 'de' },
      simulated: false,
      cost: 0.01,
      credits: 4.99,
      balance: 2,
      duration: expect.any(Number),
      callId: expect.stringMatching(/^call_/),
    })
    expect(await world.left(caller)).toEqual({ credits: 4.99, balance: 2, available: 2, locks: 0 })
    expect((await caller.call('GET', '/v1/tool-calls')).body).toMatchObject({
      total: 1,
      calls: [{ callId: answer.body.callId, tool: 'acme-get-word', success: true, cost: 0.01, code: null }],
    })
  })

  test('charges the wallet for the part that credits do not cover', async () => {
    const caller = await world.caller(1)
    await world.spend(caller, 4_996_000n)
    const answer = await world.call(caller, 'acme-create-note', { title: 'Both' })
    expect(answer.body).toMatchObject({ cost: 0.01, credits: 0, balance: 0.994 })
  })

  test('a text is a string, bytes are base64 with their type and number', async () => {
    const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 255])
    world.upstream.on('/text', (_, response) => respond(response, 'plain words', 'text/plain'))
    world.upstream.on('/picture', (_, response) => respond(response, bytes, 'image/png'))
    const caller = await world.caller()
    expect((await world.call(caller, 'acme-get-text')).body.output).toBe('plain words')
    expect((await world.call(caller, 'acme-get-picture')).body.output).toEqual({
      contentType: 'image/png',
      base64: bytes.toString('base64'),
      bytes: bytes.length,
    })
  })

  test('an empty answer is a null', async () => {
    world.upstream.on('/anything', (_, response) => {
      response.writeHead(204).end()
    })
    expect((await world.call(await world.caller(), 'acme-get-anything')).body).toMatchObject({
      output: null,
      cost: 0.01,
    })
  })

  test('sends each input in the place that the document names', async () => {
    world.upstream.respondWith('/words/x', {})
    const input = { word: 'x', tags: ['one', 'two'], 'X-Trace': 'abc' }
    const caller = await world.caller()
    const { tool } = (await world.service.call('GET', '/tools/acme-get-word')).body
    const names = Object.keys(tool.inputSchema.properties as object)
    const received = Object.fromEntries(
      Object.entries(input).map(([name, value]) => [names.find((one) => same(one, name))!, value]),
    )
    expect((await world.call(caller, 'acme-get-word', received)).status).toBe(200)
    const [request] = world.upstream.to('/words/x')
    expect(request!.query.getAll('tags')).toEqual(['one', 'two'])
    expect(request!.headers['x-trace']).toBe('abc')
    expect(
      (await world.call(caller, 'acme-create-note', { title: 'Fish & ü', more: { deep: [1] } })).body.output,
    ).toEqual({
      id: 1,
      title: 'Fish & ü',
      more: { deep: [1] },
    })
  })

  test('calls and charges once for concurrent requests with one Idempotency-Key', async () => {
    const caller = await world.caller()
    const before = world.upstream.to('/notes').length
    const call = () => world.call(caller, 'acme-create-note', { title: 'Once' }, { 'idempotency-key': 'once' })
    const [first, ...others] = await Promise.all([call(), call(), call()])
    const later = await call()
    for (const other of [...others, later]) expect(other.body).toEqual(first.body)
    expect(later.headers.get('idempotency-replayed')).toBe('true')
    expect(world.upstream.to('/notes')).toHaveLength(before + 1)
    expect(await world.left(caller)).toMatchObject({ credits: 4.99 })
  })

  test('the store finds each of several calls at the same moment, and none of another account', async () => {
    const ids: string[] = []
    for (const title of ['One', 'Two']) {
      const { body } = await world.call(await world.caller(), 'acme-create-note', { title })
      ids.push(String(body.callId))
    }
    const { statements } = world.service.testDatabase
    const rows = await statements.run<{ userId: string }>(OWNERS, [ids])
    const [one, other] = rows.map(({ userId }) => ({ userId, environment: 'sandbox' as const }))
    const [idOfOne, idOfOther] = ids as [CallId, CallId]
    const store = createCallStore(statements)
    const found = await Promise.all([
      store.find(other!, idOfOther),
      store.find(other!, idOfOne),
      store.find(one!, idOfOne),
      store.find(one!, idOfOne, 'agt_of_another'),
    ])
    expect(found.map((call) => call?.id)).toEqual([idOfOther, undefined, idOfOne, undefined])
  })

  test('with a session too, and by an agent within its limits', async () => {
    const caller = await world.caller()
    const agent = (
      await caller.call('POST', '/v1/agents', {
        body: { name: 'Agent', limits: { perCall: 0.01 }, tools: { allow: ['acme-*'] } },
      })
    ).body.agent
    const key = (await caller.call('POST', '/v1/keys', { body: { name: 'agent', agentId: agent.id } })).body.secret
    expect((await world.call(String(key), 'acme-create-note', { title: 'Agent' })).status).toBe(200)
    const listed = (await world.service.call('GET', '/v1/tool-calls', { key })).body.calls
    expect(listed).toMatchObject([{ agentId: agent.id }])
  })
})

const OWNERS = 'SELECT user_id AS "userId" FROM tool_call WHERE id = ANY ($1) ORDER BY id'

function same(one: string, other: string): boolean {
  const plain = (name: string) => name.toLowerCase().replaceAll(/[^a-z]/g, '')
  return plain(one) === plain(other)
}
