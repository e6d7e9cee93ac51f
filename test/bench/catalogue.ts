import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { catalogueOn } from '../../service/wiring/tools-catalogue.ts'
import { importShipped } from '../../service/wiring/tools-shipped.ts'
import { openDatabase } from '../../service/database/client.ts'
import { startEmbedded } from '../../service/database/embedded/database.ts'
import { migrate } from '../../service/database/migrate.ts'
import { systemClock } from '../../service/kit/clock.ts'
import { usdc } from '../../service/kit/money.ts'
import { createToolServers } from '../../service/mcp-client/servers.ts'
import { createDocuments } from '../../service/openapi/documents.ts'
import { SHIPPED, shippedText } from '../../service/openapi/shipped.ts'
import { outboundClient } from '../../service/outbound/client.ts'
import type { Operation } from '../../service/tools/model/draft.ts'
import { parseKeyring } from '../../service/vault/keyring.ts'
import { vaultOf } from '../../service/vault/vault.ts'

/*
 * Measures the catalogue: importing large documents and the memory this takes, importing them again, and queries over
 * ten thousand tools. The ten thousand are copies of the real tools, each copy with its own noun in name and
 * description, so that the word lists are as long as they would be in practice.
 */

const TOOLS = Number(process.env['BENCH_TOOLS'] ?? 10_000)
const ASKS = Number(process.env['BENCH_ASKS'] ?? 2_000)
const IMPORT_TARGET_S = 60
const MEMORY_TARGET_MB = 500
const SEARCH_TARGET_MS = 20

const SENTENCES = [
  'create an issue on github',
  'list all pull requests of a repository that wait for review',
  'delete a virtual machine',
  'upload a file to a folder and share it',
  'page views of an article',
  'get the comments of a design file',
  'cancel a running workflow',
  'which invoices do I have to pay',
]
const COMMON = ['get', 'list', 'create', 'user', 'repository', 'file', 'delete', 'update']
const WORDS = SENTENCES.join(' ')
  .split(' ')
  .concat(COMMON, ['webhook', 'branch', 'droplet', 'secret', 'team', 'release', 'label'])

/** The platform's own imports have no quotas. */
const QUOTAS = { providers: 1, tools: 1, bytes: 1, importsPerHour: 1 }

const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-bench-'))
const embedded = process.env['BENCH_DATABASE_URL'] === undefined ? await startEmbedded({ dataDir: folder }) : null
const url = process.env['BENCH_DATABASE_URL'] ?? embedded?.url ?? ''
await migrate(url)
const database = openDatabase({ url, poolMax: 4 })
const outbound = outboundClient({ policy: { allowPrivate: false, allowHosts: [] } })
const servers = createToolServers({ open: (request) => outbound.open(request), limits: {}, version: '1' })
const open = () =>
  catalogueOn(database.statements, {
    clock: systemClock,
    quotas: QUOTAS,
    vault: vaultOf(parseKeyring(`bench:${randomBytes(32).toString('base64')}`, undefined)),
    outbound,
    servers,
    measured: { of: () => Promise.resolve(new Map()) },
  })
let missed = 0
let largestMb = 0
const watch = setInterval(() => {
  largestMb = Math.max(largestMb, process.memoryUsage().rss / 1_048_576)
}, 20)
try {
  await imports()
  await questions()
  console.log(missed === 0 ? '\nEvery target was met.' : `\n${String(missed)} TARGETS MISSED.`)
  process.exitCode = missed === 0 ? 0 : 1
} finally {
  clearInterval(watch)
  await servers.close()
  await outbound.close()
  await database.close()
  await embedded?.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function imports(): Promise<void> {
  const before = process.memoryUsage().rss / 1_048_576
  const catalogue = open()
  const first = await seconds(() => importShipped(catalogue, 'sandbox'))
  const { total } = await catalogue.list({ environment: 'sandbox', viewer: null, limit: 1, offset: 0 })
  const peak = largestMb
  const written = await lastWrites()
  const again = await seconds(() => importShipped(open(), 'sandbox'))
  const wrote = (await lastWrites()) !== written
  // Read as an untrusted document that is imported for the first time: it is checked against the specification too.
  const text = await shippedText('github')
  const checked = await seconds(() =>
    createDocuments().read(text, { base: null, server: null, auth: null, trusted: false }),
  )
  console.log('| import | |\n| --- | ---: |')
  console.log(`| documents | ${String(SHIPPED.length)} |`)
  console.log(`| tools | ${String(total)} |`)
  line('first time, s', first, IMPORT_TARGET_S)
  line('memory at most, MB', peak, MEMORY_TARGET_MB)
  console.log(`| memory before, MB | ${before.toFixed(0)} |`)
  console.log(`| second time, s | ${again.toFixed(2)} |`)
  line('rows that the second time wrote', wrote ? 1 : 0, 0)
  console.log(`| the largest one read as a stranger's, s | ${checked.toFixed(2)} |`)
}

/** Changes whenever a row is written, even if its contents stay the same. */
async function lastWrites(): Promise<string> {
  const [row] = await database.statements.run<{ all: string }>(
    `SELECT md5(string_agg(all_rows, ',')) AS all FROM (
       SELECT xmin::text || id AS all_rows FROM tool UNION ALL SELECT xmin::text || slug FROM tool_provider
       UNION ALL SELECT xmin::text || slug FROM tool_collection UNION ALL SELECT xmin::text FROM tool_catalogue
       ORDER BY 1) written`,
    [],
  )
  return row?.all ?? ''
}

async function questions(): Promise<void> {
  await multiply()
  const catalogue = open()
  const loaded = await seconds(() => catalogue.list({ environment: 'sandbox', viewer: null, limit: 1, offset: 0 }))
  const { total } = await catalogue.list({ environment: 'sandbox', viewer: null, limit: 1, offset: 0 })
  const { tools } = await catalogue.list({ environment: 'sandbox', viewer: null, limit: total, offset: 0 })
  const slugs = tools.map(({ tool }) => tool.slug)
  console.log(`\n${String(total)} tools; a process that has none of them yet has all in ${loaded.toFixed(2)} s.\n`)
  console.log('| asked | p50 ms | p95 ms | p99 ms | worst |\n| --- | ---: | ---: | ---: | ---: |')
  const where = { environment: 'sandbox', viewer: null } as const
  await measure('search, in a sentence', SEARCH_TARGET_MS, (nth) =>
    catalogue.search({ ...where, query: pick(SENTENCES, nth) }),
  )
  await measure('search, one common word', SEARCH_TARGET_MS, (nth) =>
    catalogue.search({ ...where, query: pick(COMMON, nth) }),
  )
  await measure('search, 24 words', SEARCH_TARGET_MS, (nth) =>
    catalogue.search({
      ...where,
      query: Array.from({ length: 24 }, (_, place) => pick(WORDS, nth * 7 + place * 13)).join(' '),
    }),
  )
  await measure('search within a provider', SEARCH_TARGET_MS, (nth) =>
    catalogue.search({ ...where, query: pick(SENTENCES, nth), provider: 'github' }),
  )
  await measure('a page of the list', Infinity, (nth) =>
    catalogue.list({ ...where, limit: 20, offset: (nth * 20) % total }),
  )
  await measure('a tool by its slug', Infinity, (nth) => catalogue.bySlug('sandbox', pick(slugs, nth * 7919), null))
  await measure('the same hundred tools', Infinity, (nth) => catalogue.bySlug('sandbox', pick(slugs, nth % 100), null))
}

/** Copies the real tools repeatedly, under the names of other providers. */
async function multiply(): Promise<void> {
  const read = await Promise.all(
    SHIPPED.map(async ({ slug, auth = null }) => {
      const options = { base: null, server: null, auth, trusted: true }
      return (await createDocuments().read(await shippedText(slug), options)).operations
    }),
  )
  const all = read.flat()
  for (let copy = 0, left = TOOLS - all.length; left > 0; copy++, left -= all.length) {
    const noun = `${pick(WORDS, copy * 31)}${String(copy)}`
    const operations = all.slice(0, left).map((operation): Operation => ({
      ...operation,
      operation: `${operation.operation} ${operation.name}`,
      name: `${operation.name} ${noun}`,
      description: `${operation.description} Of ${noun}.`,
    }))
    const documents = {
      edition: 'bench',
      read: () => Promise.resolve({ name: noun, description: noun, version: null, operations, skipped: [] }),
    }
    const catalogue = catalogueOn(database.statements, {
      ...{ clock: systemClock, quotas: QUOTAS, outbound, servers, documents },
      vault: vaultOf(parseKeyring(`bench:${randomBytes(32).toString('base64')}`, undefined)),
      measured: { of: () => Promise.resolve(new Map()) },
    })
    const listing = {
      environment: 'sandbox',
      ownerId: null,
      slug: `copy${String(copy)}`,
      name: noun,
      description: noun,
    } as const
    const plain = { simulated: true, source: null, server: null, auth: null, trusted: true }
    await catalogue.importDocument({ ...listing, ...plain, pricing: { otherwise: usdc(1_000n) } }, noun)
  }
}

async function measure(name: string, target: number, query: (nth: number) => Promise<unknown>): Promise<void> {
  const latencies: number[] = []
  for (let nth = -50; nth < ASKS; nth++) {
    const started = performance.now()
    await query(nth + 50)
    if (nth >= 0) latencies.push(performance.now() - started)
  }
  latencies.sort((one, other) => one - other)
  const at = (part: number): number =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * part))] ?? 0
  const met = at(0.95) <= target
  if (!met) missed++
  const cells = [at(0.5).toFixed(2), `${at(0.95).toFixed(2)}${met ? '' : ' !'}`, at(0.99).toFixed(2), at(1).toFixed(1)]
  console.log(`| ${name} | ${cells.join(' | ')} |`)
}

function line(name: string, value: number, target: number): void {
  if (value > target) missed++
  console.log(
    `| ${name} (at most ${String(target)}) | ${value.toFixed(value < 10 ? 2 : 0)}${value > target ? ' !' : ''} |`,
  )
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return (performance.now() - started) / 1_000
}

function pick<T>(from: readonly T[], nth: number): T {
  return from[nth % from.length] as T
}
