import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Tool as McpTool } from '@modelcontextprotocol/sdk/types.js'
import { createToolServers } from '../../service/mcp-client/servers.ts'
import { outboundClient } from '../../service/outbound/client.ts'
import { usdc } from '../../service/kit/money.ts'
import type { UserId } from '../../service/tools/model/tool.ts'
import { catalogueWorld, importRequest, type CatalogueWorld } from './catalogue-world.ts'
import { mcpStranger, type Stranger } from './mcp-stranger.ts'

const TOOLS: McpTool[] = [
  {
    name: 'add',
    title: 'Add up',
    description: 'Adds [numbers](https://x.example).',
    inputSchema: {
      type: 'object',
      properties: { of: { type: 'array', items: { $ref: '#/$defs/number' } } },
      $defs: { number: { type: 'number' } },
    },
  },
  {
    name: 'get_weather',
    description: 'The weather.',
    inputSchema: { type: 'object' },
    outputSchema: { type: 'object', properties: { celsius: { type: 'number' } }, required: ['celsius'] },
  },
  {
    name: 'nested',
    inputSchema: {
      type: 'object',
      properties: { tree: { $ref: '#/$defs/tree' } },
      $defs: { tree: { type: 'object', properties: { left: { $ref: '#/$defs/tree' } } } },
    },
  },
]

describe('Tools of an external MCP server', () => {
  let world: CatalogueWorld
  let stranger: Stranger
  const outbound = outboundClient({ policy: { allowPrivate: true, allowHosts: [] } })
  const servers = createToolServers({
    open: (request) => outbound.open(request),
    limits: { totalMs: 10_000 },
    version: '1',
  })

  beforeAll(async () => {
    world = await catalogueWorld()
    stranger = await mcpStranger(TOOLS)
  })
  afterAll(async () => {
    await servers.close()
    await outbound.close()
    await world.close()
    await stranger.close()
  })

  const call = (
    tool: string,
    input: Record<string, unknown> = {},
    other: Partial<Parameters<typeof servers.call>[0]> = {},
  ) =>
    servers.call({
      ...{ server: stranger.url, caller: 'one', tool, input, headers: {}, onProgress: () => undefined },
      signal: new AbortController().signal,
      ...other,
    })

  test('are imported as it lists them, page after page, whole in themselves', async () => {
    const report = await world.catalogue.importServer(
      importRequest('stranger', { simulated: false, pricing: { otherwise: usdc(4n) } }),
      stranger.url,
    )
    expect(report).toMatchObject({ added: ['stranger-add', 'stranger-get-weather', 'stranger-nested'], skipped: [] })
    const add = await world.catalogue.bySlug('sandbox', 'stranger-add', null)
    expect(add).toMatchObject({
      ...{ name: 'Add up', description: 'Adds numbers. Takes of.', price: 4n, output: null },
      input: { type: 'object', properties: { of: { type: 'array', items: { type: 'number' } } } },
      upstream: { kind: 'mcp', server: stranger.url, tool: 'add' },
    })
    const nested = await world.catalogue.bySlug('sandbox', 'stranger-nested', null)
    expect(JSON.stringify(nested.input)).not.toContain('$ref')
    expect((await world.catalogue.providers('sandbox', null)).find(({ slug }) => slug === 'stranger')).toMatchObject({
      kind: 'mcp',
      name: 'A stranger',
      description: 'Be kind.',
      tools: 3,
    })
  })

  test('a second import without a change writes nothing; with one it says which', async () => {
    const again = () =>
      world.catalogue.importServer(
        importRequest('stranger', { simulated: false, pricing: { otherwise: usdc(4n) } }),
        stranger.url,
      )
    expect(await again()).toMatchObject({ added: [], changed: [], removed: [], unchanged: 3 })
    stranger.tools = [{ ...TOOLS[0]!, description: 'Adds more.' }, TOOLS[1]!]
    expect(await again()).toMatchObject({ changed: ['stranger-add'], removed: ['stranger-nested'], unchanged: 1 })
    stranger.tools = TOOLS
  })

  test("send the provider's key from the vault", async () => {
    const providerRef = { environment: 'sandbox', ownerId: null, provider: 'stranger' } as const
    await world.catalogue.setCredentials(providerRef, 'token')
    await world.catalogue.setPublic(providerRef, true)
    const tool = await world.catalogue.bySlug('sandbox', 'stranger-add', null)
    const [{ headers }] = await world.catalogue.credentials(tool)
    await call('add', {}, { headers })
    expect(stranger.authorization).toBe('Bearer token')
  })

  test('of an account get its key at their own server only, also where another is imported under the name', async () => {
    const other = await mcpStranger(TOOLS)
    const ownerId = 'usr_ann' as UserId
    const request = importRequest('crm', { simulated: false, ownerId })
    const whose = { environment: 'sandbox', ownerId, provider: 'crm' } as const
    const key = async () => {
      const tool = await world.catalogue.bySlug('sandbox', 'crm-add', ownerId)
      return (await world.catalogue.credentials(tool))[0].headers['authorization']
    }
    await world.catalogue.importServer(request, stranger.url)
    await world.catalogue.setCredentials(whose, 'token-of-a')
    await world.catalogue.importServer(request, stranger.url)
    expect([stranger.authorization, await key()]).toEqual(['Bearer token-of-a', 'Bearer token-of-a'])
    await world.catalogue.importServer(request, other.url)
    expect([other.authorization, await key()]).toEqual([undefined, undefined])
    await other.close()
  })

  test('keep one session per key between calls, and open a new one when the server forgot it', async () => {
    await call('add')
    const before = stranger.sessions
    await Promise.all([call('add'), call('add'), call('get_weather')])
    expect(stranger.sessions).toBe(before)
    await call('add', {}, { headers: { authorization: 'Bearer other' } })
    expect(stranger.sessions).toBe(before + 1)
    stranger.forget()
    expect(await call('add')).toEqual({ kind: 'text', value: 'ok' })
    expect(stranger.sessions).toBe(before + 2)
  })

  test('pass on each result as its own kind', async () => {
    const answers = async (answer: Awaited<ReturnType<Stranger['answer']>>) => {
      stranger.answer = () => Promise.resolve(answer)
      return await call('add')
    }
    expect(
      await answers({
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      }),
    ).toEqual({ kind: 'text', value: 'a\nb' })
    expect(await answers({ content: [], structuredContent: { celsius: 1 } })).toEqual({
      kind: 'json',
      value: { celsius: 1 },
    })
    expect(await answers({ content: [{ type: 'image', mimeType: 'image/png', data: 'aGk=' }] })).toEqual({
      kind: 'binary',
      value: { contentType: 'image/png', base64: 'aGk=', bytes: 2 },
    })
    await expect(answers({ isError: true, content: [{ type: 'text', text: 'No such city.' }] })).rejects.toMatchObject({
      kind: 'upstream',
      code: 'upstream_error',
      fields: { upstream: { message: 'No such city.' } },
    })
    stranger.answer = () => Promise.reject(new Error('broken'))
    await expect(call('add')).rejects.toMatchObject({ code: 'upstream_error' })
  })

  test('report progress, and end when the caller leaves', async () => {
    const updates: unknown[] = []
    stranger.answer = async (_name, _input, report) => {
      await report(1)
      return { content: [{ type: 'text', text: 'done' }] }
    }
    expect(await call('add', {}, { onProgress: (progress) => updates.push(progress) })).toEqual({
      kind: 'text',
      value: 'done',
    })
    expect(updates).toEqual([{ progress: 1, total: 2, message: null }])
    const leaving = new AbortController()
    stranger.answer = () => {
      leaving.abort(new Error('left'))
      return new Promise(() => undefined)
    }
    await expect(call('add', {}, { signal: leaving.signal })).rejects.toThrow('left')
    stranger.answer = () => Promise.resolve({ content: [{ type: 'text', text: 'ok' }] })
    expect(await call('add')).toEqual({ kind: 'text', value: 'ok' })
  })

  test('are read from as many small pages as there are, and no further than the limits over all of them', async () => {
    const reading = { server: stranger.url, caller: 'reader', headers: {} }
    stranger.tools = Array.from({ length: 210 }, (_, n) => ({ ...TOOLS[1]!, name: `tool_${String(n)}` }))
    expect((await servers.read(reading)).operations).toHaveLength(210)
    await expect(servers.read({ ...reading, charactersMax: 2_000 })).rejects.toMatchObject({
      code: 'mcp_server_refused',
      message: expect.stringContaining('its list of tools is longer than 2000 characters.'),
    })
    const seen: number[] = []
    const check = ({ tools }: { tools: number }) => {
      seen.push(tools)
      if (tools === 5) throw new Error('enough')
    }
    await expect(servers.read({ ...reading, check })).rejects.toMatchObject({ code: 'mcp_server_refused' })
    expect(seen).toEqual([1, 2, 3, 4, 5])
    stranger.tools = TOOLS
  })

  test('are read until the deadline of the whole reading, or until the request is closed', async () => {
    const hasty = createToolServers({
      ...{ open: (request) => outbound.open(request), limits: { totalMs: 10_000 }, version: '1' },
      readMs: 300,
    })
    const reading = { server: stranger.url, caller: 'reader', headers: {} }
    // Its session is open before the server stops answering.
    await hasty.call({
      ...{ ...reading, tool: 'add', input: {}, onProgress: () => undefined },
      signal: new AbortController().signal,
    })
    stranger.instead = () => undefined
    await expect(hasty.read(reading)).rejects.toMatchObject({
      code: 'mcp_server_refused',
      message: expect.stringContaining('it takes too long to list its tools.'),
    })
    await hasty.close()
    const leaving = new AbortController()
    await servers.read(reading)
    stranger.instead = () => {
      leaving.abort()
    }
    await expect(servers.read({ ...reading, signal: leaving.signal })).rejects.toMatchObject({
      code: 'mcp_server_refused',
      message: expect.stringContaining('the request was closed.'),
    })
    expect((await servers.read(reading)).operations).toHaveLength(3)
  })

  test.each([
    ['a web page', 200, 'text/html', '<h1>Hello</h1>'],
    ['something broken', 200, 'application/json', '{"jsonrpc'],
    ['a refusal', 401, 'text/plain', 'no'],
  ])('are refused from an address that answers with %s', async (_, status, type, text) => {
    const server = createServer((_request, response) => {
      response.writeHead(status, { 'content-type': type }).end(text)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`
    await expect(world.catalogue.importServer(importRequest('none', { simulated: false }), url)).rejects.toMatchObject({
      code: 'mcp_server_refused',
      message: expect.not.stringContaining('Hello'),
    })
    await new Promise((resolve) => server.close(resolve))
    await expect(world.catalogue.importServer(importRequest('none', { simulated: false }), url)).rejects.toMatchObject({
      kind: 'upstream',
    })
  })

  test('are refused at a forbidden address', async () => {
    await expect(
      world.catalogue.importServer(importRequest('none', { simulated: false }), 'http://169.254.169.254/mcp'),
    ).rejects.toMatchObject({ code: 'address_refused' })
  })
})
