import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { COMMANDS, type Flags } from '../../service/cli/catalogue/commands.ts'
import { createAssetStore } from '../../service/marketplace/store/assets/assets.ts'
import { publishedAssets } from '../../service/wiring/tools-catalogue.ts'
import { createPublishedTools } from '../../service/tools/service/catalogue/published.ts'
import { testService } from '../harness/service.ts'
import { ALLOWED, published, toolBody } from '../marketplace/bodies.ts'
import { catalogueWorld, type CatalogueWorld } from './catalogue-world.ts'
import { PETS, petDocument } from './documents.ts'

describe('npm run tools', () => {
  let world: CatalogueWorld
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-tools-'))
  const document = path.join(folder, 'pets.json')
  const key = path.join(folder, 'key')

  beforeAll(async () => {
    world = await catalogueWorld()
    writeFileSync(document, petDocument(PETS))
    writeFileSync(key, 'my-secret\n')
  })
  afterAll(async () => {
    await world.close()
    rmSync(folder, { recursive: true })
  })

  /** What it says; null where it was not told enough. */
  async function run(command: string, names: string[] = [], flags: Flags = {}): Promise<string | null> {
    const lines: unknown[] = []
    const { log } = console
    console.log = (line: unknown) => void lines.push(line)
    try {
      const understood = await COMMANDS[command]!({
        ...{ catalogue: world.catalogue, environment: 'sandbox', names, flags },
        trials: { http: world.http, ask: () => Promise.resolve(false) },
      })
      return understood === true ? lines.join('\n') : null
    } finally {
      console.log = log
    }
  }

  test('imports a document from a file, reports the changes, and calls it with a key', async () => {
    const flags = {
      provider: 'pets',
      server: 'http://127.0.0.1:1',
      auth: 'header:X-Key',
      price: '0.5',
      'price-get': '0.01',
      'key-file': key,
    }
    expect(await run('import', [document], flags)).toBe(
      'pets in sandbox: 4 added, 0 changed, 0 removed, 0 unchanged.\npets in sandbox is called with this key from now on.',
    )
    const [create, get] = await Promise.all(
      ['pets-create-pet', 'pets-get-pet'].map((slug) => world.catalogue.bySlug('sandbox', slug, null)),
    )
    // What changes something would do it in the operator's account for every caller.
    expect((await world.catalogue.credentials(create!))[0]).toEqual({ headers: {}, query: {}, secrets: [] })
    const sent = { headers: { 'x-key': 'my-secret' }, query: {}, secrets: ['my-secret'] }
    expect((await world.catalogue.credentials(get!))[0]).toEqual(sent)
    expect([create!.price, get!.price]).toEqual([500_000n, 10_000n])
    expect(await run('list', ['make', 'a', 'pet'])).toBe('pets-create-pet\t0.5\tCreate pet\n1 tools in sandbox.')
    expect(await run('providers')).toMatch(
      /^pets\t4 tools\topenapi\tPets\nsendgrid\tcan be added\tmail, key\tSendGrid\n/,
    )
  })

  test('reports changed and removed tools, and edits collections', async () => {
    writeFileSync(document, petDocument({ '/pets': { get: { ...PETS['/pets'].get, description: 'All of them.' } } }))
    expect(await run('import', [document], { provider: 'pets', server: 'http://127.0.0.1:1' })).toContain(
      '0 added, 1 changed, 3 removed, 0 unchanged.\n  changed: pets-list-pets\n  removed: pets-create-pet',
    )
    expect(await run('collection', ['pets', 'pets-*'], { name: 'Pets' })).toBe('pets in sandbox has 1 tools.')
    expect(await run('drop-collection', ['pets'])).toContain('was removed')
    expect(await run('key', ['pets'], { 'no-key': true })).toBe('pets in sandbox is called without a key from now on.')
    expect(await run('remove', ['pets'])).toContain('1 removed')
  })

  test('lists every skipped operation, with the reason and its place', async () => {
    const broken = Object.fromEntries(Array.from({ length: 30 }, (_, nth) => [`/b${String(nth)}`, { get: 'none' }]))
    writeFileSync(document, petDocument({ ...PETS, ...broken }))
    const output = await run('import', [document], { provider: 'partly', server: 'http://127.0.0.1:1' })
    expect(output?.match(/left out: GET \/b\d+: #\/paths\/~1b\d+\/get must be an object/g)).toHaveLength(30)
  })

  test.each<[string, string[], Flags]>([
    ['add', [], {}],
    ['test', [], {}],
    ['import', [], {}],
    ['import', [document], {}],
    ['import', [], { mcp: 'http://127.0.0.1:1' }],
    ['key', ['pets'], {}],
    ['key', ['pets'], { 'key-file': key, 'no-key': true }],
    ['remove', [], {}],
    ['collection', ['pets'], {}],
    ['drop-collection', [], {}],
  ])('refuses incomplete arguments: %s %j %j', async (command, names, flags) => {
    expect(await run(command, names, flags)).toBeNull()
  })

  test.each<[Flags, RegExp]>([
    [{ provider: 'Pets' }, /provider/],
    [{ provider: 'pets', price: '0.0000001' }, /--price/],
    [{ provider: 'pets', auth: 'magic' }, /--auth/],
  ])('names the fault of %j', async (flags, sentence) => {
    await expect(run('import', [document], flags)).rejects.toThrow(sentence)
  })
})

describe('Tools that creators published', () => {
  test('are read with their inputs and prices, again only when they were edited', async () => {
    const service = await testService(ALLOWED)
    try {
      const ann = await service.person()
      const slug = await published(ann, toolBody({ name: 'Word counter', description: 'Counts words.' }))
      const store = createAssetStore(service.testDatabase.statements)
      let finds = 0
      const counting = {
        ...store,
        find: (...args: Parameters<typeof store.find>) => {
          finds++
          return store.find(...args)
        },
      }
      const source = createPublishedTools(publishedAssets(counting, service.clock))
      const { reading, prices } = await source.read('sandbox')
      expect(reading.operations).toMatchObject([
        {
          operation: slug,
          name: 'Word counter',
          input: { type: 'object', additionalProperties: false },
          upstream: { kind: 'rda', rdaSlug: slug },
        },
      ])
      await source.read('sandbox')
      expect(finds).toBe(1)
      await service.catalogue.importAssets('sandbox', reading, prices)
      const { body } = await service.call('GET', `/tools/rda-${slug}`)
      expect(body.tool).toMatchObject({
        slug: `rda-${slug}`,
        provider: 'rda',
        price: expect.any(Number),
        outputSchema: null,
      })
      await ann.call('PATCH', `/v1/rda/${slug}`, { body: { description: 'Counts letters too.' } })
      expect((await source.read('sandbox')).reading.operations[0]?.description).toBe('Counts letters too.')
      await ann.call('POST', `/v1/rda/${slug}/archive`)
      expect((await source.read('sandbox')).reading.operations).toEqual([])
    } finally {
      await service.close()
    }
  })
})
