import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { pino } from 'pino'
import { compose, type Service } from '../../service/wiring/compose.ts'
import { readConfig } from '../../service/config.ts'
import { openDatabase, type Database } from '../../service/database/client.ts'
import { startEmbedded } from '../../service/database/embedded/database.ts'
import { migrate } from '../../service/database/migrate.ts'
import { listen } from '../../service/api/server.ts'
import { retentionPolicies } from '../../service/wiring/tables.ts'
import { createPruning, due } from '../../service/pruning/service.ts'
import { createPruningStore } from '../../service/pruning/store.ts'
import { generator } from '../harness/random.ts'
import { fillAssets } from './growth/assets.ts'
import { operationsOf, type Operation } from './growth/asks.ts'
import { fillHistory } from './growth/fill.ts'
import { growthPicture, short, type Curve } from './growth/picture.ts'
import { plansOf } from './growth/plans.ts'

/*
 * What the chief requests cost as the database grows: ten thousand, a hundred thousand and a million of assets, of
 * charged runs and of payments at checkouts with their deliveries. One after the other over loopback, warm; the server,
 * the service and the caller share the machine. The tenth part that was quickest says what a request costs when nothing
 * else is in its way; the median, what the machine made of it. At the end every statement that the service has prepared
 * is planned for any values, as its connection keeps it, and must not read a large table from end to end. BENCH_ADMIN_URL names a server whose databases growth_<size> are made,
 * filled up and kept; else an embedded one is made and thrown away. Writes docs/growth.svg.
 */

const SIZES = (process.env['BENCH_SIZES'] ?? '10000,100000,1000000').split(',').map(Number)
const ASKS = Number(process.env['BENCH_ASKS'] ?? 150)
const SEED = Number(process.env['BENCH_SEED'] ?? 7)
const DAYS = { deliveries: 365, decisions: 400, draws: 90, answers: 30, reconciliations: 90 }

const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-growth-'))
const adminUrl = process.env['BENCH_ADMIN_URL']
const embedded = adminUrl === undefined ? await startEmbedded({ dataDir: path.join(folder, 'database') }) : null
const server = adminUrl ?? embedded?.adminUrl ?? ''
const curves = new Map<string, Measured[]>()
const load: string[] = []
let planned = { statements: 0, whole: [] as string[] }
try {
  for (const size of SIZES) {
    const url = await databaseOf(size)
    await fill(url, size)
    await measureAll(url)
    load.push(loadavg()[0]?.toFixed(1) ?? '')
  }
  report()
} finally {
  await embedded?.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function databaseOf(size: number): Promise<string> {
  const name = `growth_${String(size)}`
  const admin = new pg.Client({ connectionString: server })
  await admin.connect()
  const { rowCount } = await admin.query('SELECT FROM pg_database WHERE datname = $1', [name])
  if (rowCount === 0) await admin.query(`CREATE DATABASE ${name}`)
  await admin.end()
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

async function fill(url: string, size: number): Promise<void> {
  await migrate(url)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await fillAssets(client, size, SEED)
    await fillHistory(client, { people: Math.max(100, size / 100), payments: size })
    await client.query('VACUUM ANALYZE')
    // Rows that another process wrote are read once, so that the first request does not pay for it.
    for (const table of ['rda', 'run', 'ledger_posting', 'delivery'])
      await client.query(`SELECT count(*) FROM ${table}`)
  } finally {
    await client.end()
  }
}

async function measureAll(url: string): Promise<void> {
  const config = readConfig({
    DATA_DIR: folder,
    DATABASE_URL: url,
    LOG_LEVEL: 'silent',
    RATE_API_PER_MINUTE: '0',
    RATE_PAY_PER_MINUTE: '0',
    RATE_DRAFT_READS_PER_MINUTE: '0',
  })
  const service = await compose(config, { url, log: pino({ level: 'silent' }) })
  const listening = await listen(service.app, 0, '127.0.0.1')
  const database = openDatabase({ url, poolMax: 2 })
  const random = generator(SEED)
  const { operations, close } = await operationsOf(
    service,
    `http://127.0.0.1:${String(listening.port)}`,
    sweepersOf(service, database),
    (bound) => Math.floor(random() * bound),
  )
  for (const one of operations) {
    const measured = await measure(one)
    curves.set(one.name, [...(curves.get(one.name) ?? []), measured])
  }
  planned = await plansOf(service.database)
  await close()
  await listening.drain(1_000)
  await service.stop()
  await database.close()
}

/** The sweepers find nothing to do here, as nearly always: this measures the cost of looking. */
function sweepersOf({ ledger, assets, deliveries }: Service, database: Database) {
  const pruning = createPruning({
    store: createPruningStore(database.statements),
    policies: retentionPolicies(DAYS),
    removed: () => undefined,
  })
  const never = new AbortController().signal
  const tables = String(due(retentionPolicies(DAYS), new Date()).length)
  return [
    { name: 'locks', run: () => ledger.sweep() },
    { name: 'deliveries', run: () => deliveries.sweep(never) },
    { name: 'ranks', run: () => assets.rank() },
    { name: `pruning, ${tables} tables`, run: () => pruning.prune(new Date(), never) },
  ]
}

interface Measured {
  quick: number
  p50: number
  p95: number
}

async function measure({ run, times = ASKS }: Operation): Promise<Measured> {
  for (let count = 0; count < times / 10; count++) await run()
  const latencies: number[] = []
  for (let count = 0; count < times; count++) {
    const started = performance.now()
    await run()
    latencies.push(performance.now() - started)
  }
  latencies.sort((a, b) => a - b)
  const at = (part: number): number => latencies[Math.floor(latencies.length * part)] ?? 0
  return { quick: at(0.1), p50: at(0.5), p95: at(0.95) }
}

function report(): void {
  const heads = SIZES.flatMap((size) => [`${short(size)} quickest 10 %`, 'p50', 'p95'])
  console.log(`| request, ms | ${heads.join(' | ')} | growth |\n| --- |${' ---: |'.repeat(heads.length + 1)}`)
  const drawn: Curve[] = []
  for (const [name, measured] of curves) {
    const cells = measured.flatMap(({ quick, p50, p95 }) => [quick, p50, p95].map((ms) => ms.toFixed(1)))
    const growth = (measured.at(-1)?.quick ?? 0) / (measured[0]?.quick ?? 1)
    console.log(`| ${name} | ${cells.join(' | ')} | ${growth.toFixed(1)} × |`)
    drawn.push({ name, ms: measured.map(({ quick }) => quick) })
  }
  const { statements, whole } = planned
  console.log(
    `\n${String(statements)} prepared statements at ${short(SIZES.at(-1) ?? 0)}; of a large table all is read by: ${whole.join(', ') || 'none'}.`,
  )
  console.log(`Load of the machine after each size: ${load.join(', ')}.`)
  const note = 'Quickest tenth over loopback, one request at a time; service and database share two cores.'
  writeFileSync('docs/growth.svg', growthPicture(SIZES, drawn, note))
}
