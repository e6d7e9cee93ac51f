import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { runChecks } from '../../service/cli/checks/all.ts'
import { readConfig } from '../../service/config.ts'
import { withDatabase } from '../../service/cli/command/run.ts'
import { startEmbedded } from '../../service/database/embedded/database.ts'
import { migrate } from '../../service/database/migrate.ts'
import { findDifferences } from '../../service/ledger/store/check.ts'
import { findPassDifferences } from '../../service/passes/store.ts'
import { findRefundDifferences } from '../../service/refunds/store.ts'
import { loadOrMakeKey, parseKeyring } from '../../service/vault/keyring.ts'
import { Secret } from '../../service/vault/secret.ts'
import { vaultOf } from '../../service/vault/vault.ts'
import { emptyDatabase } from '../harness/database.ts'
import { freePort } from '../harness/ports.ts'
import { ServiceProcess } from '../harness/process.ts'
import { fillVersion } from './versions/fill.ts'
import { KEY, LOST_RUN } from './versions/names.ts'
import { OWN_ROWS, rowsOf } from './versions/rows.ts'

const MIGRATIONS = path.resolve(import.meta.dirname, '../../prisma/migrations')

/** The last migration of each version, spread over the history; the newest tables are filled by the last. */
const EVERY_VERSION = [
  '20261121180000_paywall',
  '20261122120000_sandbox_messages',
  '20261122190000_customer_runs',
  '20261123020000_gas_of_callers',
  '20261123100200_sign_ins',
  '20261124083000_escrow',
  '20261124124100_invoices',
  '20261126030201_payment_request',
]
/** The oldest, and one with money in the escrow. */
const EMBEDDED = [EVERY_VERSION[0]!, EVERY_VERSION[5]!]
/** The newest: the other two are upgraded by the same statements on an embedded one. `npm run prove -- long` takes all. */
const ON_SERVER = process.env['LONG'] === 'true' ? EVERY_VERSION : [EVERY_VERSION.at(-1)!]

const known = readdirSync(MIGRATIONS)

describe('a database of an earlier version', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-versions-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test.each(ON_SERVER)('%s becomes one of this version, on a server', async (version) => {
    const database = await emptyDatabase()
    try {
      const dataDir = path.join(folder, version)
      await upgrade(database.url, { version, dataDir })
      await works({ DATABASE_URL: database.url, DATA_DIR: dataDir })
    } finally {
      await database.drop()
    }
  })

  test.each(EMBEDDED)('%s becomes one of this version, embedded', async (version) => {
    const dataDir = path.join(folder, `embedded-${version}`)
    const embedded = await startEmbedded({ dataDir })
    try {
      await upgrade(embedded.url, { version, dataDir })
    } finally {
      await embedded.stop()
    }
    // It migrates by itself; the doctor and the check of the ledger look at the running server.
    await works({ DATA_DIR: dataDir })
  })

  /** Makes a database of the version, fills it, and takes it to this version; no row may be lost on the way. */
  async function upgrade(url: string, { version, dataDir }: { version: string; dataDir: string }): Promise<void> {
    expect(known).toContain(version)
    const earlier = mkdtempSync(path.join(folder, 'migrations-'))
    for (const name of known.filter((each) => each <= version)) {
      cpSync(path.join(MIGRATIONS, name), path.join(earlier, name), { recursive: true })
    }
    await migrate(url, earlier)
    const vault = vaultOf(parseKeyring(await loadOrMakeKey(dataDir)))
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      const before = await fillVersion(
        client,
        rowsOf((plain, context) => vault.seal(new Secret(plain), context)),
      )
      const empty = [...before].filter(([, count]) => count === 0).map(([table]) => table)
      // A table that a version brings needs a row here, so that its upgrade is tested.
      expect(empty.filter((table) => !OWN_ROWS.includes(table))).toEqual([])
      await migrate(url)
      await lostNothing(client, before)
    } finally {
      await client.end()
    }
  }
})

/** Sales were in a table of each product once; every one of them is in the one of today. */
const MOVED = ['tool_payment', 'checkout_payment', 'paywall_payment', 'paywall_answer']

async function lostNothing(client: pg.Client, before: ReadonlyMap<string, number>): Promise<void> {
  let moved = 0
  for (const [table, count] of before) {
    if (MOVED.includes(table)) {
      const { rows } = await client.query('SELECT to_regclass($1) AS there', [table])
      if ((rows as [{ there: string | null }])[0].there === null) {
        moved += table === 'paywall_answer' ? 0 : count
        continue
      }
    }
    const { rows } = await client.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`)
    if (table === 'sale') moved += count
    expect({ table, lost: Math.max(0, count - rows[0]!.count) }).toEqual({ table, lost: 0 })
  }
  const { rows } = await client.query<{ count: number }>('SELECT count(*)::int AS count FROM sale')
  expect(rows[0]!.count).toBe(moved)
}

/** The service of this version starts on it, an old key runs an old asset and is charged, and all sums agree. */
async function works(database: Record<string, string>): Promise<void> {
  const port = String(await freePort())
  const settings = { ...database, PORT: port, RATE_API_PER_MINUTE: '0', TOOLS_SHIPPED: 'false' }
  const service = new ServiceProcess(settings)
  try {
    await service.waitFor(/http:\/\/localhost:\d+/)
    const address = `http://localhost:${port}`
    const call = async (at: string, body?: object): Promise<[number, Record<string, unknown>]> => {
      const response = await fetch(address + at, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
      })
      return [response.status, (await response.json()) as Record<string, unknown>]
    }
    expect((await call('/readyz'))[0]).toBe(200)
    const { findings } = await runChecks(() => readConfig(settings))
    // The tests' server writes nothing to disk at a commit, to be fast.
    const faults = findings.filter(({ level, check }) => level === 'fault' && check !== 'database durability')
    expect(faults).toEqual([])

    const [, lost] = await until(
      () => call(`/v1/runs/${LOST_RUN}`),
      ([, { run }]) => ['failed', 'succeeded'].includes((run as { status: string }).status),
    )
    expect(lost).toMatchObject({ run: { status: 'failed', cost: 0 } })
    const wallet = async () => (await call('/v1/wallet/balance'))[1]['wallet'] as Record<string, number>
    expect(await until(wallet, ({ totalLocked }) => totalLocked === 0)).toMatchObject({
      balance: 24.98,
      totalSpent: 0.02,
    })
    const run = await call('/v1/run', { rdaSlug: 'old-outline', inputs: { topic: 'Ships' } })
    expect(run).toEqual([200, expect.objectContaining({ cost: 0.02 })])
    expect(await wallet()).toMatchObject({ balance: 24.96, totalLocked: 0, totalSpent: 0.04 })
    await sound(database)
  } finally {
    service.kill('SIGTERM')
    await service.ended()
  }
}

async function until<T>(read: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read()
    if (holds(value)) return value
    await new Promise(setImmediate)
  }
}

/** Every balance is what its postings give; passes and refunds are what their sales give. */
async function sound(settings: Record<string, string>): Promise<void> {
  await withDatabase(readConfig(settings), async ({ statements }) => {
    expect(await findDifferences(statements)).toEqual([])
    expect(await findPassDifferences(statements)).toEqual([])
    expect(await findRefundDifferences(statements)).toEqual([])
    return 0
  })
}
