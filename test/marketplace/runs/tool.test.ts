import { createPublishedTools } from '../../../service/tools/service/catalogue/published.ts'
import { publishedAssets } from '../../../service/wiring/tools-catalogue.ts'
import { createAssetStore } from '../../../service/marketplace/store/assets/assets.ts'
import { runWorld, type RunWorld } from './world.ts'
import type { TestPerson } from '../../harness/service.ts'

describe('a tool', () => {
  let world: RunWorld
  let caller: TestPerson
  let count = 0

  beforeAll(async () => {
    world = await runWorld()
    caller = await world.caller(100)
  })
  afterAll(async () => {
    await world.close()
  })

  async function called(config: Record<string, unknown>, inputs: Record<string, unknown> = { city: 'Bern' }) {
    const at = `/tool-${String(++count)}`
    const { answer = { body: { temperature: 7 } }, ...rest } = config
    const apiEndpoint = world.server.on(at, () => answer as never)
    const slug = await world.tool({
      apiEndpoint: apiEndpoint + (typeof rest['query'] === 'string' ? rest['query'] : ''),
      ...without(rest, 'query'),
    })
    const result = await world.run(caller, slug, { inputs })
    return { result, request: world.server.to(at)[0] }
  }

  test('that is paid by the second is listed at the most that a call is charged, and called for that', async () => {
    const apiEndpoint = world.server.on('/by-second', () => ({ body: { temperature: 7 } }))
    const slug = await world.tool({ apiEndpoint }, { pricing: { model: 'per-second', amount: 0.01 } })
    const store = createAssetStore(world.service.testDatabase.statements)
    const { reading, prices } = await createPublishedTools(publishedAssets(store, world.service.clock)).read('sandbox')
    await world.service.catalogue.importAssets('sandbox', reading, prices)
    const { price } = (await world.service.call('GET', `/tools/rda-${slug}`)).body.tool
    // Of two seconds and more, up to the end of its time.
    expect(price).toBeGreaterThan(0.02)
    expect(price).toBe((await caller.call('GET', `/v1/rda/${slug}`)).body.rda.pricing.maxCost)
    const body = { slug: `rda-${slug}`, input: { city: 'Bern' }, maxCost: price, key: 'by-second' }
    const tried = await caller.call('POST', '/trpc/tools.try', { body })
    expect([tried.status, tried.body.error]).toEqual([200, undefined])
    expect(tried.body.result.data.cost).toBeLessThanOrEqual(Number(price))
  })

  test('gets the inputs as JSON, or added to its query', async () => {
    const posted = await called({ apiMethod: 'POST' })
    expect([posted.request!.method, JSON.parse(posted.request!.body)]).toEqual(['POST', { city: 'Bern' }])
    const fetched = await called({ apiMethod: 'GET', query: '?units=si' }, { city: 'Bern & Thun' })
    expect([fetched.request!.method, fetched.request!.body]).toEqual(['GET', ''])
    expect(Object.fromEntries(fetched.request!.query)).toEqual({ units: 'si', city: 'Bern & Thun' })
  })

  test.each([
    ['none', {}, {}],
    ['api_key', { headerName: 'X-API-Key', apiKey: 'key-1' }, { 'x-api-key': 'key-1' }],
    ['bearer', { token: 'token-1' }, { authorization: 'Bearer token-1' }],
    [
      'basic',
      { username: 'me', password: 'pässword' },
      { authorization: `Basic ${Buffer.from('me:pässword').toString('base64')}` },
    ],
  ])('authenticates by %s, and sends its own headers', async (authType, authConfig, headers) => {
    const { request } = await called({
      authType,
      ...(authType === 'none' ? {} : { authConfig }),
      apiHeaders: { 'X-Client': 'me' },
    })
    expect(request!.headers).toMatchObject({ ...headers, 'x-client': 'me' })
    if (authType === 'none') expect(request!.headers).not.toHaveProperty('authorization')
  })

  test('applies its transforms to the request and the response', async () => {
    const { result, request } = await called({
      requestTransform: '{ "q": $uppercase(city), "n": 1 + 1 }',
      responseTransform: '"It is " & temperature & " degrees"',
    })
    expect(JSON.parse(request!.body)).toEqual({ q: 'BERN', n: 2 })
    expect(result.body.output).toBe('It is 7 degrees')
  })

  test.each([
    [{ body: { a: [1] } }, '{"a":[1]}'],
    [{ body: '"text"' }, 'text'],
    [{ body: 'plain words', headers: { 'content-type': 'text/plain' } }, 'plain words'],
    [{ body: 'nul\0 and \ud800', headers: { 'content-type': 'text/plain' } }, 'nul\ufffd and \ufffd'],
    [{ status: 204 }, ''],
  ])('answering %j gives the output %j', async (answer, output) => {
    const { result } = await called({ answer })
    expect([result.status, result.body.output]).toEqual([200, output])
  })

  test.each([
    ['fails', '$error("no")', 'transform_failed'],
    [
      'does not end for some input',
      '$f := function($x){ $x = null ? 0 : $f($x) }; city ? $f(city) : 0',
      'transform_timeout',
    ],
    [
      'grows beyond measure',
      '$f := function($x){ $x&$x&$x&$x&$x&$x&$x&$x }; city ? $f($f($f($f($f($f(city)))))) : 0',
      'transform_too_large',
    ],
  ])('with a transform that %s costs nothing, and its server is not called', async (_, expression, code) => {
    const transform = expression.startsWith('$f') ? `(${expression})` : expression
    const { result, request } = await called({ requestTransform: transform })
    expect([result.status, result.body.code]).toEqual([500, code])
    expect(request).toBeUndefined()
  })

  test('is not asked for an answer that its transform is refused for, and stays on for other buyers', async () => {
    const at = '/tool-slow'
    const apiEndpoint = world.server.on(at, ({ body }) => ({ body }))
    const responseTransform = '($f := function($x){ $x = null ? 0 : $f($x) }; city = "slow" ? $f(city) : city)'
    const slug = await world.tool({ apiMethod: 'POST', apiEndpoint, responseTransform })
    const run = async (person: TestPerson, city: string): Promise<unknown[]> => {
      const { status, body } = await world.run(person, slug, { inputs: { city } })
      return [status, String(body.code ?? body.output)]
    }
    for (let times = 0; times < 3; times++) expect(await run(caller, 'slow')).toEqual([500, 'transform_timeout'])
    expect(world.server.to(at)).toHaveLength(3)
    expect(await run(caller, 'Bern')).toEqual([500, 'transform_timeout'])
    expect(world.server.to(at)).toHaveLength(3)
    expect(await run(await world.caller(100), 'Bern')).toEqual([200, 'Bern'])
  })

  test('is called once, even when it fails', async () => {
    const at = '/tool-once'
    const slug = await world.tool({ apiEndpoint: world.server.on(at, () => ({ status: 503 })) })
    expect((await world.run(caller, slug, { inputs: { city: 'Bern' } })).status).toBe(500)
    expect(world.server.to(at)).toHaveLength(1)
  })
})

function without(config: Record<string, unknown>, name: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(config).filter(([key]) => key !== name))
}
