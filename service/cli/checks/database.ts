import { existsSync } from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import type { Address } from '../../chain/model.ts'
import type { Config } from '../../config.ts'
import { attachOrStart } from '../../database/embedded/database.ts'
import { isUpToDate } from '../../database/migrate.ts'
import { DomainError } from '../../kit/errors.ts'
import { vaultOf } from '../../vault/vault.ts'
import { keyringOf, oneOfEach, type Run } from '../sealed.ts'
import { sponsorsOf } from './chain.ts'
import { fault, fine, reasonOf, warning, type Finding, type CheckContext } from './model.ts'
import { checkBackups, checkLedger } from './upkeep.ts'

/** Whether PostgreSQL is there, keeps what it promises, has our tables, and our vault's key opens what is in them. */
export async function checkDatabase(patient: CheckContext): Promise<readonly Finding[]> {
  const { config } = patient
  if (config.DATABASE_URL === undefined && !existsSync(path.join(config.DATA_DIR, 'postgres'))) {
    const says = `DATABASE_URL is not set, and there is no embedded database in ${config.DATA_DIR} yet: the first start makes one.`
    return [config.LIVE ? fault('database', says) : warning('database', says)]
  }
  const embedded = config.DATABASE_URL === undefined ? await attachOrStart({ dataDir: config.DATA_DIR }) : null
  const pool = new pg.Pool({
    connectionString: config.DATABASE_URL ?? embedded?.url ?? '',
    max: 1,
    connectionTimeoutMillis: 5_000,
    query_timeout: 10_000,
  })
  pool.on('error', () => undefined)
  try {
    await pool.query('select 1')
  } catch (error) {
    await pool.end()
    await embedded?.stop()
    return [fault('database', `The database cannot be reached: ${reasonOf(error)}. Check DATABASE_URL and the server.`)]
  }
  try {
    return [
      ...(config.LIVE && embedded !== null
        ? [warning('database', 'LIVE uses the embedded database: it has no replica, and backups are yours to make.')]
        : []),
      ...settings(await settingsOf(pool), config),
      await migrations(pool, config),
      await clock(pool, patient.now),
      ...(await sealed(pool, config)),
      ...(await payouts(pool, config)),
      ...(await checkLedger(pool, patient.now)),
      ...(await checkBackups(pool, config, patient.now)),
      ...(await operators(pool, config)),
      ...(config.LIVE ? [await catalogue(pool)] : []),
    ]
  } finally {
    await pool.end()
    await embedded?.stop()
  }
}

/** A live server may start without tools, and then offers none. */
async function catalogue(pool: pg.Pool): Promise<Finding> {
  try {
    const { rows } = await pool.query<{ count: number }>(
      "SELECT count(*)::int AS count FROM tool WHERE environment = 'production' AND status <> 'removed'",
    )
    const count = rows[0]?.count ?? 0
    return count === 0
      ? warning('catalogue', 'No tool can be called. Import one: npm run tools -- import github --key-file <file>')
      : fine('catalogue', `${String(count)} tools can be called.`)
  } catch (error) {
    return warning('catalogue', `Could not be read: ${reasonOf(error)}`)
  }
}

/** Only the operator that a payment in the escrow names can capture it or give it back. */
async function operators(pool: pg.Pool, config: Config): Promise<Finding[]> {
  const own = await sponsorsOf(config)
  if (own.length === 0) return []
  const { rows } = await pool.query<{ operator: string; count: number }>(
    `SELECT '0x' || encode(f.operator, 'hex') AS operator, count(*)::int AS count
     FROM sale s JOIN facilitator_settlement f ON f.digest = s.digest
     WHERE s.escrow IS NOT NULL AND s.state IN ('held', 'settling') AND f.operator IS NOT NULL GROUP BY 1`,
  )
  return rows
    .filter(({ operator }) => !own.includes(operator as Address))
    .map(({ operator, count }) =>
      fault(
        'escrow',
        `${String(count)} open payments wait in the escrow for ${operator}, whose key is not in SPONSOR_PRIVATE_KEYS. Put it back until they have ended.`,
      ),
    )
}

type Settings = Record<
  'fsync' | 'full_page_writes' | 'synchronous_commit' | 'server_encoding' | 'default_transaction_read_only',
  string
> & { version: number; connections: number; reserved: number; taken: number; standby: boolean; superuser: boolean }

async function settingsOf(pool: pg.Pool): Promise<Settings> {
  const { rows } = await pool.query<Settings>(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('fsync') AS fsync,
            current_setting('full_page_writes') AS full_page_writes,
            current_setting('synchronous_commit') AS synchronous_commit,
            current_setting('server_encoding') AS server_encoding,
            current_setting('default_transaction_read_only') AS default_transaction_read_only,
            current_setting('max_connections')::int AS connections,
            current_setting('superuser_reserved_connections')::int AS reserved,
            (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')::int AS taken,
            pg_is_in_recovery() AS standby,
            (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS superuser`,
  )
  const [row] = rows
  if (row === undefined) throw new Error('the server did not report its settings')
  return row
}

function settings(found: Settings, config: Config): Finding[] {
  const version = `PostgreSQL ${String(Math.floor(found.version / 10_000))}`
  const free = found.connections - found.reserved - found.taken
  const unsafe = (['fsync', 'full_page_writes', 'synchronous_commit'] as const).filter((name) => found[name] === 'off')
  return [
    found.version >= OLDEST
      ? fine('database', `${version} answers.`)
      : fault('database', `${version} is too old: 15 or newer is needed.`),
    unsafe.length === 0
      ? fine('database durability', 'What is committed is on disk.')
      : fault(
          'database durability',
          `${unsafe.join(', ')} is off: a crash of the server loses payments that were answered. Turn it on.`,
        ),
    found.server_encoding === 'UTF8'
      ? fine('database encoding', 'UTF8.')
      : fault('database encoding', `The database is encoded in ${found.server_encoding}: make one in UTF8.`),
    found.standby || found.default_transaction_read_only === 'on'
      ? fault('database role', 'The server is read-only: DATABASE_URL must name the primary.')
      : found.superuser
        ? warning('database role', 'The service connects as a superuser: a role that owns its database is enough.')
        : fine('database role', 'Connects to a primary, as a role without special rights.'),
    free >= config.DATABASE_POOL
      ? fine(
          'database connections',
          `${String(free)} of ${String(found.connections)} are free, DATABASE_POOL is ${String(config.DATABASE_POOL)}.`,
        )
      : fault(
          'database connections',
          `Only ${String(free)} of ${String(found.connections)} connections are free, and each process uses up to DATABASE_POOL (${String(config.DATABASE_POOL)}) and a few for the queue.`,
        ),
  ]
}

/** Nothing to say of a database that has no such table yet: the check of the migrations says why. */
async function payouts(pool: pg.Pool, config: Config): Promise<Finding[]> {
  if (config.PAYOUTS === 'off') return [warning('payouts', 'PAYOUTS is off: no money leaves until it is removed.')]
  const { rows } = await pool.query<{ there: boolean }>(`SELECT to_regclass('outflow_switch') IS NOT NULL AS there`)
  if (rows[0]?.there !== true) return []
  const { rows: switches } = await pool.query<{ paused: boolean }>('SELECT paused FROM outflow_switch')
  return switches[0]?.paused === true
    ? [warning('payouts', 'An operator has paused payouts. Resume them with: npm run admin -- payouts on')]
    : [fine('payouts', 'Payouts are on, within the limits.')]
}

async function migrations(pool: pg.Pool, { NEWER_DATABASE: newer }: Config): Promise<Finding> {
  try {
    return (await isUpToDate(pool))
      ? fine('database migrations', 'All are applied.')
      : fault('database migrations', 'Some are missing: run "npm run migrate" before the new version starts.')
  } catch (error) {
    const isMeant = newer === 'allowed' && error instanceof DomainError && error.code === 'migration_unknown'
    return (isMeant ? warning : fault)('database migrations', reasonOf(error))
  }
}

/** Leases and due times are the processes' own clocks: beyond a second they work against each other. */
async function clock(pool: pg.Pool, now: () => number): Promise<Finding> {
  const sent = now()
  const { rows } = await pool.query<{ at: string }>(`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::text AS at`)
  const skewMs = Math.abs(Number(rows[0]?.at) - (sent + now()) / 2)
  const seconds = (skewMs / 1_000).toFixed(1)
  return skewMs <= SKEW_MS
    ? fine('database clock', `Agrees with this machine's to ${seconds} s.`)
    : fault(
        'database clock',
        `Is ${seconds} s off this machine's: leases need clocks that agree to a second. Run NTP on both.`,
      )
}

/** Every key that something is sealed with has to be known, and one secret of each kind has to open. */
async function sealed(pool: pg.Pool, config: Config): Promise<Finding[]> {
  try {
    const run: Run = async <Row>(text: string, values: readonly unknown[]) =>
      (await pool.query(text, [...values])).rows as Row[]
    const found = await oneOfEach(run)
    const keyring = await keyringOf(config)
    if (keyring === null) {
      const says =
        'VAULT_KEY is not set: the first process creates a key for itself, and other processes create different ones.'
      return [
        found.length === 0 ? warning('vault', says) : fault('vault', `VAULT_KEY is not set, and secrets are sealed.`),
      ]
    }
    const vault = vaultOf(keyring)
    for (const { token, context, place } of found) {
      try {
        vault.open(token, context)
      } catch (error) {
        return [fault('vault', `VAULT_KEY does not open what is stored in ${place}: ${reasonOf(error)}`)]
      }
    }
    const old = found.filter(({ token }) => vault.needsRotation(token)).length
    const tried = `${String(found.length)} stored secrets were opened`
    return [
      fine('vault', found.length === 0 ? 'The key is valid; nothing is sealed yet.' : `${tried}.`),
      ...(old > 0
        ? [
            warning(
              'vault',
              'Some are sealed with an old key: keep it in VAULT_OLD_KEYS until npm run admin -- seal-again has sealed them with the newest one.',
            ),
          ]
        : []),
    ]
  } catch (error) {
    if ((error as { code?: string }).code === '42P01') return [warning('vault', 'There are no tables to check yet.')]
    return [fault('vault', `What is stored cannot be checked: ${reasonOf(error)}`)]
  }
}

const OLDEST = 150_000
const SKEW_MS = 1_000
