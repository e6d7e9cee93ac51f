import { agentBody, ALLOWED, promptBody, published, toolBody } from '../../marketplace/bodies.ts'
import { testService, type TestPerson, type TestService } from '../../harness/service.ts'

interface Row {
  slug: string
}

describe('GET /rdas → 200', () => {
  let service: TestService
  let ann: TestPerson
  let ben: TestPerson
  let slugs: Record<string, string>

  beforeAll(async () => {
    service = await testService(ALLOWED)
    ann = await service.person()
    ben = await service.person()
    slugs = {
      audit: await published(
        ann,
        promptBody({ name: 'SEO Audit', description: 'Checks a website for search engines' }),
      ),
      recipes: await published(ann, promptBody({ name: 'Recipes', description: 'Cooks with what the fridge has' })),
      agent: await published(ben, agentBody({ name: 'Website Watcher', description: 'Tells you when a page changes' })),
      tool: await published(ben, toolBody({ name: 'Websites', description: "O'Brien & söns: 100% <b>ranking</b>" })),
    }
    await service.testDatabase.statements.run('UPDATE rda SET verified = true WHERE slug = $1', [slugs['recipes']])
    await service.testDatabase.statements.run('UPDATE rda SET featured = true WHERE slug = $1', [slugs['agent']])
    await service.testDatabase.statements.run('UPDATE rda SET trending = true WHERE slug = $1', [slugs['tool']])
    await ann.call('POST', '/v1/rda', { body: promptBody({ name: 'Secret draft of a website' }) })
  })
  afterAll(async () => {
    await service.close()
  })

  async function found(query: string, person?: TestPerson): Promise<{ names: (string | undefined)[]; total: number }> {
    const { status, body } = await (person ?? service).call('GET', `/v1/rdas${query}`)
    expect(status).toBe(200)
    const byslug = new Map(Object.entries(slugs).map(([name, slug]) => [slug, name]))
    return { names: (body.rdas as Row[]).map(({ slug }) => byslug.get(slug)), total: body.total as number }
  }

  test('the reduced object, field by field', async () => {
    const { body } = await service.call('GET', '/v1/rdas?search=audit')
    expect(body).toEqual({
      rdas: [
        {
          id: expect.stringMatching(/^rda_/),
          slug: slugs['audit'],
          name: 'SEO Audit',
          description: 'Checks a website for search engines',
          type: 'prompt',
          status: 'published',
          verified: false,
          featured: false,
          trending: false,
          coverImage: null,
          pricing: { model: 'per-run', amount: 0.02, currency: 'USDC' },
          stats: { totalRuns: 0, averageRating: 0, successRate: 0 },
          ownerId: ann.caller.subject,
          ownerName: ann.caller.user.name,
          createdAt: expect.stringMatching(/Z$/),
          updatedAt: expect.stringMatching(/Z$/),
        },
      ],
      total: 1,
      limit: 20,
      offset: 0,
    })
  })

  test('lists trending assets first, then featured ones, then the newest', async () => {
    expect(await found('')).toEqual({ names: ['tool', 'agent', 'recipes', 'audit'], total: 4 })
  })

  test.each([
    ['?type=prompt', ['recipes', 'audit']],
    ['?type=agent', ['agent']],
    ['?verified=true', ['recipes']],
    ['?verified=false', ['tool', 'agent', 'recipes', 'audit']],
    ['?featured=true', ['agent']],
    ['?trending=true', ['tool']],
    ['?trending=true&type=prompt', []],
    ['?verified=true&type=prompt', ['recipes']],
    ['?status=published&type=tool', ['tool']],
    ['?ownerId=nobody', []],
  ])('%s', async (query, names) => {
    expect(await found(query)).toEqual({ names, total: names.length })
  })

  test.each([
    ['a word of the name', 'recipes', ['recipes']],
    ['a word of the description', 'fridge', ['recipes']],
    ['in any letter case', 'FRIDGE', ['recipes']],
    ['in another number', 'website', ['tool', 'agent', 'audit']],
    ['the beginning of a word', 'websi', ['tool', 'agent', 'audit']],
    ['a part of a word', 'ebsite', ['tool', 'agent', 'audit']],
    ['a part that is too short', 'eb', []],
    ['two words, of both', 'website engines', ['audit']],
    ['two words that no one has together', 'fridge engines', []],
    ['a word that other languages leave out', 'the', ['recipes']],
    ['an unknown word', 'zeppelin', []],
    ['letters with accents', 'söns', ['tool']],
    ['quotes', "O'Brien", ['tool']],
    ['a query language', "website' | !audit & (a <-> b):*", []],
    ['signs alone', '&|!', []],
    ['a percent sign', '%', []],
    ['backslashes', 'a\\\\b\\', []],
  ])('search: %s', async (_, text, names) => {
    expect(await found(`?search=${encodeURIComponent(text)}`)).toEqual({ names, total: names.length })
  })

  test('an empty search finds everything', async () => {
    expect((await found('?search=%20')).total).toBe(4)
  })

  test('search with filters, with its total', async () => {
    expect(await found('?search=website&type=agent')).toEqual({ names: ['agent'], total: 1 })
    expect(await found(`?search=website&ownerId=${ben.caller.subject}`)).toEqual({ names: ['tool', 'agent'], total: 2 })
    expect(await found('?search=website&verified=true')).toEqual({ names: [], total: 0 })
  })

  test("a creator's", async () => {
    expect(await found(`?ownerId=${ann.caller.subject}`)).toEqual({ names: ['recipes', 'audit'], total: 2 })
  })

  test('pages, from either end', async () => {
    const pages = await Promise.all([0, 1, 2, 3].map((offset) => found(`?limit=1&offset=${String(offset)}`)))
    expect(pages.map(({ names }) => names)).toEqual([['tool'], ['agent'], ['recipes'], ['audit']])
    expect(await found('?limit=3&offset=1')).toEqual({ names: ['agent', 'recipes', 'audit'], total: 4 })
    expect(await found('?limit=100&offset=3')).toEqual({ names: ['audit'], total: 4 })
    expect(await found('?offset=4')).toEqual({ names: [], total: 4 })
    expect(await found('?offset=1000000000')).toEqual({ names: [], total: 4 })
    expect(await found('?search=website&limit=1&offset=1')).toEqual({ names: ['agent'], total: 3 })
  })

  test('drafts and archived ones: one’s own only, also searched', async () => {
    const mine = await ann.call('GET', '/v1/rdas?status=draft')
    expect(mine.body).toMatchObject({ total: 1, rdas: [{ name: 'Secret draft of a website', status: 'draft' }] })
    expect((await ann.call('GET', '/v1/rdas?status=draft&search=website')).body.total).toBe(1)
    expect((await ann.call('GET', '/v1/rdas?status=draft&search=fridge')).body.total).toBe(0)
    expect((await ben.call('GET', '/v1/rdas?status=draft')).body).toMatchObject({ total: 0, rdas: [] })
    expect((await ben.call('GET', `/v1/rdas?status=draft&ownerId=${ann.caller.subject}`)).body.total).toBe(0)
    expect((await ann.call('GET', '/v1/rdas?status=archived')).body.total).toBe(0)
  })
})
