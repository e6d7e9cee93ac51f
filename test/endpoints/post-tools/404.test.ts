import { toolWorld, importRequest, type ToolWorld } from '../../tools/calls/world.ts'

describe('POST {tools_url}/{slug} → 404, 410', () => {
  let world: ToolWorld
  beforeAll(async () => {
    world = await toolWorld()
  })
  afterAll(async () => {
    await world.close()
  })

  const one = (name: string, path: string) =>
    JSON.stringify({
      openapi: '3.1.0',
      info: { title: 'Own', version: '1' },
      paths: { [path]: { get: { operationId: name, summary: name, responses: { 200: { description: 'x' } } } } },
    })

  test('for an unknown slug of any form', async () => {
    const caller = await world.caller()
    for (const slug of ['no-such-tool', 'tool_01j000', 'ACME-get-text', 'x'.repeat(500)]) {
      const answer = await world.call(caller, slug)
      expect([answer.status, answer.body.code]).toEqual([404, 'tool_not_found'])
    }
  })

  test("for another account's own tool", async () => {
    const [owner, stranger] = [await world.caller(), await world.caller()]
    world.upstream.respondWith('/private', { mine: true })
    const ownerId = owner.caller.user.id
    const own = importRequest(world.upstream.url, { slug: 'own', ownerId })
    await world.service.catalogue.importDocument(own, one('look', '/private'))
    expect((await world.call(owner, 'own-look')).status).toBe(200)
    expect((await world.call(stranger, 'own-look')).body.code).toBe('tool_not_found')
  })

  test('for a removed tool (410), with its successor', async () => {
    const { catalogue } = world.service
    world.upstream.respondWith('/v1', { version: 1 })
    await catalogue.importDocument(importRequest(world.upstream.url, { slug: 'moving' }), one('old', '/v1'))
    await catalogue.importDocument(importRequest(world.upstream.url, { slug: 'moving' }), one('renamed', '/v1'))
    const answer = await world.call(await world.caller(), 'moving-old')
    expect([answer.status, answer.body.code, answer.body.successor]).toEqual([410, 'tool_removed', 'moving-renamed'])
  })
})
