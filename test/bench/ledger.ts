import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openDatabase, type Database } from '../../service/database/client.ts'
import { startEmbedded } from '../../service/database/embedded/database.ts'
import { migrate } from '../../service/database/migrate.ts'
import { systemClock } from '../../service/kit/clock.ts'
import { usdc } from '../../service/kit/money.ts'
import { createLedger, type Ledger } from '../../service/ledger/service.ts'
import { createLedgerStore } from '../../service/ledger/store/ledger.ts'
import { END } from '../../service/ledger/store/end.ts'
import { RESERVE } from '../../service/ledger/store/reserve.ts'
import { findPgbench, median, throughPgbench } from './kit/measure.ts'

/*
 * Charges a second (reserve, then capture) through the ledger's own store, against pgbench with the very
 * same two statements, one charge at a time per connection, on the same server in the same run. The two take
 * turns, so that a machine that slows down slows both. Durable settings: every commit is flushed.
 */

const WALLETS = 1000
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 6)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3)
const AT_ONCE = (process.env['BENCH_AT_ONCE'] ?? '1,16,64').split(',').map(Number)

const NOTHING = { log: 0, kept: 0 }

const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-bench-'))
const embedded = process.env['BENCH_DATABASE_URL'] === undefined ? await startEmbedded({ dataDir: folder }) : null
const url = process.env['BENCH_DATABASE_URL'] ?? embedded?.url ?? ''
await migrate(url)
const database = openDatabase({ url, poolMax: 16 })
try {
  const ledger = createLedger(createLedgerStore(database.statements, systemClock), systemClock)
  const wallets = await makeWallets(ledger, database)
  const pgbench = findPgbench()
  const cases = [true, false].flatMap((spread) =>
    AT_ONCE.map((atOnce) => ({ spread, atOnce, store: [] as number[], pgbench: [] as number[], bytes: NOTHING })),
  )
  // Round by round through all of them, so that a slow minute of the machine falls on every case.
  for (let round = 0; round < ROUNDS; round++) {
    for (const one of cases) {
      const before = await written(database)
      const rate = await throughStore(ledger, one.atOnce, one.spread)
      const after = await written(database)
      one.store.push(rate)
      one.bytes = { log: (after.log - before.log) / rate / SECONDS, kept: (after.kept - before.kept) / rate / SECONDS }
      if (pgbench === null) continue
      const script = { file: path.join(folder, 'charge.sql'), text: scriptOf(wallets, one.spread), url }
      one.pgbench.push(throughPgbench(pgbench, script, one.atOnce, SECONDS))
    }
  }
  console.log(
    '| charges | at once | a second | pgbench | ratio | log, bytes each | kept, bytes each |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
  )
  for (const { spread, atOnce, store, pgbench: theirs, bytes } of cases) {
    const name = spread ? `${String(WALLETS)} wallets` : 'one hot wallet'
    const compared =
      theirs.length === 0
        ? '- | -'
        : `${median(theirs).toFixed(0)} | ${median(store.map((rate, round) => rate / (theirs[round] ?? 0))).toFixed(2)}`
    const sizes = `${bytes.log.toFixed(0)} | ${bytes.kept.toFixed(0)}`
    console.log(`| ${name} | ${String(atOnce)} | ${median(store).toFixed(0)} | ${compared} | ${sizes} |`)
  }
  const differences = await ledger.differences()
  console.log(
    differences.length === 0 ? 'The ledger is sound.' : `DIFFERENCES: ${JSON.stringify(differences.slice(0, 5))}`,
  )
  if (pgbench === null) console.log("pgbench was not found: install Debian's postgresql for the comparison.")
} finally {
  await database.close()
  await embedded?.stop()
  rmSync(folder, { recursive: true, force: true })
}

/** The database's log so far, and what the ledger's tables and indices take. */
async function written(database: Database): Promise<typeof NOTHING> {
  const [row] = await database.statements.run<{ log: bigint; kept: bigint }>(
    `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint AS log,
            sum(pg_total_relation_size(oid))::bigint AS kept
     FROM pg_class WHERE relkind = 'r' AND relname LIKE 'ledger_%'`,
    [],
  )
  return { log: Number(row?.log), kept: Number(row?.kept) }
}

async function throughStore(ledger: Ledger, atOnce: number, spread: boolean): Promise<number> {
  const end = performance.now() + SECONDS * 1000
  const mark = Math.random().toString(36).slice(2)
  let started = 0
  let done = 0
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (performance.now() < end) {
        const count = started++
        const hold = `bench_${mark}_${String(count)}`
        const owner = { userId: ownerName(spread ? (count * 7919) % WALLETS : 0), environment: 'sandbox' as const }
        const deadline = new Date(Date.now() + 60_000)
        await ledger.reserve({ id: hold, owner, amount: usdc(1000n), useCredits: false, deadline, reference: null })
        await ledger.capture({
          hold,
          owner,
          amount: usdc(1000n),
          shares: [],
          kind: 'capture',
          reference: null,
          announcements: [],
        })
        done++
      }
    }),
  )
  return done / SECONDS
}

/** The store's statements with an array of one in each parameter; each connection posts to a stripe of its own. */
function scriptOf(wallets: Wallets, spread: boolean): string {
  const wallet = spread ? ':wallet' : String(wallets.first)
  const id = `'pgb_' || :client_id || '_' || :mark`
  const hash = `decode('00', 'hex')`
  const fill = (text: string, values: readonly string[]): string =>
    text.replaceAll(/\$(\d+)::(\w+)\[\]/g, (_, place: string, type: string) => {
      const value = values[Number(place) - 1] ?? ''
      return value === '' ? `ARRAY[]::${type}[]` : `ARRAY[${value}]::${type}[]`
    })
  const far = `'2100-01-01'::timestamptz`
  const reserve = fill(RESERVE, [id, hash, wallet, 'NULL', '1000', far, 'NULL', 'now()'])
  const end = fill(END, [
    id,
    hash,
    `'captured'`,
    `'capture'`,
    '1000',
    `(ARRAY[${wallets.revenue.join()}]::bigint[])[:client_id % 16 + 1]`,
    String(wallets.redeemed),
    'NULL',
    'now()',
  ])
  return [
    `\\set wallet random(0, ${String(WALLETS - 1)}) * 4 + ${String(wallets.first)}`,
    '\\set mark random(1, 9000000000000000000)',
    `${reserve};`,
    `${end};`,
  ].join('\n')
}

async function makeWallets(ledger: Ledger, database: Database): Promise<Wallets> {
  for (let count = 0; count < WALLETS; count++) {
    const userId = ownerName(count)
    await ledger.openAccounts(userId)
    const owner = { userId, environment: 'sandbox' as const }
    const id = `fund_${userId}`
    await ledger.credit({ id, kind: 'deposit', owner, amount: usdc(9_000_000_000_000n), reference: null, act: id })
  }
  const [row] = await database.statements.run<Wallets>(
    `SELECT min(id) FILTER (WHERE owner = $1 AND kind = 'wallet') AS first,
            array_agg(id ORDER BY stripe) FILTER (WHERE owner = 'platform' AND kind = 'revenue') AS revenue,
            min(id) FILTER (WHERE owner = 'platform' AND kind = 'redeemed') AS redeemed
     FROM ledger_account WHERE environment = 'sandbox'`,
    [ownerName(0)],
  )
  if (row === undefined) throw new Error('no wallets were made')
  return row
}

interface Wallets {
  first: bigint
  revenue: bigint[]
  redeemed: bigint
}

function ownerName(count: number): string {
  return `usr_bench${String(count)}`
}
