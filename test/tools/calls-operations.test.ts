import type { ServerResponse } from 'node:http'
import type { TestPerson } from '../harness/service.ts'
import { until } from '../harness/until.ts'
import { sealedPlaces } from '../vault/opens.ts'
import { respond, Upstream } from './calls/upstream.ts'
import { statelessClient } from './mcp-client.ts'
import { toolWorld, importRequest, type ToolWorld } from './calls/world.ts'

const VAULT_KEY = `test:${Buffer.from('0123456789abcdefghijklmnopqrstuv').toString('base64')}`

const make = (operationId: string, method = 'post') => ({
  [method]: {
    operationId,
    summary: 'Takes a while',
    responses: { 202: { description: 'Accepted', content: { 'application/json': { schema: {} } } } },
  },
})
const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Long', version: '1' },
  components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
  security: [{ key: [] }],
  paths: {
    '/located': make('located'),
    '/named': make('named'),
    '/elsewhere': make('elsewhere'),
    '/fails': make('fails'),
    '/wobbly': make('wobbly'),
    '/endless': make('endless'),
    '/state': make('state', 'get'),
    '/v1/documents/convert': make('convert'),
    '/v1/refused': make('refused'),
    '/away': make('away'),
    '/machines': make('machines', 'put'),
    '/reports': make('reports'),
  },
}

describe('a tool whose work takes longer than its answer', () => {
  let world: ToolWorld
  beforeAll(async () => {
    world = await toolWorld({ TOOL_TIMEOUT_MS: '2000', TOOL_ANSWER_BYTES_MAX: '20000', VAULT_KEY })
    const provider = importRequest(world.upstream.url, { slug: 'long', trusted: true })
    await world.service.catalogue.importDocument(provider, JSON.stringify(DOCUMENT))
    const providerRef = { environment: 'sandbox', ownerId: null, provider: 'long' } as const
    await world.service.catalogue.setCredentials(providerRef, 'platform-secret')
    await world.service.catalogue.setPublic(providerRef, true)
  })
  afterAll(async () => {
    expect(await sealedPlaces(world.service, VAULT_KEY)).toContain('tool_answer.operation')
    await world.close()
  })

  const answerWith = (response: ServerResponse, headers: Record<string, string>, body: unknown, status = 202): void => {
    for (const [name, value] of Object.entries({ 'retry-after': '0', ...headers })) response.setHeader(name, value)
    respond(response, JSON.stringify(body), 'application/json', status)
  }

  test.each([
    ['located', { location: '/jobs/located?step=1' }, {}],
    ['located', { 'operation-location': '/jobs/located' }, { status: 'Running' }],
    ['named', {}, { status: 'queued', urls: { get: '/jobs/named' } }],
  ])('of %s is waited for, with the tool’s own key', async (operation, headers, accepted) => {
    const requestsBefore = world.upstream.to(`/jobs/${operation}`).length
    world.upstream.on(`/${operation}`, (_, response) => {
      answerWith(response, headers, accepted, operation === 'named' ? 201 : 202)
    })
    world.upstream.on(`/jobs/${operation}`, (_, response) => {
      const times = world.upstream.to(`/jobs/${operation}`).length - requestsBefore
      answerWith(response, {}, times < 3 ? { status: 'in_progress' } : { status: 'done', made: 7 }, 200)
    })
    const caller = await world.caller()
    const { status, body } = await world.call(caller, `long-${operation}`)
    expect([status, body.output]).toEqual([200, { status: 'done', made: 7 }])
    const polled = world.upstream.to(`/jobs/${operation}`).slice(requestsBefore)
    expect(polled.map(({ method, headers: sent }) => [method, sent['x-key']])).toEqual(
      Array.from({ length: 3 }, () => ['GET', 'platform-secret']),
    )
    expect(await world.left(caller)).toMatchObject({ credits: 4.99, locks: 0 })
  })

  test("is polled at its operation's name, below the API's version", async () => {
    const at = '/v1/projects/7/operations/ab-1'
    const name = 'projects/7/operations/ab-1'
    world.upstream.respondWith('/v1/documents/convert', { name, metadata: { percent: 1 } })
    world.upstream.on(at, (_, response) => {
      const done = world.upstream.to(at).length > 1
      answerWith(response, {}, done ? { name, done, response: { pages: 3 } } : { name, done }, 200)
    })
    const { body } = await world.call(await world.caller(), 'long-convert')
    expect(body.output).toEqual({ name, done: true, response: { pages: 3 } })
    expect(world.upstream.to(at).map(({ headers }) => headers['x-key'])).toEqual(['platform-secret', 'platform-secret'])
  })

  test('that ends with an error is not charged, and the error is passed on without the key', async () => {
    const name = 'operations/ab-2'
    const error = { code: 3, message: 'No such page for platform-secret.' }
    world.upstream.respondWith('/v1/refused', { name })
    world.upstream.respondWith(`/v1/${name}`, { name, done: true, error })
    const caller = await world.caller()
    const { body } = await world.call(caller, 'long-refused')
    expect([body.code, body.upstream.message]).toEqual(['upstream_error', 'No such page for [secret].'])
    expect(await world.left(caller)).toMatchObject({ credits: 5, locks: 0 })
  })

  test('is not polled at a name that leaves the API', async () => {
    world.upstream.respondWith('/away', { name: '//127.0.0.2/operations/x' })
    expect((await world.call(await world.caller(), 'long-away')).body.output).toEqual({
      name: '//127.0.0.2/operations/x',
    })
  })

  test.each([
    ['machines', 'PUT', '/machines', {}],
    ['reports', 'POST', '/reports/7', { location: '/reports/7' }],
  ])('of %s is polled at one address, and its result is at another', async (operation, method, result, headers) => {
    const created = { id: operation, size: 2 }
    world.upstream.on(result, (request, response) => {
      if (request.method === 'GET') respond(response, JSON.stringify(created), 'application/json')
      else answerWith(response, { 'azure-asyncoperation': `/states/${operation}`, ...headers }, {}, 201)
    })
    if (result !== `/${operation}`)
      world.upstream.on(`/${operation}`, (_, response) => {
        answerWith(response, { 'azure-asyncoperation': `/states/${operation}`, ...headers }, {}, 202)
      })
    world.upstream.on(`/states/${operation}`, (_, response) => {
      const times = world.upstream.to(`/states/${operation}`).length
      answerWith(response, {}, { status: times < 2 ? 'InProgress' : 'Succeeded' }, 200)
    })
    const caller = await world.caller()
    const { status, body } = await world.call(caller, `long-${operation}`)
    expect([status, body.output, world.upstream.to(`/${operation}`)[0]?.method]).toEqual([200, created, method])
    expect(await world.left(caller)).toMatchObject({ credits: 4.99, locks: 0 })
  })

  test('goes on where its server does not tell for a moment how far it is', async () => {
    world.upstream.on('/wobbly', (_, response) => {
      answerWith(response, { location: '/jobs/wobbly' }, {})
    })
    world.upstream.on('/jobs/wobbly', (_, response) => {
      const times = world.upstream.to('/jobs/wobbly').length
      if (times === 1) answerWith(response, {}, {}, 503)
      else if (times === 2) response.destroy()
      else answerWith(response, {}, { made: 7 }, 200)
    })
    const caller = await world.caller()
    expect((await world.call(caller, 'long-wobbly')).body.output).toEqual({ made: 7 })
    expect(world.upstream.to('/wobbly')).toHaveLength(1)
    expect(await world.left(caller)).toMatchObject({ credits: 4.99, locks: 0 })
  })

  test('that fails later is not charged', async () => {
    world.upstream.on('/fails', (_, response) => {
      answerWith(response, { location: '/jobs/fails' }, {})
    })
    world.upstream.respondWith('/jobs/fails', { status: 'Failed' })
    const caller = await world.caller()
    expect((await world.call(caller, 'long-fails')).body).toMatchObject({
      code: 'upstream_error',
      upstream: { message: 'failed' },
    })
    expect(await world.left(caller)).toMatchObject({ credits: 5, locks: 0 })
  })

  test('is never polled at another server, which would get the key', async () => {
    const stranger = await new Upstream().listen()
    world.upstream.on('/elsewhere', (_, response) => {
      answerWith(
        response,
        { location: `${stranger.url}/jobs` },
        { status: 'running', status_url: `${stranger.url}/jobs` },
      )
    })
    const { status, body } = await world.call(await world.caller(), 'long-elsewhere')
    expect([status, body.output.status, stranger.requests]).toEqual([200, 'running', []])
    await stranger.close()
  })

  describe('and longer than a call may take', () => {
    let done = false
    const accepted = async (caller: TestPerson): Promise<string> => {
      done = false
      world.upstream.on('/endless', (_, response) => {
        answerWith(response, { location: '/jobs/endless?part=1' }, {})
      })
      world.upstream.on('/jobs/endless', (_, response) => {
        const result = { status: 'done', made: 9, by: 'platform-secret' }
        answerWith(response, {}, done ? result : { status: 'running', percent: 40 }, done ? 200 : 202)
      })
      const { status, body } = await world.call(caller.key, 'long-endless')
      expect([status, body.output]).toEqual([200, { status: 'running', percent: 40 }])
      expect(body.operation).toEqual({ askAt: expect.any(String), expiresAt: expect.any(String) })
      return body.callId as string
    }
    const later = async (key: string, callId: string, headers: Record<string, string> = {}) =>
      await world.service.call('GET', `/v1/tool-calls/${callId}`, { key, headers })
    const agentKey = async (owner: TestPerson): Promise<string> => {
      const created = await owner.call('POST', '/v1/agents', { body: { name: 'A' } })
      return (await owner.call('POST', '/v1/keys', { body: { name: 'k', agentId: created.body.agent.id } })).body
        .secret as string
    }
    const polls = (): number => world.upstream.to('/jobs/endless').length
    /** As if the second until the next question were over. */
    const now = (): Promise<unknown> =>
      world.service.database.statements.run(`UPDATE tool_answer SET ask_at = '2020-01-01' WHERE ask_at IS NOT NULL`, [])

    test('is polled later, for nothing, until its result is there and stored', async () => {
      const caller = await world.caller()
      const callId = await accepted(caller)
      expect(polls()).toBeLessThan(20)
      const left = await world.left(caller)
      const before = polls()
      // Within the server's own pause it is not asked.
      expect((await later(caller.key, callId)).body.output).toEqual({ status: 'running', percent: 40 })
      expect(polls()).toBe(before)
      await now()
      const running = await later(caller.key, callId)
      expect([running.status, running.body.output.percent, polls()]).toEqual([200, 40, before + 1])
      expect(running.body.operation.expiresAt).toBe((await later(caller.key, callId)).body.operation.expiresAt)
      await now()
      done = true
      const ended = await later(caller.key, callId)
      expect(ended.body).toMatchObject({ callId, output: { status: 'done', made: 9, by: '[secret]' }, cost: 0.01 })
      expect(ended.body.operation).toBeUndefined()
      expect(world.upstream.to('/jobs/endless').at(-1)?.headers['x-key']).toBe('platform-secret')
      const total = polls()
      const again = await later(caller.key, `${callId}?fields=made`)
      expect([again.body.output, polls()]).toEqual([{ made: 9 }, total])
      expect(await world.left(caller)).toEqual(left)
    })

    test('is stored whole, whatever the poll reads of it that finds it done', async () => {
      const caller = await world.caller()
      const callId = await accepted(caller)
      await now()
      done = true
      expect((await later(caller.key, `${callId}?fields=status`)).body.output).toEqual({ status: 'done' })
      expect((await later(caller.key, callId)).body.output).toMatchObject({ status: 'done', made: 9 })
    })

    test('is stored as a file where its result is large, whatever is read of it', async () => {
      const caller = await world.caller()
      const callId = await accepted(caller)
      const whole = { status: 'done', made: 9, text: 'x'.repeat(30_000) }
      world.upstream.respondWith('/jobs/endless', whole)
      await now()
      for (const path of [`${callId}?fields=status`, callId]) {
        const { output } = (await later(caller.key, path)).body
        expect(output).toMatchObject({ url: expect.any(String), bytes: JSON.stringify(whole).length })
      }
    })

    test('is waited for with Prefer: wait, and only by one at a time', async () => {
      const caller = await world.caller()
      const callId = await accepted(caller)
      await now()
      const before = polls()
      let isMade = false
      world.upstream.on('/jobs/endless', (_, response) => {
        answerWith(response, {}, isMade ? { status: 'done', made: 1 } : { status: 'running' }, 200)
      })
      let isOver = false
      const first = later(caller.key, callId, { prefer: 'wait=30' }).finally(() => (isOver = true))
      await until(() => polls() > before)
      const second = await later(caller.key, callId, { prefer: 'wait=30' })
      expect([second.body.output.status, isOver]).toEqual(['running', false])
      isMade = true
      expect((await first).body.output.status).toBe('done')
    })

    test('belongs to its payer: no other account or agent can read it', async () => {
      const caller = await world.caller()
      const keys = await Promise.all([agentKey(caller), agentKey(caller)])
      const callId = await accepted({ ...caller, key: keys[0] })
      await now()
      const before = polls()
      const stranger = await world.caller()
      for (const key of [keys[1], stranger.key]) {
        const { status, body } = await later(key, callId)
        expect([status, body.code]).toEqual([404, 'call_not_found'])
      }
      expect((await later(caller.key, 'call_nonsense')).status).toBe(404)
      expect(polls()).toBe(before)
      expect((await later(keys[0], callId)).body.output.percent).toBe(40)
    })

    test('that fails then says so, and not that nothing was charged', async () => {
      const caller = await world.caller()
      const callId = await accepted(caller)
      world.upstream.respondWith('/jobs/endless', {
        status: 'failed',
        error: { message: 'No disk for platform-secret.' },
      })
      await now()
      const { status, body } = await later(caller.key, callId)
      expect([status, body.code, body.upstream.message]).toEqual([502, 'upstream_error', 'No disk for [secret].'])
      expect(body.error).not.toContain('Nothing was charged')
      await now()
      const client = await statelessClient(`${world.service.origin}/tools/mcp`, caller.key)
      const failed = await client.callTool({ name: 'get_result', arguments: { callId } })
      expect(failed).toMatchObject({ isError: true, structuredContent: { error: { paid: true, callId, advice: '' } } })
      expect(JSON.stringify(failed)).not.toMatch(/Nothing was charged|call again/)
      await client.close()
    })

    test('that does not answer in time sends a model to get_result, and not to a second call', async () => {
      const caller = await world.caller()
      const callId = await accepted(caller)
      world.upstream.on('/jobs/endless', () => undefined)
      const client = await statelessClient(`${world.service.origin}/tools/mcp`, caller.key)
      const named = { _meta: { 'coinslot/payment': { paymentId: callId } } }
      for (const request of [
        { name: 'get_result', arguments: { callId } },
        { name: 'call_tool', arguments: { slug: 'long-endless' }, ...named },
      ]) {
        await now()
        const late = await client.callTool(request)
        const { error } = late.structuredContent as { error: Record<string, string> }
        expect([late.isError, error['code'], error['paid']]).toEqual([true, 'upstream_timeout', true])
        expect(error['advice']).toContain(`get_result and callId "${callId}"`)
        expect(JSON.stringify(late)).not.toMatch(/Nothing was charged|call again/)
        expect(late._meta?.['coinslot/billing']).toEqual({ callId })
      }
      await client.close()
    })

    test('is not polled with a new server’s keys after the document names another server', async () => {
      const caller = await world.caller()
      const callId = await accepted(caller)
      const other = await new Upstream().listen()
      await world.service.catalogue.importDocument(
        importRequest(other.url, { slug: 'long', trusted: true }),
        JSON.stringify(DOCUMENT),
      )
      await now()
      const before = polls()
      const { status, body } = await later(caller.key, callId)
      expect([status, body.code, polls(), other.requests]).toEqual([410, 'answer_forgotten', before, []])
      await world.service.catalogue.importDocument(
        importRequest(world.upstream.url, { slug: 'long', trusted: true }),
        JSON.stringify(DOCUMENT),
      )
      await other.close()
    })

    test('leaves no address of it in plain text, and nothing after a day', async () => {
      const caller = await world.caller()
      const callId = await accepted(caller)
      const [row] = await world.service.database.statements.run<{ operation: string }>(
        'SELECT operation FROM tool_answer WHERE call_id = $1',
        [callId],
      )
      expect(row?.operation).not.toContain('jobs')
      await world.service.database.statements.run('DELETE FROM tool_answer WHERE call_id = $1', [callId])
      const { status, body } = await later(caller.key, callId)
      expect([status, body.code]).toEqual([410, 'answer_forgotten'])
    })

    test('is fetched by MCP with get_result', async () => {
      const caller = await world.caller()
      done = false
      await accepted(caller)
      const client = await statelessClient(`${world.service.origin}/tools/mcp`, caller.key)
      const called = await client.callTool({ name: 'call_tool', arguments: { slug: 'long-endless' } })
      const { callId } = (called._meta as Record<string, { callId: string }>)['coinslot/billing']!
      expect(JSON.stringify(called.content)).toContain(`get_result and callId \\"${callId}`)
      await now()
      done = true
      const found = await client.callTool({ name: 'get_result', arguments: { callId } })
      expect(found.structuredContent).toMatchObject({ status: 'done', made: 9 })
      expect(found._meta).toMatchObject({ 'coinslot/billing': { cost: 0, callId } })
      expect(found._meta).not.toHaveProperty('coinslot/operation')
      const missing = await client.callTool({ name: 'get_result', arguments: { callId: 'call_other' } })
      expect(missing.isError).toBe(true)
      await client.close()
    })
  })

  test.each([
    ['an hour ago', -3_600_000, 200, 'done'],
    ['in an hour', 3_600_000, 200, 'running'],
  ])('is polled again at the date in its retry-after header: %s', async (_, ms, expected, state) => {
    const requestsBefore = world.upstream.to('/jobs/located').length
    const date = new Date(Date.now() + ms).toUTCString()
    world.upstream.on('/located', (_request, response) => {
      answerWith(response, { location: '/jobs/located', 'retry-after': date }, { status: 'running' })
    })
    world.upstream.respondWith('/jobs/located', { status: 'done' })
    const { status, body } = await world.call(await world.caller(), 'long-located')
    expect([status, body.output.status]).toEqual([expected, state])
    expect(world.upstream.to('/jobs/located').length - requestsBefore).toBe(state === 'done' ? 1 : 0)
  })

  test('is not waited for when it is only a read of a state', async () => {
    world.upstream.respondWith('/state', { status: 'running', urls: { get: '/jobs/state' } })
    const { body } = await world.call(await world.caller(), 'long-state')
    expect([body.output.status, world.upstream.to('/jobs/state')]).toEqual(['running', []])
  })
})
