import { toolWorld, type ToolWorld } from '../../tools/calls/world.ts'

describe('POST {tools_url}/{slug} → 400, 413, 415', () => {
  let world: ToolWorld
  beforeAll(async () => {
    world = await toolWorld()
    world.upstream.respondWith('/notes', {})
  })
  afterAll(async () => {
    expect(world.upstream.requests).toEqual([])
    expect(await world.locks()).toBe(0)
    await world.close()
  })

  test.each([
    ['no required input', {}, { title: 'is required' }],
    ['a wrong type', { title: 5 }, { title: 'must be a string' }],
    ['a number as text', { title: 'a', pages: '5' }, { pages: 'must be a whole number' }],
    ['a fraction', { title: 'a', pages: 1.5 }, { pages: 'must be a whole number' }],
    ['too little', { title: 'a', pages: 0 }, { pages: 'must be >= 1' }],
    ['an unknown field', { title: 'a', colour: 'red' }, { colour: 'is not known' }],
    ['a list', ['title'], { body: 'must be an object' }],
    ['a text', 'title', { body: 'must be an object' }],
    ['a null', null, { title: 'is required' }],
    ['two faults at once', { pages: true }, { title: 'is required', pages: 'must be a whole number' }],
  ])('%s is named', async (_, input, details) => {
    const answer = await world.call(await world.caller(), 'acme-create-note', input)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ code: 'invalid_input', details, callId: expect.stringMatching(/^call_/) })
  })

  test.each([
    ['a value outside its choices', 'language', 'fr', 'must be one of en, de'],
    ['a path that would climb', 'word', '..', 'must not contain "." or ".." as a path segment'],
    ['an empty path', 'word', '', 'must not be empty, "." or ".."'],
    ['a line break for a header', 'xTrace', 'a\r\nb: c', 'must be text that fits into a header'],
  ])('%s is named', async (_, field, value, fault) => {
    const { tool } = (await world.service.call('GET', '/tools/acme-get-word')).body
    const names = Object.keys(tool.inputSchema.properties as object)
    const name = names.find((one) => one.toLowerCase().replaceAll(/[^a-z]/g, '') === field.toLowerCase())!
    const answer = await world.call(await world.caller(), 'acme-get-word', { word: 'x', [name]: value })
    expect([answer.status, answer.body.details]).toEqual([400, { [name]: fault }])
  })

  test('keys that name a prototype', async () => {
    const caller = await world.caller()
    for (const raw of ['{"title":"a","__proto__":{"x":1}}', '{"title":"a","more":{"a":{"__proto__":1}}}']) {
      const answer = await caller.call('POST', '/tools/acme-create-note', { raw })
      expect([answer.status, Object.values(answer.body.details as object)]).toEqual([
        400,
        ['must not have a field "__proto__"'],
      ])
    }
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })

  test('nesting that would overflow a stack, with and without a key', async () => {
    const caller = await world.caller()
    const raw = `{"title":"a","more":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}}`
    for (const headers of [{}, { 'idempotency-key': 'deep' }]) {
      const answer = await caller.call('POST', '/tools/acme-create-note', { raw, headers })
      const body = 'is nested too deeply: at most 128 levels are allowed'
      expect([answer.status, answer.body.details]).toEqual([400, { body }])
    }
  })

  test('10 MB', async () => {
    const raw = JSON.stringify({ title: 'x'.repeat(10_000_000) })
    const answer = await (await world.caller()).call('POST', '/tools/acme-create-note', { raw })
    expect([answer.status, answer.body.code]).toEqual([413, 'body_too_large'])
  })

  test('a body that is not JSON (400), or has another content type (415)', async () => {
    const caller = await world.caller()
    const headers = { 'content-type': 'text/plain' }
    expect((await caller.call('POST', '/tools/acme-create-note', { raw: '{' })).status).toBe(400)
    expect((await caller.call('POST', '/tools/acme-create-note', { raw: 'title', headers })).status).toBe(415)
  })
})
