import { gunzipSync, gzipSync } from 'node:zlib'
import type { TestPerson } from '../harness/service.ts'
import { createLargeAnswers } from '../../service/tools/service/calls/large.ts'
import { respond } from './calls/upstream.ts'
import { toolWorld, type ToolWorld } from './calls/world.ts'
import { statelessClient } from './mcp-client.ts'

/** Answers of more than 20 kB are too large to be sent here, and of more than 300 kB too large to be kept. */
describe('answers that are too large to be sent', () => {
  let world: ToolWorld
  let caller: TestPerson
  beforeAll(async () => {
    world = await toolWorld({
      TOOL_ANSWER_BYTES_MAX: '20000',
      TOOL_LARGE_ANSWER_BYTES_MAX: '300000',
      QUOTA_FILE_BYTES: '700000',
    })
  })
  beforeEach(async () => {
    caller = await world.caller()
  })
  afterAll(() => world.close())

  const items = (count: number) => Array.from({ length: count }, (_, id) => ({ id, text: 'x'.repeat(100) }))

  async function load(url: string): Promise<{ status: number; headers: Headers; text: string }> {
    const { pathname, search } = new URL(url)
    const response = await fetch(`${world.service.origin}${pathname}${search}`)
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  async function storedFiles(): Promise<{ files: Record<string, unknown>[]; bytes: number }> {
    return (await caller.call('GET', '/v1/files')).body as { files: Record<string, unknown>[]; bytes: number }
  }

  test('are stored as a file for 26 hours, and loaded with the link alone', async () => {
    const answer = { items: items(500) }
    world.upstream.respondWith('/words/much', answer)
    const headers = { 'idempotency-key': 'much' }
    const { status, body } = await world.call(caller, 'acme-get-word', { word: 'much' }, headers)
    const bytes = JSON.stringify(answer).length
    const expiresAt = new Date(world.service.clock.now().getTime() + 26 * 3_600_000).toISOString()
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({
        cost: 0.01,
        output: {
          url: expect.stringMatching(/\/tools\/answers\/file_[0-9a-z]{26}\?token=[\w-]{43}$/),
          name: expect.stringMatching(/^acme-get-word-[0-9a-z]{26}[.]json$/),
          contentType: 'application/json',
          bytes,
          expiresAt: expect.stringContaining(expiresAt.slice(0, 16)),
        },
      }),
    ])
    const url = String(body.output.url)
    const loaded = await load(url)
    expect([loaded.status, JSON.parse(loaded.text)]).toEqual([200, answer])
    expect(Object.fromEntries(loaded.headers)).toMatchObject({
      'content-type': expect.stringContaining('application/json'),
      'content-disposition': expect.stringContaining(`attachment; filename="${String(body.output.name)}"`),
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
    })
    const again = await world.call(caller, 'acme-get-word', { word: 'much' }, headers)
    expect(again.body.output).toEqual(body.output)
    expect(await world.left(caller)).toMatchObject({ credits: 4.99, locks: 0 })
    const listed = await storedFiles()
    expect(listed).toMatchObject({
      bytes,
      files: [{ purpose: 'answer', name: body.output.name, url: null, keptUntil: body.output.expiresAt }],
    })

    const [address, token] = url.split('?token=') as [string, string]
    const other = token.startsWith('A') ? 'B' : 'A'
    for (const wrong of [`${address}?token=${other}${token.slice(1)}`, `${address}?token=`]) {
      expect((await load(wrong)).status).toBe(404)
    }
    expect((await load(address)).status).toBe(400)
    world.service.clock.forward(26 * 3_600_000 + 1_000)
    expect((await load(url)).status).toBe(404)
    await world.service.files.sweep(world.service.clock.now())
    expect(await storedFiles()).toMatchObject({ bytes: 0, files: [] })
  })

  test('can be deleted early by their owner, and each token opens one only', async () => {
    world.upstream.respondWith('/words/one', { items: items(300) })
    const [one, other] = [
      (await world.call(caller, 'acme-get-word', { word: 'one' })).body.output.url,
      (await world.call(caller, 'acme-get-word', { word: 'one' })).body.output.url,
    ] as [string, string]
    const exchanged = `${one.split('?')[0]!}?${other.split('?')[1]!}`
    expect([(await load(one)).status, (await load(other)).status, (await load(exchanged)).status]).toEqual([
      200, 200, 404,
    ])
    const { files } = await storedFiles()
    const stranger = await world.caller()
    expect((await stranger.call('DELETE', `/v1/files/${String(files[0]!['id'])}`)).status).toBe(404)
    for (const { id } of files) expect((await caller.call('DELETE', `/v1/files/${String(id)}`)).status).toBe(204)
    expect((await load(one)).status).toBe(404)
  })

  test('are inline where the requested fields are small, and else a file of those fields', async () => {
    world.upstream.respondWith('/words/cut', { items: items(500), total: 500 })
    const small = await world.call(caller, 'acme-get-word?fields=total', { word: 'cut' })
    expect(small.body.output).toEqual({ total: 500 })
    const { output } = (await world.call(caller, 'acme-get-word?fields=items.text', { word: 'cut' })).body
    expect(output).toMatchObject({ contentType: 'application/json' })
    expect(JSON.parse((await load(String(output.url))).text)).toEqual({
      items: items(500).map(({ text }) => ({ text })),
    })
  })

  test('of bytes are stored unchanged, and active content is only a download', async () => {
    const zip = gzipSync(Buffer.from(JSON.stringify(items(2_000))), { level: 0 })
    world.upstream.on('/words/zip', (_, response) => respond(response, zip, 'application/gzip'))
    const { output } = (await world.call(caller, 'acme-get-word', { word: 'zip' })).body
    expect(output).toMatchObject({
      name: expect.stringMatching(/[.]gz$/),
      contentType: 'application/gzip',
      bytes: zip.length,
    })
    const { pathname, search } = new URL(String(output.url))
    const loaded = Buffer.from(await (await fetch(`${world.service.origin}${pathname}${search}`)).arrayBuffer())
    expect(JSON.parse(gunzipSync(loaded).toString())).toHaveLength(2_000)
    world.upstream.on('/words/svg', (_, response) => respond(response, `<svg>${'x'.repeat(30_000)}`, 'image/svg+xml'))
    const drawn = (await world.call(caller, 'acme-get-word', { word: 'svg' })).body.output
    expect((await load(String(drawn.url))).headers.get('content-type')).toBe('application/octet-stream')
  })

  test("cost nothing where they are too large to store, failures, or beyond the account's quota", async () => {
    world.upstream.respondWith('/words/huge', { items: items(5_000) })
    const huge = await world.call(caller, 'acme-get-word', { word: 'huge' })
    expect([huge.status, huge.body.error]).toEqual([
      502,
      'The tool returned a response that is too large. Nothing was charged.',
    ])
    world.upstream.respondWith('/words/failed', { message: 'No', more: items(500) }, 500)
    expect((await world.call(caller, 'acme-get-word', { word: 'failed' })).status).toBe(502)
    expect(await storedFiles()).toMatchObject({ bytes: 0 })
    world.upstream.respondWith('/words/room', { items: items(2_000) })
    const statuses: number[] = []
    for (let call = 0; call < 4; call++) {
      statuses.push((await world.call(caller, 'acme-get-word', { word: 'room' })).status)
    }
    expect(statuses).toEqual([200, 200, 429, 429])
    expect(await world.left(caller)).toMatchObject({ credits: 4.98, locks: 0 })
  })

  test('of one account leave slots for others while they are read', () => {
    const { service } = world
    const answers = createLargeAnswers({ files: service.files, answerBytesMax: 20_000 })
    const placeOf = (userId: string) => answers.place({ userId, environment: 'sandbox' })
    const [first, second, third] = [placeOf('one'), placeOf('one'), placeOf('one')] as const
    first.take()
    first.take()
    second.take()
    expect(() => third.take()).toThrow('too many large answers')
    for (const place of [placeOf('two'), placeOf('three')]) place.take()
    expect(() => placeOf('four').take()).toThrow('too many large answers')
    first.leave()
    third.take()
  })

  test('are a link for clients of MCP', async () => {
    const client = await statelessClient(`${world.service.origin}/tools/mcp`, caller.key)
    world.upstream.respondWith('/words/mcp', { items: items(500) })
    const result = await client.callTool({
      name: 'call_tool',
      arguments: { slug: 'acme-get-word', input: { word: 'mcp' } },
    })
    const { url } = result.structuredContent as { url: string }
    expect(result.content).toEqual([
      expect.objectContaining({
        type: 'resource_link',
        uri: url,
        mimeType: 'application/json',
      }),
      { type: 'text', text: expect.stringContaining(`It can be loaded from ${url} until `) },
    ])
    expect((await load(url)).status).toBe(200)
    await client.close()
  })
})
