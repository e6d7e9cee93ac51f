import { testService, type TestService } from '../../harness/service.ts'

describe('GET {facilitator_url}/discovery/…', () => {
  let service: TestService
  beforeAll(async () => {
    service = await testService()
    await service.testDatabase.statements.run(
      `INSERT INTO discovery_resource (resource, tool, network, scheme, pay_to, type, x402_version, accepts, description,
         tags, extensions, extension_keys, words, score, shadowed, first_at, last_at)
       SELECT 'https://a.example/' || nth, '', 'base', 'exact', decode(lpad(to_hex(nth % 3), 40, '0'), 'hex'), 'http', 2,
         '[{"scheme": "exact", "network": "eip155:8453", "payTo": "0x"}]', 'Weather of town ' || nth, '{}',
         '{"bazaar": {}}', '{bazaar}', to_tsvector('english', 'Weather of town ' || nth), nth, nth % 10 = 0, now(), now()
       FROM generate_series(1, 60) AS nth`,
      [],
    )
  })
  afterAll(() => service.close())

  const get = async (path: string) => await service.call('GET', `/facilitator/discovery/${path}`)
  const names = (items: unknown) => (items as { resource: string }[]).map(({ resource }) => resource.slice(18))

  it('lists page by page, the best first, without what another recipient outranks', async () => {
    const first = await get('resources?limit=3')
    expect([first.status, names(first.body.items)]).toEqual([200, ['59', '58', '57']])
    expect(first.body.pagination).toEqual({ limit: 3, offset: 0, total: 54 })
    expect(names((await get('resources?limit=3&offset=9')).body.items)).toEqual(['49', '48', '47'])
    expect((await get('resources?offset=54')).body.items).toEqual([])
  })

  it('searches page by page, each result once', async () => {
    const found: string[] = []
    let cursor: string | null = null
    do {
      const next: string = cursor === null ? '' : `&cursor=${cursor}`
      const { status, body } = await get(`search?query=weather%20towns&limit=20${next}`)
      expect(status).toBe(200)
      found.push(...names(body.resources))
      cursor = body.pagination.cursor as string | null
      expect(body.partialResults).toBe(cursor !== null)
    } while (cursor !== null)
    expect([found.length, new Set(found).size]).toEqual([54, 54])
  })

  it('finds entries with some of the words where no entry has all', async () => {
    expect(names((await get('search?query=unheard-of%20town%2017&limit=1')).body.resources)).toEqual(['17'])
    expect((await get('search?query=nothing')).body.resources).toEqual([])
  })

  it('shows a recipient all of its own', async () => {
    const { status, body } = await get(`merchant?payTo=0x${'0'.repeat(40)}&limit=100`)
    expect([status, body.pagination.total, names(body.resources).includes('30')]).toEqual([200, 20, true])
  })

  it('describes the paid routes for programs in /openapi.json', async () => {
    const { body } = await service.call('GET', '/openapi.json')
    const document = body as {
      paths: Record<string, Record<string, { 'x-payment-info'?: unknown; responses: Record<string, unknown> }>>
      'x-service-info': unknown
    }
    expect(document['x-service-info']).toEqual({
      categories: ['payments', 'automation', 'agents'],
      docs: { apiReference: '/docs', homepage: '/', llms: '/llms.txt' },
    })
    const paid = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, one]) =>
        one['x-payment-info'] === undefined ? [] : [[method, path, one] as const],
      ),
    )
    expect(paid.map(([method, path]) => `${method} ${path}`).sort()).toEqual([
      'post /p/{chk}',
      'post /tools/pay/{slug}',
      'post /tools/{slug}',
      'post /v1/rda/{slug}/run',
    ])
    for (const [, , one] of paid) {
      expect(one['x-payment-info']).toEqual({
        offers: [
          {
            intent: 'charge',
            method: 'evm',
            amount: null,
            currency: 'USDC',
            description: expect.any(String) as unknown,
          },
        ],
      })
      expect(one.responses).toHaveProperty('402.content')
    }
  })
})
