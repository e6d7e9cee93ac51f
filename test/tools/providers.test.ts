import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { addCurated } from '../../service/cli/catalogue/add.ts'
import { helpOf } from '../../service/cli/catalogue/help.ts'
import { tryTools } from '../../service/cli/catalogue/trial.ts'
import type { Environment } from '../../service/kit/owner.ts'
import { connectingOf, CURATED, curatedProvider } from '../../service/tools/providers/curated.ts'
import { BEARER, CALL, header, oauth, type CuratedProvider } from '../../service/tools/providers/model.ts'
import { providerSlugFault } from '../../service/tools/rules/slug.ts'
import { SHIPPED } from '../../service/openapi/shipped.ts'
import { Upstream } from './calls/upstream.ts'
import { catalogueWorld, type CatalogueWorld } from './catalogue-world.ts'
import { operation } from './documents.ts'

describe('The curated list', () => {
  test('has at least fifty providers of all kinds, each whole, none twice, and none that comes with the service', () => {
    expect(CURATED.length).toBeGreaterThanOrEqual(50)
    expect(new Set(CURATED.map(({ slug }) => slug)).size).toBe(CURATED.length)
    expect(new Set(CURATED.map(({ topic }) => topic)).size).toBe(13)
    const shipped = new Set(SHIPPED.map(({ slug }) => slug))
    for (const { slug, name, description, document, connect, keyPage, offered, isPublic } of CURATED) {
      expect([slug, providerSlugFault(slug), shipped.has(slug)]).toEqual([slug, null, false])
      expect([slug, name.length > 0, /^\S.{30,}\.$/.test(description)]).toEqual([slug, true, true])
      for (const address of [document, ...(keyPage === null ? [] : [keyPage])])
        expect([slug, new URL(address).protocol]).toEqual([slug, 'https:'])
      expect([slug, (connect.length === 0) === (keyPage === null)]).toEqual([slug, true])
      expect([slug, isPublic === true && connect.length === 0]).toEqual([slug, false])
      for (const one of offered?.paths ?? []) expect([slug, one.startsWith('/')]).toEqual([slug, true])
      for (const way of connect) {
        if (way.kind !== 'oauth') continue
        const addresses = [way.authorizationUrl, way.tokenUrl].map((address) => new URL(address).protocol)
        expect([slug, addresses]).toEqual([slug, ['https:', 'https:']])
      }
    }
  })

  test('names the ways to connect each provider, and suggests one for a mistyped name', () => {
    expect(connectingOf(curatedProvider('weather-gov'))).toEqual(['Its tools need no key.'])
    expect(connectingOf(curatedProvider('tfl'))[0]).toContain('npm run tools -- key tfl --key-file <file>')
    expect(connectingOf(curatedProvider('slack')).at(-1)).toContain(
      'oauth slack --client-id <id> --client-secret-file <file> --authorization-url https://slack.com/oauth/v2/authorize',
    )
    expect(() => curatedProvider('stripee')).toThrow('Did you mean stripe?')
  })
})

const keyed = { parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', example: 'one' } }] }

function documentOf(origin: string, description = 'Reads all of the notes.', schemes = true): string {
  return JSON.stringify({
    openapi: '3.0.3',
    info: { title: 'Notes', version: '1' },
    servers: [{ url: origin }],
    ...(schemes ? { security: [{ key: [] }] } : {}),
    paths: {
      '/notes': { get: operation('listNotes', { description }), post: operation('addNote') },
      '/notes/{id}': { get: operation('getNote', keyed), delete: operation('dropNote', keyed) },
      '/hidden': { get: operation('hidden') },
      '/broken': { get: operation('broken', { parameters: 7 }) },
    },
    components: schemes ? { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } } : {},
  })
}

describe('npm run tools -- add', () => {
  let world: CatalogueWorld
  let upstream: Upstream
  let notes: CuratedProvider
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-add-'))

  beforeAll(async () => {
    world = await catalogueWorld()
    upstream = await new Upstream().listen()
    notes = {
      ...{ slug: 'notes', name: 'Notes', topic: 'projects', description: 'Notes of a person.', pricing: CALL },
      document: `${upstream.origin}/openapi.json`,
      connect: [header('X-Key'), oauth('https://x.example/a', 'https://x.example/t', 'read write')],
      keyPage: 'https://x.example/keys',
      offered: { paths: ['/notes'] },
    }
    publish(documentOf(upstream.origin))
  })
  afterAll(async () => {
    await world.close()
    await upstream.close()
    rmSync(folder, { recursive: true })
  })

  function publish(text: string): string {
    upstream.on('/openapi.json', (_, response) => void response.end(text))
    return createHash('sha256').update(text).digest('hex')
  }

  /** What it says, and how it ends. */
  async function outputOf<T>(work: () => Promise<T>): Promise<{ output: string; outcome: T }> {
    const lines: unknown[] = []
    const { log, error } = console
    console.log = (line: unknown) => void lines.push(line)
    console.error = console.log
    try {
      const outcome = await work()
      return { output: lines.join('\n'), outcome }
    } finally {
      Object.assign(console, { log, error })
    }
  }

  const add = (
    flags: Parameters<typeof addCurated>[0]['flags'] = {},
    { environment = 'sandbox', provider = notes }: { environment?: Environment; provider?: CuratedProvider } = {},
  ) =>
    outputOf(() => addCurated({ catalogue: world.catalogue, environment, names: [provider.slug], flags }, [provider]))

  async function slugs(provider = 'notes', environment: Environment = 'sandbox'): Promise<string[]> {
    const { tools } = await world.catalogue.list({ environment, viewer: null, provider, limit: 100, offset: 0 })
    return tools.map(({ tool }) => tool.slug)
  }

  test("shows a document's tools before the import, and the skipped operations with reasons", async () => {
    const { output, outcome } = await add({ 'dry-run': true })
    expect(output).toMatch(/4 operations become tools, 1 are not offered, 1 are left out\.\nsha256 [0-9a-f]{64}\n/)
    expect([outcome, await slugs()]).toEqual([true, []])
    const added = await add()
    expect(added.outcome).toMatchObject({
      report: {
        added: ['notes-add-note', 'notes-drop-note', 'notes-get-note', 'notes-list-notes'],
        skipped: [{ operation: 'broken', why: '#/paths/~1broken/get/parameters must be a list' }],
      },
      next: expect.arrayContaining(['Each account connects with its own key.', 'Keys: https://x.example/keys']),
    })
    const tool = await world.catalogue.bySlug('sandbox', 'notes-list-notes', null)
    expect([tool.price, await world.catalogue.isSimulated(tool)]).toEqual([1_000n, true])
  })

  test('a document that has changed is imported only when it is accepted, or named by its hash', async () => {
    const hash = publish(documentOf(upstream.origin, 'Reads the notes of today.'))
    const refused = await add()
    expect([refused.outcome, refused.output]).toEqual([1, expect.stringContaining(`--accept or with --hash ${hash}`)])
    expect((await world.catalogue.bySlug('sandbox', 'notes-list-notes', null)).description).toContain(
      'all of the notes',
    )
    const other = await add({ hash: 'ab'.repeat(32) })
    expect([other.outcome, other.output]).toEqual([1, expect.stringContaining('does not have the sha256 abab')])
    expect((await add({ hash })).outcome).toMatchObject({ report: { changed: ['notes-list-notes'] } })
    // Now it is the one that is known.
    expect((await add()).outcome).toMatchObject({ report: { unchanged: 4 } })
    publish(documentOf(upstream.origin, 'Reads the notes of tomorrow.'))
    expect((await add({ accept: true })).outcome).toMatchObject({ report: { changed: ['notes-list-notes'] } })
  })

  test('reads a copy from a file, and uses the list’s authentication where the document has none', async () => {
    const file = path.join(folder, 'notes.json')
    writeFileSync(file, documentOf(upstream.origin, 'Reads the notes of a friend.', false))
    const provider: CuratedProvider = { ...notes, slug: 'plain', connect: [BEARER], isPublic: true }
    const { outcome } = await add({ file }, { provider })
    expect(outcome).toMatchObject({
      report: { added: { length: 4 } },
      next: [expect.stringContaining('public'), 'Keys: https://x.example/keys'],
    })
    const tool = await world.catalogue.bySlug('sandbox', 'plain-list-notes', null)
    expect(tool.upstream).toMatchObject({ auth: { kind: 'bearer' } })
    expect((await world.catalogue.accessFor(tool)).needs).toBe('platform')
  })

  test('requires an account’s own server, and imports nothing without an offered operation', async () => {
    const own = { ...notes, slug: 'own', ownServer: 'https://example.notes.example' }
    await expect(add({}, { provider: own })).rejects.toThrow('--server')
    expect((await add({ server: upstream.origin }, { provider: own })).outcome).toMatchObject({ report: {} })
    const none = { ...notes, slug: 'none', offered: { operations: ['send*'] } }
    await expect(add({}, { provider: none })).rejects.toMatchObject({ code: 'document_refused' })
    expect(await slugs('none')).toEqual([])
  })

  describe('and then test', () => {
    const test2 = (name: string, flags: { yes?: boolean; limit?: string } = {}, answer = false) => {
      const questions: string[] = []
      const trials = {
        http: world.http,
        ask: (question: string) => {
          questions.push(question)
          return Promise.resolve(answer)
        },
      }
      const deps = { catalogue: world.catalogue, environment: 'sandbox' as const, name, flags, trials }
      return outputOf(async () => [await tryTools(deps), ...questions])
    }

    test('tries what only reads, with examples, without a question where it is simulated', async () => {
      const { output, outcome } = await test2('notes')
      expect(outcome).toEqual([0])
      expect(output.split('\n').sort()).toEqual([
        '2 worked, 0 failed, 2 were not tried.',
        'ok\tnotes-get-note',
        'ok\tnotes-list-notes',
        'skipped\tnotes-add-note\tit may change something',
        'skipped\tnotes-drop-note\tit may change something',
      ])
    })

    test('calls a server for real after a yes, with the platform’s key, and says what failed', async () => {
      const { catalogue } = world
      const request = { environment: 'sandbox', ownerId: null, slug: 'real', pricing: CALL } as const
      await catalogue.importDocument(request, documentOf(upstream.origin))
      await catalogue.setCredentials({ environment: 'sandbox', ownerId: null, provider: 'real' }, 'the-secret')
      upstream.respondWith('/notes', [])
      upstream.respondWith('/hidden', {})
      upstream.respondWith('/notes/one', { error: 'the-secret' }, 500)
      const before = upstream.requests.length
      const no = await test2('real')
      expect(no.outcome).toEqual([
        3,
        `3 requests go to ${new URL(upstream.origin).host} with the platform's key. Go on?`,
      ])
      expect(upstream.requests.length).toBe(before)
      const yes = await test2('real', { yes: true })
      expect(yes.outcome).toEqual([1])
      expect(yes.output).toContain('failed\treal-get-note\tits server answered with 500')
      expect(yes.output).toContain('2 worked, 1 failed, 2 were not tried.')
      expect(yes.output).not.toContain('the-secret')
      expect(upstream.to('/notes').at(-1)?.headers['x-key']).toBe('the-secret')
      // One tool, and one that cannot be tried.
      expect((await test2('real-hidden', {}, true)).outcome).toEqual([0, expect.stringContaining('1 requests')])
      expect((await test2('real-add-note')).outcome).toEqual([3])
      await expect(test2('nothing')).rejects.toMatchObject({ code: 'tool_not_found' })
    })
  })

  test('each command has help', () => {
    for (const command of ['list', 'providers', 'add', 'test', 'import', 'key', 'remove', 'oauth'])
      expect(helpOf(command)).toMatch(new RegExp(`^Usage: .+\\n {2}${command}`))
    expect(helpOf('key')).toContain('one a line')
    expect(helpOf(null).split('\n').length).toBeGreaterThan(30)
  })
})
