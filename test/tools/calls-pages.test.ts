import fc from 'fast-check'
import { cutTo, fieldTree } from '../../service/tools/rules/fields.ts'
import { respond } from './calls/upstream.ts'
import { toolWorld, importRequest, type ToolWorld } from './calls/world.ts'

/** A list of this many things at a server, read in five ways. */
const THINGS = Array.from({ length: 25 }, (_, nth) => ({
  id: `thing-${String(nth)}`,
  name: `Nº ${String(nth)}`,
  more: {},
}))

const query = (...names: string[]) =>
  names.map((name) => ({ name, in: 'query', schema: { type: /token|cursor|after/.test(name) ? 'string' : 'integer' } }))
const get = (operationId: string, ...names: string[]) => ({
  get: {
    operationId,
    summary: 'Things, page by page',
    parameters: query(...names),
    responses: { 200: { description: 'Done', content: { 'application/json': { schema: {} } } } },
  },
})
const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1' },
  paths: {
    '/by-page': get('byPage', 'page', 'per_page'),
    '/by-offset': get('byOffset', 'offset', 'limit'),
    '/by-cursor': get('byCursor', 'page_token', 'max_results'),
    '/by-link': get('byLink', 'page', 'per_page'),
    '/after-last': get('afterLast', 'starting_after', 'limit'),
    '/deaf': get('deaf', 'page'),
    '/breaks': get('breaks', 'page'),
    '/endless': get('endless', 'page'),
    '/whole': get('whole'),
    '/write': { post: get('write', 'page').get },
  },
}

describe('an answer in pages', () => {
  let world: ToolWorld
  beforeAll(async () => {
    world = await toolWorld({ TOOL_ANSWER_BYTES_MAX: '200000' })
    await world.service.catalogue.importDocument(
      importRequest(world.upstream.url, { slug: 'shop' }),
      JSON.stringify(DOCUMENT),
    )
    serve(world)
  })
  afterAll(async () => {
    await world.close()
  })

  const request = async (
    operation: string,
    query: string,
    input: object = {},
    headers: Record<string, string> = {},
  ) => {
    const caller = await world.caller()
    const { status, body } = await world.service.call('POST', `/tools/shop-${operation}?${query}`, {
      body: input,
      headers,
      key: caller.key,
    })
    return { caller, status, body }
  }

  test.each([
    ['by-page', { per_page: 10 }, null],
    ['by-offset', { limit: 10 }, 'items'],
    ['by-cursor', { max_results: 10 }, 'results'],
    ['by-link', { per_page: 10 }, null],
    ['after-last', { limit: 10 }, 'data'],
  ])('%s is one answer, and each page is paid for', async (operation, input, at) => {
    const { caller, status, body } = await request(operation, 'all=true&maxPages=9', input)
    expect([status, body.pages]).toEqual([200, { read: 3, next: null }])
    expect(at === null ? body.output : body.output[at]).toEqual(THINGS)
    expect(body).toMatchObject({ cost: 0.03, credits: 4.97 })
    expect(await world.left(caller)).toMatchObject({ credits: 4.97, locks: 0 })
    expect((await caller.call('GET', '/v1/tool-calls')).body.calls).toMatchObject([{ cost: 0.03, success: true }])
  })

  test('continues where it ended', async () => {
    const { body } = await request('by-cursor', 'all=true&maxPages=2', { max_results: 10 })
    expect(body).toMatchObject({ cost: 0.02, pages: { read: 2, next: { max_results: 10, page_token: '20' } } })
    const rest = await request('by-cursor', 'all=true', body.pages.next as object)
    expect([...body.output.results, ...rest.body.output.results]).toEqual(THINGS)
    expect(rest.body.pages).toEqual({ read: 1, next: null })
  })

  test('keeps the pages read when a later one fails, and charges only those', async () => {
    const { body } = await request('breaks', 'all=true')
    expect(body).toMatchObject({ cost: 0.02, pages: { read: 2, next: { page: 3 } } })
    expect(body.output).toHaveLength(20)
  })

  test('a server without pages is called twice and paid once', async () => {
    const { body } = await request('deaf', 'all=true')
    expect([body.cost, body.pages, body.output]).toEqual([0.01, { read: 1, next: null }, THINGS])
    expect(world.upstream.to('/deaf')).toHaveLength(2)
  })

  test('an endless one is read up to the requested pages, the money or the size limit', async () => {
    expect((await request('endless', 'all=true&maxPages=4')).body.pages).toEqual({ read: 4, next: { page: 5 } })
    const dear = await request('endless', 'all=true&maxPages=50')
    expect(dear.body.pages.read).toBeLessThan(50)
    const poor = await request('endless', 'all=true&maxPages=50')
    await world.spend(poor.caller, 4_500_000n)
    const path = '/tools/shop-endless?all=true&maxPages=50'
    expect((await world.service.call('POST', path, { body: {}, key: poor.caller.key })).body).toMatchObject({
      code: 'insufficient_credits',
      required: 0.5,
    })
  })

  test('a repeated request is the same answer, once paid; with other fields it is another request', async () => {
    const headers = { 'idempotency-key': 'pages' }
    const { caller, body } = await request('by-offset', 'all=true&fields=items.id', { limit: 10 }, headers)
    expect(body.output).toEqual({ items: THINGS.map(({ id }) => ({ id })) })
    const path = '/tools/shop-by-offset?all=true'
    const call = (more: string) =>
      world.service.call('POST', path + more, { body: { limit: 10 }, headers, key: caller.key })
    expect((await call('&fields=items.id')).body).toMatchObject({ output: body.output, pages: body.pages, cost: 0.03 })
    expect((await call('&fields=items.name')).body.code).toBe('idempotency_conflict')
    expect(await world.left(caller)).toMatchObject({ credits: 4.97 })
  })

  test.each([
    ['whole', 'all=true', 'all'],
    ['write', 'all=true', 'all'],
    ['by-page', 'maxPages=3', 'maxPages'],
    ['by-page', 'all=true&maxPages=51', 'maxPages'],
    ['by-page', 'all=yes', 'all'],
    ['by-page', 'fields=a..b', 'fields'],
    ['by-page', `fields=${'a.'.repeat(10)}a`, 'fields'],
    ['by-page', `fields=${Array.from({ length: 101 }, (_, nth) => `f${String(nth)}`).join(',')}`, 'fields'],
  ])('of %s with %s is refused by the name of the field', async (operation, query, field) => {
    const { caller, status, body } = await request(operation, query)
    expect([status, Object.keys(body.details as object)]).toEqual([400, [field]])
    expect(await world.left(caller)).toMatchObject({ credits: 5, locks: 0 })
  })

  test('the catalogue says which tools have pages', async () => {
    const paged = async (slug: string): Promise<unknown> =>
      (await world.service.call('GET', `/tools/${slug}`)).body.tool.paged
    expect([await paged('shop-by-page'), await paged('shop-whole'), await paged('shop-write')]).toEqual([
      true,
      false,
      false,
    ])
  })
})

describe('the requested fields', () => {
  const name = fc.constantFrom('a', 'b', 'c', '__proto__')
  const value = fc.letrec((tie) => ({
    node: fc.oneof({ maxDepth: 4 }, fc.integer(), fc.array(tie('node')), fc.dictionary(name, tie('node'))),
  })).node

  test('are all that is left, unchanged', () => {
    fc.assert(
      fc.property(value, fc.array(fc.array(name, { minLength: 1, maxLength: 3 }), { minLength: 1 }), (whole, paths) => {
        const cut = cutTo(fieldTree(paths.map((path) => path.join('.'))), whole)
        for (const path of leaves(cut)) expect(leaves(whole)).toContain(path)
        for (const path of leaves(whole)) {
          const steps = path
            .split('=')[0]!
            .split('.')
            .filter((step) => step !== '' && !/^\d+$/.test(step))
          const isWanted = steps.length === 0 || paths.some((one) => one.every((step, nth) => steps[nth] === step))
          if (isWanted && steps.length > 0) expect(leaves(cut)).toContain(path)
        }
      }),
    )
  })

  test('can be in lists nested at any depth', () => {
    let deep: unknown = { a: 1, b: 2 }
    for (let level = 0; level < 5_000; level++) deep = [deep]
    expect(() => cutTo(fieldTree(['a']), deep)).not.toThrow()
  })
})

/** Each value that is neither an object nor a list, by the way to it. */
function leaves(value: unknown, way = ''): string[] {
  if (typeof value !== 'object' || value === null) return [`${way}=${String(value)}`]
  return Object.entries(value).flatMap(([name, inner]) => leaves(inner, `${way}.${name}`))
}

function serve({ upstream }: ToolWorld): void {
  const number = (text: string | null, otherwise: number): number => Number(text ?? otherwise)
  upstream.on('/by-page', ({ query: q }, response) => {
    const size = number(q.get('per_page'), 10)
    const from = (number(q.get('page'), 1) - 1) * size
    respond(response, JSON.stringify(THINGS.slice(from, from + size)), 'application/json')
  })
  upstream.on('/by-offset', ({ query: q }, response) => {
    const from = number(q.get('offset'), 0)
    const items = THINGS.slice(from, from + number(q.get('limit'), 10))
    respond(response, JSON.stringify({ items, total: THINGS.length }), 'application/json')
  })
  upstream.on('/by-cursor', ({ query: q }, response) => {
    const from = number(q.get('page_token'), 0)
    const results = THINGS.slice(from, from + number(q.get('max_results'), 10))
    const nextPageToken = from + 10 < THINGS.length ? String(from + 10) : undefined
    respond(response, JSON.stringify({ results, warnings: [], meta: { nextPageToken } }), 'application/json')
  })
  upstream.on('/by-link', ({ query: q }, response) => {
    const at = number(q.get('page'), 1)
    const more = at * 10 < THINGS.length ? `<https://elsewhere.example/by-link?page=${String(at + 1)}>; rel="next"` : ''
    response.setHeader(
      'link',
      [more, '<https://elsewhere.example/by-link?page=1>; rel="first"'].filter(Boolean).join(', '),
    )
    respond(response, JSON.stringify(THINGS.slice(at * 10 - 10, at * 10)), 'application/json')
  })
  upstream.on('/after-last', ({ query: q }, response) => {
    const from = THINGS.findIndex(({ id }) => id === q.get('starting_after')) + 1
    const data = THINGS.slice(from, from + 10)
    respond(response, JSON.stringify({ data, has_more: from + 10 < THINGS.length }), 'application/json')
  })
  upstream.respondWith('/deaf', THINGS)
  upstream.respondWith('/whole', THINGS)
  upstream.on('/breaks', ({ query: q }, response) => {
    const at = number(q.get('page'), 1)
    const page = Array.from({ length: 10 }, (_, nth) => ({ nth, at }))
    respond(response, JSON.stringify(page), 'application/json', at === 3 ? 500 : 200)
  })
  upstream.on('/endless', ({ query: q }, response) => {
    const page = [{ at: q.get('page') ?? '1', filler: 'x'.repeat(10_000) }]
    respond(response, JSON.stringify(page), 'application/json')
  })
}
