import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { openDatabase } from '../../service/database/client.ts'
import { startEmbedded } from '../../service/database/embedded/database.ts'
import { migrate } from '../../service/database/migrate.ts'
import type { Listing } from '../../service/marketplace/model/asset.ts'
import { createAssetStore } from '../../service/marketplace/store/assets/assets.ts'
import { generator } from '../harness/random.ts'
import { fillAssets, OWNERS, word, WORDS } from './growth/assets.ts'

/*
 * GET /rdas at a million published assets, as the store answers it: ids, rows and exact total. Words are drawn so that
 * a few are in most texts and most are in few; owners so that one has fifty thousand and most a handful. On the
 * embedded server, or on BENCH_DATABASE_URL, which must be an empty database or one that this program left full.
 */

const ROWS = Number(process.env['BENCH_ROWS'] ?? 1_000_000)
const ASKS = Number(process.env['BENCH_ASKS'] ?? 300)
/** Each run uses its own seed and prints it: the same seed requests the same pages. */
const SEED = Number(process.env['BENCH_SEED'] ?? Date.now() % 1_000_000)

const PLAIN: Listing = {
  ...{ environment: 'sandbox', status: 'published', type: null, verified: false, featured: false, trending: false },
  ...{ ownerId: null, search: null, limit: 20, offset: 0 },
}
const WARM_UP = 20

const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-bench-'))
const embedded = process.env['BENCH_DATABASE_URL'] === undefined ? await startEmbedded({ dataDir: folder }) : null
const url = process.env['BENCH_DATABASE_URL'] ?? embedded?.url ?? ''
await migrate(url)
const database = openDatabase({ url, poolMax: 4 })
const store = createAssetStore(database.statements)
const random = generator(SEED)
try {
  const seconds = await fill()
  const [server] = await database.statements.run<{ version: string }>(
    `SELECT current_setting('server_version') AS version`,
    [],
  )
  console.log(
    `${String(ROWS)} rows in ${seconds.toFixed(0)} s, PostgreSQL ${server?.version ?? ''}, seed ${String(SEED)}\n`,
  )
  console.log('| list | target p95 | p50 ms | p95 ms | worst | total |\n| --- | ---: | ---: | ---: | ---: | ---: |')
  let missed = 0
  for (const { name, target, query } of questions()) missed += (await measure(name, target, query)) ? 0 : 1
  await assertTotals()
  console.log(missed === 0 ? 'Every target was met.' : `${String(missed)} TARGETS MISSED.`)
  process.exitCode = missed === 0 ? 0 : 1
} finally {
  await database.close()
  await embedded?.stop()
  rmSync(folder, { recursive: true, force: true })
}

interface Question {
  name: string
  target: number
  query: () => Partial<Listing>
}

function questions(): Question[] {
  return [
    { name: 'default', target: 20, query: () => ({}) },
    { name: 'by type', target: 20, query: () => ({ type: oneOf(['prompt', 'agent', 'tool'] as const) }) },
    { name: 'verified of a type', target: 20, query: () => ({ type: 'tool', verified: true }) },
    { name: 'featured', target: 20, query: () => ({ featured: true }) },
    {
      name: 'featured and verified of a type',
      target: 20,
      query: () => ({ featured: true, verified: true, type: 'agent' }),
    },
    { name: 'trending', target: 20, query: () => ({ trending: true }) },
    { name: "a creator's", target: 20, query: () => ({ ownerId: `subject-${String(below(OWNERS))}` }) },
    { name: 'the largest creator’s', target: 20, query: () => ({ ownerId: 'subject-0', offset: below(2_000) * 20 }) },
    { name: 'one word, any', target: 20, query: () => ({ search: word(below(WORDS)) }) },
    { name: 'one word, common', target: 20, query: () => ({ search: word(below(20)) }) },
    { name: 'one word, rare', target: 20, query: () => ({ search: word(WORDS - 1 - below(500)) }) },
    { name: 'the beginning of a word', target: 20, query: () => ({ search: word(below(WORDS)).slice(0, 5) }) },
    { name: 'one word of a type', target: 20, query: () => ({ search: word(below(WORDS)), type: 'prompt' }) },
    {
      name: 'two words, asked before',
      target: 20,
      query: () => ({ search: `${word(below(20))} ${word(100 + below(5))}` }),
    },
    { name: 'page 1,000', target: 100, query: () => ({ offset: 19_980 }) },
    { name: 'page 1,000 of a hundred each', target: 100, query: () => ({ offset: 99_900, limit: 100 }) },
    { name: 'page 1,000 of a type', target: 100, query: () => ({ offset: 19_980, type: 'agent' }) },
    {
      name: 'page 1,000 of a common word',
      target: Infinity,
      query: () => ({ offset: 19_980, search: word(below(5)) }),
    },
    { name: 'any page', target: 100, query: () => ({ offset: below(ROWS) }) },
    {
      name: 'two words, never asked before',
      target: Infinity,
      query: () => ({ search: `${word(below(300))} ${word(below(WORDS))}` }),
    },
  ]
}

async function measure(name: string, target: number, query: () => Partial<Listing>): Promise<boolean> {
  const latencies: number[] = []
  let totals = 0
  for (let count = -WARM_UP; count < ASKS; count++) {
    const listing: Listing = { ...PLAIN, ...query() }
    const started = performance.now()
    const { total } = await store.list(listing, null, new Date())
    if (count >= 0) latencies.push(performance.now() - started)
    totals = Math.max(totals, total)
  }
  latencies.sort((a, b) => a - b)
  const at = (part: number): number =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * part))] ?? 0
  const met = at(0.95) <= target
  console.log(
    `| ${name} | ${target === Infinity ? '-' : String(target)} | ${at(0.5).toFixed(1)} | ${at(0.95).toFixed(1)}${met ? '' : ' !'} | ${at(1).toFixed(1)} | ≤ ${String(totals)} |`,
  )
  return met
}

/** Compares the totals that the triggers keep with the rows themselves, filter by filter. */
async function assertTotals(): Promise<void> {
  const queries: Partial<Listing>[] = [{}, { type: 'tool' }, { verified: true }, { ownerId: 'subject-0' }]
  for (const search of [word(0), word(50), word(WORDS - 1)])
    queries.push({ search }, { search, type: 'agent', featured: true })
  for (const query of queries) {
    const { total } = await store.list({ ...PLAIN, ...query }, null, new Date())
    const conditions = ["status = 'published'", "environment = 'sandbox'"]
    if (query.type != null) conditions.push(`type = '${query.type}'`)
    if (query.verified === true) conditions.push('verified')
    if (query.featured === true) conditions.push('featured')
    if (query.ownerId != null) conditions.push(`owner_id = 'usr_0'`)
    if (query.search != null) conditions.push(`search @@ plainto_tsquery('coinslot', '${query.search}')`)
    const [counted] = await database.statements.run<{ total: string }>(
      `SELECT count(*)::text AS total FROM rda WHERE ${conditions.join(' AND ')}`,
      [],
    )
    if (String(total) !== counted?.total) {
      throw new Error(`${JSON.stringify(query)}: ${String(total)} was said, ${counted?.total ?? ''} are there`)
    }
  }
  console.log('\nTotals agree with what is there.')
}

async function fill(): Promise<number> {
  const started = performance.now()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    if (await fillAssets(client, ROWS, SEED)) return (performance.now() - started) / 1000
    // A table of 600 MB does not fit into the server's own memory and is read from the system's cache: this loads it
    // there.
    await client.query('SELECT sum(length(name)) FROM rda')
    return 0
  } finally {
    await client.end()
  }
}

function oneOf<T>(choices: readonly T[]): T {
  return choices[below(choices.length)] as T
}

function below(bound: number): number {
  return Math.floor(random() * bound)
}
