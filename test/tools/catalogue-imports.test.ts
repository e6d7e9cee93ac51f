import { usdc } from '../../service/kit/money.ts'
import { SHIPPED } from '../../service/openapi/shipped.ts'
import type { Operation, Reading } from '../../service/tools/model/draft.ts'
import type { HttpUpstream, UserId } from '../../service/tools/model/tool.ts'
import type { Documents } from '../../service/tools/ports/sources.ts'
import { catalogueWorld, importRequest, type CatalogueWorld } from './catalogue-world.ts'
import { PETS, petDocument } from './documents.ts'

/** Reads what a test wrote: names of operations, each with its changed fields. */
const plainDocuments: Documents = {
  edition: 'test',
  read: (text) => Promise.resolve(readingOf(JSON.parse(text) as Record<string, Partial<Operation> & { at?: string }>)),
}

function readingOf(operations: Record<string, Partial<Operation> & { at?: string }>): Reading {
  return {
    ...{ name: 'Plain', description: 'For tests.', version: '1', skipped: [] },
    operations: Object.entries(operations).map(([operation, { at, ...other }]) => ({
      operation,
      name: operation,
      description: `Does what ${operation} does.`,
      category: null,
      deprecated: false,
      input: { type: 'object', properties: {}, additionalProperties: false },
      output: null,
      upstream: { ...UPSTREAM, path: at ?? `/${operation}` },
      ...other,
    })),
  }
}

const UPSTREAM: HttpUpstream = {
  ...{ kind: 'http', method: 'GET', server: 'https://x.example', path: '/', where: {} },
  ...{ bodyType: null, auth: { kind: 'bearer' }, answer: { status: 200, contentType: null } },
}

const ANN = 'usr_ann' as UserId
const BEN = 'usr_ben' as UserId

describe('An import', () => {
  let world: CatalogueWorld
  let nth = 0

  beforeAll(async () => {
    world = await catalogueWorld({ documents: plainDocuments })
  })
  afterAll(async () => {
    await world.close()
  })

  /** A provider that no other test uses. */
  function fresh(): string {
    return `p${String(++nth)}`
  }

  function bring(
    slug: string,
    operations: Record<string, object>,
    other: Parameters<typeof importRequest>[1] = {},
    by = world.catalogue,
  ) {
    return by.importDocument(importRequest(slug, other), JSON.stringify(operations))
  }

  const find = (slug: string, viewer: UserId | null = null) => world.catalogue.bySlug('sandbox', slug, viewer)

  async function slugsOf(provider: string, viewer: UserId | null = null): Promise<string[]> {
    const { tools } = await world.catalogue.list({ environment: 'sandbox', viewer, provider, limit: 100, offset: 0 })
    return tools.map(({ tool }) => tool.slug)
  }

  test('reports added, changed and removed tools', async () => {
    const p = fresh()
    expect(await bring(p, { a: {}, b: {}, c: {} })).toMatchObject({
      added: [`${p}-a`, `${p}-b`, `${p}-c`],
      unchanged: 0,
    })
    const before = await find(`${p}-b`)
    const report = await bring(p, { a: {}, b: { description: 'Does more than it did.' }, d: {} })
    expect(report).toEqual({
      ...{ provider: p, environment: 'sandbox', added: [`${p}-d`], changed: [`${p}-b`], removed: [`${p}-c`] },
      ...{ unchanged: 1, skipped: [], keyRemoved: false },
    })
    const after = await find(`${p}-b`)
    expect([after.id, after.version, after.description]).toEqual([
      before.id,
      before.version + 1,
      'Does more than it did.',
    ])
    expect((await find(`${p}-a`)).version).toBe(1)
    expect(await slugsOf(p)).toEqual([`${p}-a`, `${p}-b`, `${p}-d`])
  })

  test('writes a description for a tool that has no useful one', async () => {
    const p = fresh()
    const input = { type: 'object', properties: { id: { type: 'string' } }, additionalProperties: false }
    const described = 'Fetches one thing by its number.'
    await bring(p, {
      empty: { description: '', name: 'Get thing', input, category: 'things' },
      short: { description: 'Send it.', upstream: { ...UPSTREAM, method: 'POST', path: '/things' } },
      full: { description: described },
      mcp: { description: '!', name: 'Look up', upstream: { kind: 'mcp', server: 'https://x.example', tool: 'look' } },
    })
    const texts = await Promise.all(['empty', 'short', 'full', 'mcp'].map((name) => find(`${p}-${name}`)))
    expect(texts.map(({ description }) => description)).toEqual([
      'Get thing. Reads /empty (things); takes id.',
      'Send it. Posts to /things; takes no input.',
      described,
      'Look up. Takes no input.',
    ])
  })

  test('a removed tool says so, and names its successor at the same address', async () => {
    const p = fresh()
    await bring(p, { old: { at: '/things' }, other: {} })
    await bring(p, { renamed: { at: '/things' } })
    await expect(find(`${p}-old`)).rejects.toMatchObject({
      ...{ kind: 'expired', code: 'tool_removed', fields: { successor: `${p}-renamed` } },
      message: `The tool ${p}-old was removed: use ${p}-renamed instead.`,
    })
    await expect(find(`${p}-other`)).rejects.toMatchObject({ code: 'tool_removed', fields: { successor: null } })
    await expect(find(`${p}-never`)).rejects.toMatchObject({ kind: 'missing', code: 'tool_not_found' })
  })

  test('a tool that returns keeps its id', async () => {
    const p = fresh()
    await bring(p, { a: {}, b: {} })
    const { id } = await find(`${p}-a`)
    await bring(p, { b: {} })
    expect(await bring(p, { a: {}, b: {} })).toMatchObject({ added: [], changed: [`${p}-a`] })
    expect(await find(`${p}-a`)).toMatchObject({ id, version: 3, status: 'live', successor: null })
  })

  test('the same document is not read again, and an equivalent one writes no tool', async () => {
    const p = fresh()
    await bring(p, { a: {} })
    const rows = () => world.database.statements.run(`SELECT id, xmin::text FROM tool WHERE provider = $1`, [p])
    const before = await rows()
    expect(await bring(p, { a: {} })).toMatchObject({ added: [], changed: [], removed: [], unchanged: 1 })
    expect(await world.catalogue.importDocument(importRequest(p), '{ "a": {} }')).toMatchObject({
      unchanged: 1,
      changed: [],
    })
    expect(await rows()).toEqual(before)
  })

  test('prices go by slug, then by method, then for all; another rule changes them', async () => {
    const p = fresh()
    const operations = { a: {}, b: { upstream: { ...UPSTREAM, method: 'POST' } }, constructor: {} }
    await bring(p, operations, {
      pricing: { otherwise: usdc(5n), byMethod: { GET: usdc(3n) }, bySlug: { [`${p}-a`]: usdc(1n) } },
    })
    const prices = async () =>
      Promise.all(['a', 'b', 'constructor'].map(async (name) => (await find(`${p}-${name}`)).price))
    expect(await prices()).toEqual([1n, 5n, 3n])
    expect(await bring(p, operations, { pricing: { otherwise: usdc(7n) } })).toMatchObject({ changed: { length: 3 } })
    expect(await prices()).toEqual([7n, 7n, 7n])
  })

  test('shows an account’s own tools to that account only, ahead of the shared ones', async () => {
    const p = fresh()
    await bring(p, { a: {}, b: {} })
    await bring(p, { a: { description: 'The one that is Ann’s.' }, mine: {} }, { ownerId: ANN })
    expect(await slugsOf(p)).toEqual([`${p}-a`, `${p}-b`])
    expect(await slugsOf(p, BEN)).toEqual([`${p}-a`, `${p}-b`])
    // One's own come first.
    expect(await slugsOf(p, ANN)).toEqual([`${p}-a`, `${p}-mine`, `${p}-b`])
    expect((await find(`${p}-a`, ANN)).description).toBe('The one that is Ann’s.')
    expect((await find(`${p}-a`, BEN)).description).toBe('Does what a does.')
    await expect(find(`${p}-mine`, BEN)).rejects.toMatchObject({ code: 'tool_not_found' })
    await expect(find(`${p}-mine`)).rejects.toMatchObject({ code: 'tool_not_found' })
    const found = await world.catalogue.search({ environment: 'sandbox', viewer: BEN, query: 'mine', provider: p })
    expect([...found.tools, ...found.nearest]).toEqual([])
    const providers = (await world.catalogue.providers('sandbox', BEN)).filter(({ slug }) => slug === p)
    expect(providers).toMatchObject([{ own: false, tools: 2 }])
    // Without the account's own provider, the shared one is visible again.
    await world.catalogue.removeProvider('sandbox', ANN, p)
    expect((await find(`${p}-a`, ANN)).description).toBe('Does what a does.')
    await expect(find(`${p}-mine`, ANN)).rejects.toMatchObject({ code: 'tool_removed' })
  })

  test('the two environments never meet', async () => {
    const p = fresh()
    await bring(p, { a: {} }, { environment: 'production', simulated: false, trusted: true })
    await expect(find(`${p}-a`)).rejects.toMatchObject({ code: 'tool_not_found' })
    const tool = await world.catalogue.bySlug('production', `${p}-a`, null)
    expect(await world.catalogue.isSimulated(tool)).toBe(false)
    await expect(bring(p, { a: {} }, { environment: 'production', simulated: true })).rejects.toMatchObject({
      kind: 'invalid',
    })
  })

  test('a new or returning tool is found at once in another process', async () => {
    const p = fresh()
    const other = world.another()
    await expect(other.bySlug('sandbox', `${p}-a`, null)).rejects.toMatchObject({ code: 'tool_not_found' })
    await bring(p, { a: {} })
    await expect(other.bySlug('sandbox', `${p}-a`, null)).resolves.toMatchObject({ version: 1 })
    await world.catalogue.removeProvider('sandbox', null, p)
    await bring(p, { b: {} })
    world.clock.forward(2_000)
    await expect(other.bySlug('sandbox', `${p}-a`, null)).rejects.toMatchObject({ code: 'tool_removed' })
    await bring(p, { a: {} })
    await expect(other.bySlug('sandbox', `${p}-a`, null)).resolves.toMatchObject({ status: 'live' })
  })

  test('after a pause another process lists new tools at once', async () => {
    const p = fresh()
    const other = world.another()
    const list = async () =>
      (await other.list({ environment: 'sandbox', viewer: null, provider: p, limit: 9, offset: 0 })).total
    expect(await list()).toBe(0)
    await bring(p, { a: {} })
    world.clock.forward(2_000)
    expect(await list()).toBe(1)
  })

  test('another process sees a change within two seconds, and a new tool at its first read', async () => {
    const p = fresh()
    const other = world.another()
    await bring(p, { a: {} })
    await expect(other.bySlug('sandbox', `${p}-a`, null)).resolves.toMatchObject({ version: 1 })
    await bring(p, { a: { description: 'It is newer than before.' } })
    world.clock.forward(2_000)
    // This read starts the refresh; later reads see its result.
    await other.list({ environment: 'sandbox', viewer: null, limit: 1, offset: 0 })
    for (let tries = 0; (await other.bySlug('sandbox', `${p}-a`, null)).version === 1; tries++) {
      if (tries === 1_000) throw new Error('it never saw the change')
      await world.database.ping()
    }
    expect(await other.bySlug('sandbox', `${p}-a`, null)).toMatchObject({ description: 'It is newer than before.' })
  })

  test('several concurrent ones each see what the earlier ones wrote', async () => {
    const p = fresh()
    const all = Array.from({ length: 8 }, (_, count) => ({
      a: { description: `Nr. ${String(count)}` },
      [`x${String(count)}`]: {},
    }))
    const reports = await Promise.all(all.map((operations) => bring(p, operations, {}, world.another())))
    expect(reports.flatMap(({ added }) => added).sort()).toEqual([
      `${p}-a`,
      ...all.map((_, count) => `${p}-x${String(count)}`),
    ])
    expect(reports.flatMap(({ removed }) => removed)).toHaveLength(7)
    const [row] = await world.database.statements.run<{ live: bigint; version: number }>(
      `SELECT count(*) FILTER (WHERE status = 'live') AS live, max(version) AS version FROM tool WHERE provider = $1`,
      [p],
    )
    expect(row).toEqual({ live: 2n, version: 8 })
  })

  test('long and clashing names have slugs of their own that never change', async () => {
    const p = fresh()
    const long = 'getEverythingThatThereIsToKnowAboutAllOfTheThingsThatThereAreInThisWorld'
    await bring(p, { [long]: {}, get_user: {}, getUser: { at: '/me' } })
    const slugs = await slugsOf(p)
    expect(new Set(slugs).size).toBe(3)
    for (const slug of slugs) expect(slug).toMatch(/^(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)*$/)
    await bring(p, { getUser: { at: '/me' }, more: {}, get_user: {}, [long]: {} })
    expect(await slugsOf(p)).toEqual(expect.arrayContaining(slugs))
  })

  test.each(['rda', 'rda-x', 'mcp', 'pay', 'Upper', 'a--b', '', 'a'.repeat(33), 'a_b'])(
    'a provider cannot be called %p',
    async (slug) => {
      await expect(bring(slug, { a: {} })).rejects.toMatchObject({
        kind: 'invalid',
        fields: { details: { provider: expect.any(String) } },
      })
    },
  )

  test("refuses a provider whose tools would clash with another's slugs, and writes nothing", async () => {
    const p = fresh()
    await bring(p, { 'x y': {} })
    await expect(bring(`${p}-x`, { y: {}, z: {} })).rejects.toMatchObject({
      kind: 'invalid',
      fields: { details: { provider: expect.any(String) } },
    })
    expect(await slugsOf(`${p}-x`)).toEqual([])
  })

  test('a removed provider loses its tools and its key, and an import restores the tools', async () => {
    const p = fresh()
    await bring(p, { a: {} })
    await world.catalogue.setCredentials({ environment: 'sandbox', ownerId: null, provider: p }, 'key')
    const report = await world.catalogue.removeProvider('sandbox', null, p)
    expect(report).toMatchObject({ removed: [`${p}-a`], keyRemoved: true })
    await expect(find(`${p}-a`)).rejects.toMatchObject({ code: 'tool_removed' })
    await bring(p, { a: {} })
    expect((await world.catalogue.credentials(await find(`${p}-a`)))[0]).toMatchObject({ headers: {}, query: {} })
    await expect(world.catalogue.removeProvider('sandbox', null, 'none')).rejects.toMatchObject({
      code: 'provider_not_found',
    })
  })

  test.each([
    [{ kind: 'bearer' }, 'k', { headers: { authorization: 'Bearer k' }, query: {} }],
    [{ kind: 'basic' }, 'u:p', { headers: { authorization: 'Basic dTpw' }, query: {} }],
    [{ kind: 'apiKey', in: 'header', name: 'X-Key' }, 'k', { headers: { 'x-key': 'k' }, query: {} }],
    [{ kind: 'apiKey', in: 'query', name: 'key' }, 'k', { headers: {}, query: { key: 'k' } }],
    [{ kind: 'apiKey', in: 'cookie', name: 'sid' }, 'k', { headers: { cookie: 'sid=k' }, query: {} }],
    [null, 'k', { headers: {}, query: {} }],
  ] as const)('a key goes where the provider wants it: %j', async (auth, key, credentials) => {
    const p = fresh()
    await bring(p, { a: { upstream: { ...UPSTREAM, auth } } })
    await world.catalogue.setCredentials({ environment: 'sandbox', ownerId: null, provider: p }, key)
    // Anything but a key for reading acts on an account, unless the operator says otherwise.
    await world.catalogue.setPublic({ environment: 'sandbox', ownerId: null, provider: p }, true)
    expect((await world.catalogue.credentials(await find(`${p}-a`)))[0]).toMatchObject(credentials)
  })

  test('a key is sealed at rest, used for its own provider only, and survives another import', async () => {
    const p = fresh()
    await bring(p, { a: {} })
    await bring(p, { a: {} }, { ownerId: ANN })
    await world.catalogue.setCredentials({ environment: 'sandbox', ownerId: null, provider: p }, 'very-secret')
    await world.catalogue.setPublic({ environment: 'sandbox', ownerId: null, provider: p }, true)
    const [row] = await world.database.statements.run<{ text: string }>(
      `SELECT string_agg(p::text, ' ') AS text FROM tool_provider p`,
      [],
    )
    expect(row?.text).not.toContain('very-secret')
    // A user's own tool of the same name is not called with the platform's key.
    expect((await world.catalogue.credentials(await find(`${p}-a`, ANN)))[0]).toMatchObject({ headers: {}, query: {} })
    await bring(p, { a: {}, b: {} })
    expect((await world.catalogue.credentials(await find(`${p}-b`)))[0]).toMatchObject({
      headers: { authorization: 'Bearer very-secret' },
    })
    const token = `(SELECT credentials FROM tool_provider WHERE slug = $1 AND owner_id = '')`
    await world.database.statements.run(
      `UPDATE tool_provider SET credentials = ${token} WHERE slug = $1 AND owner_id = $2`,
      [p, ANN],
    )
    const other = world.another()
    await expect(other.credentials(await other.bySlug('sandbox', `${p}-a`, ANN))).rejects.toMatchObject({
      code: 'vault_unreadable',
    })
  })

  test('an account’s key stays with the servers that it was entered for', async () => {
    const p = fresh()
    const at = (server: string) => ({ upstream: { ...UPSTREAM, server } })
    const key = async () => (await world.catalogue.credentials(await find(`${p}-a`, ANN)))[0].headers['authorization']
    await bring(p, { a: at('https://a.example/v1'), b: at('https://b.example') }, { ownerId: ANN })
    await world.catalogue.setCredentials({ environment: 'sandbox', ownerId: ANN, provider: p }, 'secret-of-a')
    const moved = await bring(p, { a: at('https://a.example/v2') }, { ownerId: ANN })
    expect([await key(), moved.keyRemoved]).toEqual(['Bearer secret-of-a', false])
    const elsewhere = { a: at('https://a.example'), c: at('https://thief.example') }
    expect(await bring(p, elsewhere, { ownerId: ANN })).toMatchObject({ added: [`${p}-c`], keyRemoved: true })
    expect(await key()).toBeUndefined()
    // There is none any more that another one could lose.
    const other = { a: at('https://other.example') }
    expect(await bring(p, other, { ownerId: ANN })).toMatchObject({ keyRemoved: false })
  })

  test('a server on a private network is refused where that is not allowed', async () => {
    const p = fresh()
    const reading = { a: { upstream: { ...UPSTREAM, server: 'http://169.254.169.254/latest' } } }
    await expect(bring(p, reading, { simulated: false })).rejects.toMatchObject({ code: 'address_refused' })
    expect(await slugsOf(p)).toEqual([])
  })

  test('statistics are shown, and failing tools come after working ones', async () => {
    const p = fresh()
    await bring(p, { 'send letter': {}, 'send letters': {} })
    const search = async () => {
      const found = await world.catalogue.search({
        environment: 'sandbox',
        viewer: null,
        query: 'send a letter',
        provider: p,
      })
      return found.tools.map(({ tool, stats }) => [tool.slug, stats?.lastError ?? null])
    }
    expect(await search()).toEqual([
      [`${p}-send-letter`, null],
      [`${p}-send-letters`, null],
    ])
    const { id } = await find(`${p}-send-letter`)
    world.stats.set(id, { calls: 20, succeeded: 2, p50Ms: 100, p95Ms: 200, lastError: 'It broke.', failing: true })
    world.clock.forward(10_000)
    await search()
    for (let tries = 0; (await search())[1]?.[1] !== 'It broke.'; tries++) {
      if (tries === 1_000) throw new Error('the stats never came')
      await world.database.ping()
    }
    expect((await search())[0]).toEqual([`${p}-send-letters`, null])
  })

  test('tools of the marketplace keep their assets’ slugs and prices', async () => {
    const reading = readingOf({ 'blog-outline': { upstream: { kind: 'rda', rdaSlug: 'blog-outline' } } })
    const report = await world.catalogue.importAssets('sandbox', reading, new Map([['blog-outline', usdc(9n)]]))
    expect(report.added).toEqual(['rda-blog-outline'])
    expect(await find('rda-blog-outline')).toMatchObject({
      price: 9n,
      provider: 'rda',
      upstream: { kind: 'rda', rdaSlug: 'blog-outline' },
    })
    expect(await world.catalogue.importAssets('sandbox', readingOf({}), new Map())).toMatchObject({
      removed: ['rda-blog-outline'],
    })
  })
})

describe('An import of a real document', () => {
  test('creates tools that can be simulated at once, and none from an invalid document', async () => {
    const world = await catalogueWorld()
    try {
      const report = await world.catalogue.importDocument(importRequest('pets'), petDocument(PETS))
      expect(report.added).toEqual(['pets-create-pet', 'pets-delete-pet', 'pets-get-pet', 'pets-list-pets'])
      const tool = await world.catalogue.bySlug('sandbox', 'pets-create-pet', null)
      expect(await world.catalogue.isSimulated(tool)).toBe(true)
      expect(JSON.parse(world.catalogue.simulate(tool, { name: 'Fido' }).body.toString())).toMatchObject({
        name: 'Fido',
      })
      await expect(world.catalogue.importDocument(importRequest('bad'), 'no document')).rejects.toMatchObject({
        code: 'document_refused',
      })
      expect(SHIPPED.every(({ licence }) => ['MIT', 'Apache-2.0'].includes(licence))).toBe(true)
    } finally {
      await world.close()
    }
  })
})
