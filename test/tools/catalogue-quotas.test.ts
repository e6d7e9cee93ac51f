import { execFile } from 'node:child_process'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { newId } from '../../service/kit/ids.ts'
import type { Operation, Reading } from '../../service/tools/model/draft.ts'
import type { UserId } from '../../service/tools/model/tool.ts'
import { catalogueWorld, importRequest, type CatalogueWorld } from './catalogue-world.ts'

/** A document is a number of operations, so that a test reads none. */
const documents = {
  edition: 'counted',
  read: (text: string): Promise<Reading> => {
    const [count = 0, size = 10] = text.split(' ').map(Number)
    const operations = Array.from({ length: count }, (_, nth) => operation(`op${String(nth)}`, size))
    return Promise.resolve({ name: 'Counted', description: '', version: null, operations, skipped: [] })
  },
}

function operation(name: string, size: number): Operation {
  return {
    ...{ operation: name, name, category: null, deprecated: false, output: null },
    description: 'x'.repeat(size),
    input: { type: 'object', properties: {}, additionalProperties: false },
    upstream: {
      ...{ kind: 'http', method: 'GET', server: 'http://127.0.0.1:1', path: `/${name}`, where: {} },
      ...{ bodyType: null, auth: null, answer: { status: 200, contentType: null } },
    },
  }
}

describe('The import quotas of an account', () => {
  let world: CatalogueWorld
  const quotas = { providers: 3, tools: 10, bytes: 8_000, importsPerHour: 8 }
  beforeAll(async () => {
    world = await catalogueWorld({ documents, quotas })
  })
  afterAll(async () => {
    await world.close()
  })

  const account = (): UserId => newId('usr', world.clock.now())
  const bring = (ownerId: UserId | null, slug: string, text: string, by = world.catalogue) =>
    by.importDocument(importRequest(slug, { ownerId }), text)
  const refused = (quota: string, limit: number, resetsAt: unknown = null) => ({
    kind: 'limited',
    code: 'quota_exceeded',
    fields: { quota, limit, resetsAt },
  })

  test('refuse more tools, providers or bytes, and write nothing of them', async () => {
    const ann = account()
    await bring(ann, 'first', '6')
    await expect(bring(ann, 'second', '5')).rejects.toMatchObject(refused('imported_tools', 10))
    await expect(bring(ann, 'second', '1 9000')).rejects.toMatchObject(refused('tool_bytes', 8_000))
    await bring(ann, 'second', '1')
    await bring(ann, 'third', '1')
    await expect(bring(ann, 'fourth', '1')).rejects.toMatchObject(refused('tool_providers', 3))
    const { total } = await world.catalogue.list({ environment: 'sandbox', viewer: ann, limit: 1, offset: 0 })
    expect(total).toBe(8)
    // Fewer of them make room.
    await world.catalogue.removeProvider('sandbox', ann, 'third')
    await bring(ann, 'fourth', '1')
  })

  test('hold for concurrent imports in two processes', async () => {
    const ann = account()
    const processes = [world.catalogue, world.another(), world.another()]
    const ends = await Promise.allSettled(processes.map((by, nth) => bring(ann, `p${String(nth)}`, '4', by)))
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    const { total } = await world.catalogue.list({ environment: 'sandbox', viewer: ann, limit: 1, offset: 0 })
    expect(total).toBe(8)
  })

  test('count imports by the hour, also failed ones, for each account', async () => {
    const ann = account()
    for (let nth = 0; nth < 8; nth++) await bring(ann, 'often', nth % 2 === 0 ? '11' : '1').catch(() => undefined)
    const resetsAt = expect.stringMatching(/^20\d\d-.*Z$/) as unknown
    await expect(bring(ann, 'often', '1')).rejects.toMatchObject(refused('imports_per_hour', 8, resetsAt))
    await bring(account(), 'often', '1')
    world.clock.forward(3_600_000)
    await bring(ann, 'often', '2')
  })

  test('do not apply to the platform', async () => {
    expect(await bring(null, 'large', '30 900')).toMatchObject({ added: { length: 30 } })
  })

  test('an operator can delete all tools of an account, in every process', async () => {
    const ann = account()
    const other = world.another()
    await bring(ann, 'mine', '4')
    const toolCount = async () =>
      (await other.list({ environment: 'sandbox', viewer: ann, provider: 'mine', limit: 9, offset: 0 })).total
    expect(await toolCount()).toBe(4)
    expect(await world.catalogue.dropTools('sandbox', ann)).toBe(4)
    world.clock.forward(1_000)
    while ((await toolCount()) > 0) await setImmediate()
  })
})

describe('A process with a small heap', () => {
  let world: CatalogueWorld
  beforeAll(async () => {
    world = await catalogueWorld()
  })
  afterAll(async () => {
    await world.close()
  })

  test('serves accounts that have brought in more than fits into it', async () => {
    const { statements } = world.database
    await statements.run(
      `INSERT INTO tool_provider (environment, owner_id, slug, name, description, kind, simulated, pricing, created_at, updated_at)
       SELECT 'sandbox', 'usr_' || a, 'big', 'Big', '', 'openapi', true, '{"otherwise":"0","byMethod":{},"bySlug":{}}', now(), now()
       FROM generate_series(0, 11) a`,
      [],
    )
    await statements.run(
      `INSERT INTO tool (id, environment, owner_id, slug, provider, name, description, price, deprecated, terms, input,
         upstream, content_hash, change, created_at, updated_at)
       SELECT 'tool_' || a || '_' || n, 'sandbox', 'usr_' || a, 'big-' || n, 'big', 'Tool ' || n, w.words, 0, false, w.words,
         '{"type":"object"}', '{"kind":"mcp","server":"http://127.0.0.1:1","tool":"t"}', 'h', 1, now(), now()
       FROM generate_series(0, 11) a, generate_series(1, 1200) n,
         LATERAL (SELECT string_agg('word' || (n * 7 + i * 13 + a) % 3000 || repeat('x', 9), ' ') AS words
                  FROM generate_series(1, 150) i) w`,
      [],
    )
    await statements.run(`UPDATE tool_catalogue SET change = 1 WHERE environment = 'sandbox'`, [])
    const program = ['--import', './service/launch/typescript.mjs', 'test/tools/catalogue-memory.ts']
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--max-old-space-size=64',
      ...program,
      world.database.url,
      '3',
    ])
    expect(stdout).toBe('found 9\n')
  })
})
