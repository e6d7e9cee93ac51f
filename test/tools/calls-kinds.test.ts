import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { z } from 'zod'
import { usdc } from '../../service/kit/money.ts'
import { toolWorld, importRequest, type ToolWorld } from './calls/world.ts'

/** Tools that are not HTTP APIs, and those whose server is not there at all. */
describe('calls of tools of every kind', () => {
  let world: ToolWorld
  let server: Server
  beforeAll(async () => {
    world = await toolWorld()
    server = createServer((request, response) => {
      const mcp = new McpServer({ name: 'other', version: '1' })
      mcp.registerTool('add', { description: 'Adds', inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => ({
        content: [{ type: 'text', text: String(a + b) }],
      }))
      mcp.registerTool('fail', { description: 'Fails' }, () => ({
        isError: true,
        content: [{ type: 'text', text: 'The moon is wrong' }],
      }))
      const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
      void mcp.connect(transport as Transport).then(() => transport.handleRequest(request, response))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/mcp`
    await world.service.catalogue.importServer(
      importRequest(address, { slug: 'other', name: null, server: null }),
      address,
    )
  })
  afterAll(async () => {
    await world.close()
    server.closeAllConnections()
    server.close()
  })

  test('call another MCP server, and charge nothing for its error', async () => {
    const caller = await world.caller()
    expect((await world.call(caller, 'other-add', { a: 2, b: 3 })).body).toMatchObject({ output: '5', cost: 0.01 })
    const failed = await world.call(caller, 'other-fail')
    expect([failed.status, failed.body.upstream]).toEqual([502, { status: 200, message: 'The moon is wrong' }])
    expect(await world.left(caller)).toMatchObject({ credits: 4.99, locks: 0 })
  })

  test("pay a creator's tool from the wallet, and not from free credits", async () => {
    const [creator, caller] = [await world.caller(), await world.caller(1)]
    world.upstream.respondWith('/creator', 'made')
    const rda = {
      slug: 'shout',
      type: 'tool',
      name: 'Shout',
      description: 'Says it louder',
      inputSchema: [{ name: 'say', label: 'Say', type: 'text', required: true }],
      toolConfig: { apiEndpoint: `${world.upstream.url}/creator`, apiMethod: 'POST' },
      pricing: { model: 'per-run', amount: 0.25 },
    }
    const created = await creator.call('POST', '/v1/rda', { body: rda })
    expect(created.status).toBe(201)
    await creator.call('POST', `/v1/rda/${String(created.body.rda.id)}/publish`)
    const operation = {
      operation: 'shout',
      name: 'Shout',
      description: 'Says it louder',
      category: null,
      deprecated: false,
      input: {
        type: 'object',
        properties: { say: { type: 'string' } },
        required: ['say'],
        additionalProperties: false,
      },
      output: null,
      upstream: { kind: 'rda' as const, rdaSlug: 'shout' },
    }
    const reading = { name: 'Marketplace', description: '', version: null, operations: [operation], skipped: [] }
    await world.service.catalogue.importAssets('sandbox', reading, new Map([['shout', usdc(250_000n)]]))
    const answer = await world.call(caller, 'rda-shout', { say: 'hello' })
    expect(answer.body).toMatchObject({ output: 'made', cost: 0.25, credits: 5, balance: 0.75 })
    expect(await world.left(creator)).toMatchObject({ balance: 0.25 })
    expect((await world.call(caller, 'rda-shout', {})).body).toMatchObject({ details: { say: 'is required' } })
    const keyless = await world.service.call('POST', '/tools/pay/rda-shout', { body: { say: 'x' } })
    expect(keyless.body.code).toBe('needs_key')
    const poor = await world.caller()
    expect((await world.call(poor, 'rda-shout', { say: 'x' })).body).toMatchObject({
      ...{ code: 'insufficient_credits', required: 0.25, available: 0 },
      error: expect.stringContaining("Credits pay for the platform's tools only"),
    })
  })

  test("of a creator's tool obey an agent's lists of tools and of assets", async () => {
    const caller = await world.caller(5)
    const agentOf = async (policy: Record<string, unknown>) => {
      const { agent } = (await caller.call('POST', '/v1/agents', { body: { name: 'Agent', ...policy } })).body
      const created = await caller.call('POST', '/v1/keys', { body: { name: 'agent', agentId: agent.id } })
      return String(created.body.secret)
    }
    const asTool = async (policy: Record<string, unknown>) => {
      const { status, body } = await world.call(await agentOf(policy), 'rda-shout', { say: 'x' })
      return status === 200 ? 'called' : `${String(status)} ${String(body.limit)}`
    }
    expect(await asTool({ tools: { deny: ['RDA-*'] } })).toBe('403 tools.deny')
    expect(await asTool({ tools: { allow: ['github-*'] } })).toBe('403 tools.allow')
    expect(await asTool({ rdas: { deny: ['Shout'] } })).toBe('403 rdas.deny')
    expect(await asTool({ tools: { allow: ['rda-SHOUT'] }, rdas: { allow: ['sh*'] } })).toBe('called')
    const { id } = await world.service.catalogue.bySlug('sandbox', 'rda-shout', null)
    expect(await asTool({ tools: { deny: [id] } })).toBe('403 tools.deny')
    expect(await asTool({ tools: { allow: [id] } })).toBe('called')
    const key = await agentOf({ tools: { deny: ['*'] } })
    const body = { rdaSlug: 'shout', inputs: { say: 'x' } }
    expect((await world.service.call('POST', '/v1/run', { key, body })).status).toBe(200)
  })

  test('simulate a server that does not exist', async () => {
    const document = JSON.stringify({
      openapi: '3.1.0',
      info: { title: 'Made up', version: '1' },
      servers: [{ url: 'https://nowhere.example' }],
      paths: {
        '/things/{id}': {
          get: {
            operationId: 'getThing',
            summary: 'A thing',
            parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
            responses: {
              200: {
                description: 'Done',
                content: {
                  'application/json': {
                    schema: { type: 'object', required: ['id'], properties: { id: { type: 'integer', minimum: 3 } } },
                  },
                },
              },
            },
          },
        },
      },
    })
    const simulated = importRequest('https://nowhere.example', { slug: 'made-up', simulated: true })
    await world.service.catalogue.importDocument(simulated, document)
    const answer = await world.call(await world.caller(), 'made-up-get-thing', { id: 4 })
    expect([answer.status, answer.body.output.id >= 3]).toEqual([200, true])
  })

  test('a failing tool is checked again, and recovers', async () => {
    const { calls, catalogue, clock } = world.service
    const caller = await world.caller()
    world.upstream.respondWith('/slow', {}, 503)
    for (let call = 0; call < 5; call++) await world.call(caller, 'acme-get-slow')
    await calls.foldStats()
    const { id } = await catalogue.bySlug('sandbox', 'acme-get-slow', null)
    const failing = async () => (await calls.stats({ environment: 'sandbox', ownerId: null })).get(id)!.failing
    expect(await failing()).toBe(true)
    // Too early.
    await calls.checkFailing(clock.now())
    expect(await failing()).toBe(true)
    clock.forward(120_000)
    await calls.checkFailing(clock.now())
    expect(await failing()).toBe(false)
    await world.call(caller, 'acme-get-slow')
    await calls.foldStats()
    expect(await failing()).toBe(true)
    world.upstream.respondWith('/slow', {})
    await world.call(caller, 'acme-get-slow')
    await calls.foldStats()
    expect((await calls.stats({ environment: 'sandbox', ownerId: null })).get(id)).toMatchObject({
      calls: 7,
      succeeded: 1,
      failing: false,
    })
  })
})
