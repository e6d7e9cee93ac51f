import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Agent, request } from 'undici'
import { openDatabase, type Database } from '../../service/database/client.ts'
import { startEmbedded } from '../../service/database/embedded/database.ts'
import { migrate } from '../../service/database/migrate.ts'
import { usdc } from '../../service/kit/money.ts'
import { END } from '../../service/ledger/store/end.ts'
import { RESERVE } from '../../service/ledger/store/reserve.ts'
import { BEGIN, END_RUNS } from '../../service/marketplace/store/runs/write.ts'
import {
  askFor,
  assetOf,
  callerOf,
  createEngine,
  fund,
  operation,
  perRun,
  type Engine,
} from '../marketplace/runs/engine.ts'
import { findPgbench, measured, median, throughPgbench } from './kit/measure.ts'

/*
 * Runs a second through an executor in the process that does nothing: what is left is the lock, the charge, the
 * creator's share, the row and what it leaves for the figures. Against pgbench with the very same statements, one run
 * at a time per connection in two transactions, on the same server in turns, every commit flushed. Then over HTTP: the
 * service as a process of its own, `sandbox/echo` instead of nothing, asked by this one.
 */

const WALLETS = 1000
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 6)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3)
const AT_ONCE = (process.env['BENCH_AT_ONCE'] ?? '1,16,64').split(',').map(Number)
const PRICE = usdc(1000n)
const RDA = 'rda_bench'
const CREATOR = 'usr_benchcreator'

const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-bench-'))
const embedded = process.env['BENCH_DATABASE_URL'] === undefined ? await startEmbedded({ dataDir: folder }) : null
const url = process.env['BENCH_DATABASE_URL'] ?? embedded?.url ?? ''
await migrate(url)
const database = openDatabase({ url, poolMax: 16 })
try {
  await inProcess(database)
  await overHttp()
} finally {
  await database.close()
  await embedded?.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function inProcess(database: Database): Promise<void> {
  const asset = assetOf(RDA, CREATOR, perRun(PRICE))
  const executor = { execute: () => Promise.resolve({ output: 'done', usage: null }) }
  const engine = createEngine(database.statements, { executor, asset: () => asset })
  const accounts = await makeWallets(engine, database)
  const pgbench = findPgbench()
  const folding = setInterval(() => void engine.runs.foldStats(), 1_000)
  const cases = [true, false].flatMap((spread) =>
    AT_ONCE.map((atOnce) => ({ spread, atOnce, runs: [] as number[], pgbench: [] as number[] })),
  )
  for (let round = 0; round < ROUNDS; round++) {
    for (const one of cases) {
      one.runs.push(await throughRuns(engine, one.atOnce, one.spread))
      if (pgbench === null) continue
      const script = { file: path.join(folder, 'run.sql'), text: scriptOf(accounts, one.spread), url }
      one.pgbench.push(throughPgbench(pgbench, script, one.atOnce, SECONDS))
    }
  }
  console.log('| runs, no-op executor | at once | a second | pgbench | ratio |\n| --- | ---: | ---: | ---: | ---: |')
  for (const { spread, atOnce, runs, pgbench: theirs } of cases) {
    const name = spread ? `${String(WALLETS)} wallets` : 'one hot wallet'
    const compared =
      theirs.length === 0
        ? '- | -'
        : `${median(theirs).toFixed(0)} | ${median(runs.map((rate, round) => rate / (theirs[round] ?? 0))).toFixed(2)}`
    console.log(`| ${name} | ${String(atOnce)} | ${median(runs).toFixed(0)} | ${compared} |`)
  }
  clearInterval(folding)
  await engine.runs.foldStats()
  await engine.runs.stop()
  const differences = await engine.ledger.differences()
  console.log(
    differences.length === 0 ? 'The ledger is sound.' : `DIFFERENCES: ${JSON.stringify(differences.slice(0, 5))}`,
  )
}

async function throughRuns({ runs }: Engine, atOnce: number, spread: boolean): Promise<number> {
  const end = performance.now() + SECONDS * 1000
  let started = 0
  let done = 0
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (performance.now() < end) {
        const caller = callerOf(ownerName(spread ? (started++ * 7919) % WALLETS : 0))
        const run = await runs.run(caller, askFor(RDA), { operation: operation(), keyed: false })
        if (run.state !== 'succeeded') throw new Error(`a run ended ${run.state}`)
        done++
      }
    }),
  )
  return done / SECONDS
}

/** The service's statements with arrays of one; each connection posts to a stripe of its own. */
function scriptOf(accounts: Accounts, spread: boolean): string {
  const wallet = spread ? ':wallet' : String(accounts.first)
  const id = `'pgb_' || :client_id || '_' || :mark`
  const hash = `decode('00', 'hex')`
  const far = `'2100-01-01'::timestamptz`
  const price = String(PRICE)
  const text = (value: string): string => `'${value}'`
  const reserve = fill(RESERVE, [id, hash, wallet, 'NULL', price, far, 'NULL', 'now()'])
  const begin = fill(BEGIN, [
    id,
    text('sandbox'),
    text('usr_bench0'),
    text('usr_bench0'),
    text(RDA),
    text('rda-bench'),
    text('tool'),
    text('1.0.0'),
    text(CREATOR),
    text('usr_bench0'),
    text('running'),
    price,
    price,
    'NULL',
    text('{}'),
    'NULL',
    text('process'),
    far,
    'now()',
    'now()',
    'NULL',
    'false',
  ])
  const end = fill(END, [
    id,
    hash,
    text('captured'),
    text('capture'),
    price,
    `(ARRAY[${accounts.revenue.join()}]::bigint[])[:client_id % 16 + 1]`,
    String(accounts.redeemed),
    id,
    'now()',
    '1',
    String(accounts.creator),
    price,
  ])
  const endRuns = fill(END_RUNS, [
    id,
    text('succeeded'),
    price,
    'NULL',
    'NULL',
    text('done'),
    'NULL',
    'NULL',
    'now()',
    '0',
    'true',
  ])
  return [
    `\\set wallet random(0, ${String(WALLETS - 1)}) * 4 + ${String(accounts.first)}`,
    '\\set mark random(1, 9000000000000000000)',
    'BEGIN;',
    `${reserve};`,
    `${begin};`,
    'COMMIT;',
    'BEGIN;',
    `${end};`,
    `${endRuns};`,
    'COMMIT;',
  ].join('\n')
}

function fill(statement: string, values: readonly string[]): string {
  return statement.replaceAll(/\$(\d+)::(\w+)\[\]/g, (_, place: string, type: string) => {
    const value = values[Number(place) - 1] ?? ''
    return value === '' ? `ARRAY[]::${type}[]` : `ARRAY[${value}]::${type}[]`
  })
}

async function makeWallets({ ledger }: Engine, database: Database): Promise<Accounts> {
  for (let count = 0; count < WALLETS; count++) await fund(ledger, ownerName(count), 9_000_000_000_000n)
  await fund(ledger, CREATOR, 0n)
  await database.statements.run(`INSERT INTO rda_creator (user_id, subject) VALUES ($1, $1)`, [CREATOR])
  await database.statements.run(
    `INSERT INTO rda (id, environment, slug, owner_id, type, name, description, version, pricing_model, pricing_amount, created_at, updated_at)
     VALUES ($1, 'sandbox', 'rda-bench', $2, 'tool', 'Bench', 'Does nothing', '1.0.0', 'per-run', $3, now(), now())`,
    [RDA, CREATOR, PRICE],
  )
  const [row] = await database.statements.run<Accounts>(
    `SELECT min(id) FILTER (WHERE owner = $1 AND kind = 'wallet') AS first,
            min(id) FILTER (WHERE owner = $2 AND kind = 'wallet') AS creator,
            array_agg(id ORDER BY stripe) FILTER (WHERE owner = 'platform' AND kind = 'revenue') AS revenue,
            min(id) FILTER (WHERE owner = 'platform' AND kind = 'redeemed') AS redeemed
     FROM ledger_account WHERE environment = 'sandbox'`,
    [ownerName(0), CREATOR],
  )
  if (row === undefined) throw new Error('no wallets were made')
  return row
}

interface Accounts {
  first: bigint
  creator: bigint
  revenue: bigint[]
  redeemed: bigint
}

function ownerName(count: number): string {
  return `usr_bench${String(count)}`
}

async function overHttp(): Promise<void> {
  const port = 4962
  const key = `csk_test_${'b'.repeat(43)}`
  const origin = `http://127.0.0.1:${String(port)}`
  const dataDir = path.join(folder, 'http')
  const service = spawn(process.execPath, ['--import', './service/launch/typescript.mjs', 'service/main.ts'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      DATA_DIR: dataDir,
      PORT: String(port),
      DEMO_API_KEY: key,
      RATE_API_PER_MINUTE: '0',
      LOG_LEVEL: 'warn',
    },
  })
  const agent = new Agent({ connections: 64 })
  const send = async (method: 'GET' | 'POST', at: string, body?: unknown): Promise<number> => {
    const answer = await request(origin + at, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      dispatcher: agent,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    await answer.body.dump()
    return answer.statusCode
  }
  try {
    while ((await send('GET', '/v1/me').catch(() => 0)) !== 200) await new Promise((resolve) => setTimeout(resolve, 50))
    const rda = {
      slug: 'bench',
      type: 'prompt',
      name: 'Bench',
      description: 'Says it back',
      inputSchema: [{ name: 'say', label: 'Say', type: 'text', required: true }],
      promptConfig: { promptTemplate: '{{say}}', allowedModels: ['sandbox/echo'] },
      pricing: { model: 'per-run', amount: 0.001 },
    }
    const statuses = await Promise.all([
      send('POST', '/v1/rda', rda),
      send('POST', '/v1/wallet/deposit', { amount: 1e6 }),
    ])
    if (statuses.join() !== '201,200') throw new Error(`the bench could not be set up: ${statuses.join()}`)
    console.log(
      '\n| POST /v1/run, sandbox/echo | at once | a second | p50 ms | p99 ms |\n| --- | ---: | ---: | ---: | ---: |',
    )
    for (const atOnce of AT_ONCE) {
      const { rate, p50, p99 } = await measured(
        async () => {
          const status = await send('POST', '/v1/run', { rdaSlug: 'bench', inputs: { say: 'hello there' } })
          if (status !== 200) throw new Error(`POST /v1/run answered ${String(status)}`)
        },
        atOnce,
        SECONDS,
      )
      console.log(`| one caller | ${String(atOnce)} | ${rate.toFixed(0)} | ${p50.toFixed(2)} | ${p99.toFixed(2)} |`)
    }
  } finally {
    await agent.close()
    const exited = new Promise((resolve) => service.once('exit', resolve))
    service.kill('SIGTERM')
    await exited
  }
}
