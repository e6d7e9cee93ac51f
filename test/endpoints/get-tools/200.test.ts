import { testService, type TestPerson, type TestService } from '../../harness/service.ts'
import { importRequest } from '../../tools/catalogue-world.ts'
import { PETS, petDocument } from '../../tools/documents.ts'

interface Row {
  slug: string
}

describe('GET /tools → 200', () => {
  let service: TestService
  let ann: TestPerson

  beforeAll(async () => {
    service = await testService()
    ann = await service.person()
    const { catalogue } = service
    await catalogue.importDocument(importRequest('pets'), petDocument(PETS))
    await catalogue.importDocument(
      importRequest('zoo', { trusted: true }),
      petDocument({ '/animals': { get: PETS['/pets'].get } }),
    )
    await catalogue.importDocument(importRequest('own', { ownerId: ann.caller.user.id }), petDocument(PETS))
    await catalogue.importDocument(
      importRequest('live', { environment: 'production', simulated: false, trusted: true }),
      petDocument(PETS),
    )
    const collection = { environment: 'sandbox', slug: 'reading', ownerId: null } as const
    await catalogue.saveCollection({
      ...collection,
      name: 'Reading',
      description: 'Looks, never touches.',
      patterns: ['*-get-*', '*-list-*'],
    })
  })
  afterAll(async () => {
    await service.close()
  })

  async function slugs(query: string, person?: TestPerson): Promise<string[]> {
    const { status, body } = await (person ?? service).call('GET', `/tools${query}`)
    expect(status).toBe(200)
    return (body.tools as Row[]).map(({ slug }) => slug)
  }

  test('a tool, field by field, alone and in the list', async () => {
    const pet = {
      type: 'object',
      properties: {
        id: { type: 'integer' },
        name: { type: 'string', examples: ['Rex'] },
        born: { type: ['string', 'null'], format: 'date' },
      },
      required: ['id', 'name'],
    }
    const tool = {
      slug: 'pets-get-pet',
      name: 'Get pet',
      description: 'Get pet. Reads /pets/{id}; takes id.',
      provider: 'pets',
      category: null,
      price: 0.001,
      deprecated: false,
      inputSchema: {
        type: 'object',
        properties: { id: { type: 'integer' } },
        required: ['id'],
        additionalProperties: false,
      },
      outputSchema: pet,
      needs: 'nothing',
      paged: false,
      simulated: true,
      stats: { calls: 0, successRate: null, p50: null, p95: null, lastError: null, failing: false },
    }
    expect((await service.call('GET', '/tools/pets-get-pet')).body).toEqual({ tool })
    const { body } = await service.call('GET', '/tools?provider=pets&limit=1&view=full')
    expect(body).toEqual({ tools: [tool], total: 4, limit: 1, offset: 0 })
  })

  test('returns tools in short form by default', async () => {
    const short = {
      slug: 'pets-get-pet',
      name: 'Get pet',
      description: 'Get pet. Reads /pets/{id}; takes id.',
      provider: 'pets',
      price: 0.001,
      needs: 'nothing',
      inputs: ['id'],
      required: ['id'],
      simulated: true,
    }
    const { body } = await service.call('GET', '/tools?provider=pets&limit=1')
    expect(body.tools).toEqual([short])
    const { body: found } = await service.call('GET', '/tools?search=get+a+pet&limit=1')
    expect(found.tools).toEqual([{ ...short, score: expect.any(Number) }])
    expect(found.tools[0].score).toBeGreaterThan(0.5)
  })

  test('a search without a match says so, and lists the nearest tools', async () => {
    const { body } = await service.call('GET', '/tools?search=order+a+pizza+for+my+pet')
    expect(body).toMatchObject({ tools: [], total: 0, note: expect.stringContaining('No tool fits') })
    expect(body.nearest[0].score).toBeLessThan(0.5)
    const { body: none } = await service.call('GET', '/tools?search=unheard-of')
    expect(none).toMatchObject({ tools: [], nearest: [], note: expect.stringContaining('other words') })
    for (const { note } of [body, none]) expect(note).toContain('GET /v1/rdas?search=')
  })

  test('of equal matches lists reading tools first, and deleting ones last', async () => {
    expect(await slugs('?search=pet&provider=pets')).toEqual([
      'pets-get-pet',
      'pets-list-pets',
      'pets-create-pet',
      'pets-delete-pet',
    ])
  })

  test('lists reading tools, then writing, then deleting ones, each once over the pages', async () => {
    const all = await slugs('')
    expect(all).toEqual(['pets-get-pet', 'pets-list-pets', 'zoo-list-pets', 'pets-create-pet', 'pets-delete-pet'])
    expect([...(await slugs('?limit=3')), ...(await slugs('?limit=3&offset=3'))]).toEqual(all)
    expect(await slugs('?offset=1000000000')).toEqual([])
  })

  test.each([
    ['?provider=zoo', ['zoo-list-pets']],
    ['?provider=nobody', []],
    ['?category=none', []],
    ['?collection=reading', ['pets-get-pet', 'pets-list-pets', 'zoo-list-pets']],
    ['?collection=reading&provider=zoo', ['zoo-list-pets']],
    ['?search=', ['pets-get-pet', 'pets-list-pets', 'zoo-list-pets', 'pets-create-pet', 'pets-delete-pet']],
    ['?search=remove+a+pet', ['pets-delete-pet']],
    ['?search=add%20pets', ['pets-create-pet']],
    ['?search=unheard-of', []],
  ])('%s', async (query, expected) => {
    expect(await slugs(query)).toEqual(expected)
  })

  test("lists an account's own tools for that account only, and none of the other environment", async () => {
    expect(await slugs('?provider=own', ann)).toHaveLength(4)
    expect(await slugs('?provider=own', await service.person())).toEqual([])
    expect(await slugs('?provider=own')).toEqual([])
    expect((await ann.call('GET', '/tools/own-get-pet')).status).toBe(200)
    expect(await slugs('?provider=live', ann)).toEqual([])
  })

  test('providers and collections, with how many tools they have', async () => {
    const { body: providers } = await service.call('GET', '/tools/providers')
    expect(providers).toEqual({
      providers: [
        {
          slug: 'pets',
          name: 'Pets',
          description: 'Keeps pets.',
          kind: 'openapi',
          simulated: true,
          own: false,
          tools: 4,
        },
        {
          slug: 'zoo',
          name: 'Pets',
          description: 'Keeps pets.',
          kind: 'openapi',
          simulated: true,
          own: false,
          tools: 1,
        },
      ],
    })
    const { body: collections } = await service.call('GET', '/tools/collections')
    expect(collections).toEqual({
      collections: [{ slug: 'reading', name: 'Reading', description: 'Looks, never touches.', tools: 3 }],
    })
  })

  test('llms.txt lists the providers, the collections and the MCP address', async () => {
    const { status, headers, text } = await service.call('GET', '/llms.txt')
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(text).toMatch(/^# Coinslot tools\n\n> 5 tools of 2 providers/)
    expect(text).toContain('[MCP](http://localhost:0/tools/mcp)')
    expect(text).toContain(
      '- [Reading](http://localhost:0/tools/mcp?collection=reading): Looks, never touches. 3 tools.',
    )
    expect(text).toContain('- [Pets](http://localhost:0/tools?provider=zoo): Keeps pets. 1 tools.')
    expect(text).not.toContain('own-')
  })

  test('/.well-known/mcp.json names the MCP server', async () => {
    const { status, body } = await service.call('GET', '/.well-known/mcp.json')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      name: 'coinslot',
      remotes: [{ type: 'streamable-http', url: 'http://localhost:0/tools/mcp' }, { type: 'sse' }],
      authentication: { required: true, schemes: ['bearer'] },
    })
    expect((await service.call('POST', '/.well-known/mcp.json')).status).toBe(404)
    expect((await service.call('GET', '/.well-known/mcp.json/more')).status).toBe(404)
  })
})
