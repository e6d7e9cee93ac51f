import { createServer, type Server } from 'node:net'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { respond } from '../../tools/calls/upstream.ts'
import { toolWorld, importRequest, type ToolWorld } from '../../tools/calls/world.ts'
import type { TestPerson } from '../../harness/service.ts'

describe('POST {tools_url}/{slug} → 502, 504', () => {
  let world: ToolWorld
  let caller: TestPerson
  beforeAll(async () => {
    world = await toolWorld({
      TOOL_TIMEOUT_MS: '1500',
      TOOL_ANSWER_BYTES_MAX: '100000',
      TOOL_LARGE_ANSWER_BYTES_MAX: '100000',
    })
    caller = await world.caller(1)
  })
  afterEach(async () => {
    // After every failure, nothing was charged and no hold is left.
    expect(await world.left(caller)).toEqual({ credits: 5, balance: 1, available: 1, locks: 0 })
  })
  afterAll(async () => {
    await world.close()
  })

  const anything = async (status = 502): Promise<Record<string, unknown>> => {
    const answer = await world.call(caller, 'acme-get-anything')
    expect(answer.status).toBe(status)
    return answer.body as Record<string, unknown>
  }

  test("passes on the status and the message of the tool's refusal", async () => {
    world.upstream.respondWith('/anything', { message: 'The title is taken', secret: 'x' }, 422)
    expect(await anything()).toMatchObject({
      code: 'upstream_error',
      upstream: { status: 422, message: 'The title is taken' },
      callId: expect.stringMatching(/^call_/),
    })
    world.upstream.on('/anything', (_, response) => respond(response, '<h1>Oops</h1>', 'text/html', 500))
    expect(await anything()).toMatchObject({ upstream: { status: 500, message: null } })
  })

  test.each<[string, string | Buffer, string]>([
    ['HTML instead of data', '<html></html>', 'text/html'],
    ['broken JSON', '{"a":', 'application/json'],
    ['a response that is too large', Buffer.alloc(200_000, 'x'), 'application/octet-stream'],
  ])('%s', async (_, content, type) => {
    world.upstream.on('/anything', (__, response) => respond(response, content, type))
    expect(await anything()).toMatchObject({ code: 'upstream_error' })
  })

  test('a redirect to a private address is not followed', async () => {
    world.upstream.on('/anything', (_, response) => {
      response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end()
    })
    const body = await anything()
    expect(body['code']).toBe('upstream_error')
    expect(JSON.stringify(body)).not.toContain('169.254')
  })

  test('lies about its length, in both directions', async () => {
    for (const length of ['1000', '2']) {
      world.upstream.on('/anything', (_, response) => {
        response.socket!.end(
          `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\nconnection: close\r\n\r\n{"a":1}`,
        )
      })
      expect((await anything())['code']).toBe('upstream_error')
    }
  })

  test('504 when the tool hangs or sends too slowly', async () => {
    world.upstream.on('/anything', () => undefined)
    expect((await anything(504))['code']).toBe('upstream_timeout')
    world.upstream.on('/anything', (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const drip = setInterval(() => response.write(' '), 100)
      response.once('close', () => {
        clearInterval(drip)
      })
    })
    expect((await anything(504))['code']).toBe('upstream_timeout')
  })

  test('502 when the tool is down, or does not speak HTTP', async () => {
    const rude: Server = createServer((socket) => socket.end('SSH-2.0-OpenSSH\r\n'))
    rude.listen(0, '127.0.0.1')
    await once(rude, 'listening')
    const port = (rude.address() as AddressInfo).port
    const document = JSON.stringify({
      openapi: '3.1.0',
      info: { title: 'Rude', version: '1' },
      paths: { '/x': { get: { operationId: 'get', summary: 'x', responses: { 200: { description: 'x' } } } } },
    })
    await world.service.catalogue.importDocument(
      importRequest(`http://127.0.0.1:${String(port)}`, { slug: 'rude' }),
      document,
    )
    await world.service.catalogue.importDocument(importRequest('http://127.0.0.1:1', { slug: 'gone' }), document)
    for (const slug of ['rude-get', 'gone-get']) {
      const answer = await world.call(caller, slug)
      expect([answer.status, answer.body.code]).toEqual([502, 'upstream_error'])
      expect(JSON.stringify(answer.body)).not.toContain('127.0.0.1')
    }
    rude.close()
  })

  test('on a private network that is not listed: never called', async () => {
    const document = JSON.stringify({
      openapi: '3.1.0',
      info: { title: 'Inside', version: '1' },
      paths: { '/x': { get: { operationId: 'get', summary: 'x', responses: { 200: { description: 'x' } } } } },
    })
    await world.service.catalogue
      .importDocument(importRequest('http://10.0.0.1', { slug: 'inside' }), document)
      .catch(() => null)
    expect((await world.call(caller, 'inside-get')).status).toBeGreaterThanOrEqual(404)
  })

  test('failures are listed, and count against the tool', async () => {
    world.upstream.respondWith('/anything', {}, 500)
    await Promise.all(Array.from({ length: 5 }, () => anything()))
    const { calls } = (await caller.call('GET', '/v1/tool-calls?tool=acme-get-anything&limit=1')).body
    expect(calls).toMatchObject([{ success: false, cost: 0, code: 'upstream_error' }])
    await world.service.calls.foldStats()
    const tool = await world.service.catalogue.bySlug('sandbox', 'acme-get-anything', null)
    const stats = (await world.service.calls.stats({ environment: 'sandbox', ownerId: null })).get(tool.id)
    expect(stats).toMatchObject({ succeeded: 0, failing: true, lastError: expect.stringContaining('500') })
  })
})
