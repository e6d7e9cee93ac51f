import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { startEmbedded, type Embedded } from '../../service/database/embedded/database.ts'
import { quickFolder } from './memory.ts'
import { fillFolder } from './prepared-cluster.ts'

/** The one database server of a test run, and the database that the others are copied from. */
export interface TestServer {
  readonly adminUrl: string
  readonly ownerUrl: string
  readonly owner: string
  readonly template: string
  /**
   * How the template is copied. FILE_COPY begins with a checkpoint: on a server that doesn't wait for a disk it takes a
   * fifth of the time of WAL_LOG; on a developer's own server it would hold up everything else meanwhile.
   */
  readonly strategy: 'file_copy' | 'wal_log'
}

/** Passed through the environment: each of Jest's workers is a process of its own. */
export const TEST_SERVER = 'COINSLOT_TEST_SERVER'

/**
 * TEST_DATABASE_URL names an existing server, with a role that may create databases; without it, an embedded server
 * starts.
 */
export async function startTestServer(
  existingUrl: string | undefined,
): Promise<{ server: TestServer; stop(): Promise<void> }> {
  if (existingUrl !== undefined && existingUrl !== '') return onExistingServer(existingUrl)
  const dataDir = mkdtempSync(path.join(await quickFolder(PREFIX), PREFIX))
  const start = (): Promise<Embedded> => startEmbedded({ dataDir, settings: NOT_DURABLE })
  const template = 'coinslot'
  await fillFolder(dataDir, async () => {
    const making = await start()
    await fill(making.url)
    await making.stop()
  })
  const embedded = await start()
  return {
    server: { adminUrl: embedded.adminUrl, ownerUrl: embedded.url, owner: 'coinslot', template, strategy: 'file_copy' },
    stop: async () => {
      await embedded.stop()
      rmSync(dataDir, { recursive: true })
    },
  }
}

const PREFIX = 'coinslot-test-'

/** The tests' rows need not outlive them; tests about crashes use servers of their own. */
const NOT_DURABLE = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_wal_size: '256MB',
  max_connections: '200',
  // A test opens dozens of connections, and 4,096 rounds for each take longer than what it asks.
  scram_iterations: '1',
}

/** Everything that a service would make in an empty database: each test's has it already. */
async function fill(url: string): Promise<void> {
  // Loading these takes longer than copying a folder that has their tables.
  const { migrate } = await import('../../service/database/migrate.ts')
  const { migrateQueue } = await import('../../service/queue/backends/postgres.ts')
  await migrate(url)
  const pool = new pg.Pool({ connectionString: url })
  const closed: Promise<unknown>[] = []
  pool.on('connect', (client) => closed.push(once(client, 'end')))
  await migrateQueue(pool)
  await pool.end()
  // The pool does not wait for this, and a server that stops before would end this process with an error.
  await Promise.all(closed)
}

async function onExistingServer(existingUrl: string): Promise<{ server: TestServer; stop(): Promise<void> }> {
  const admin = new pg.Client({ connectionString: existingUrl })
  await admin.connect()
  const template = `template_${randomBytes(6).toString('hex')}`
  await admin.query(`create database ${template}`)
  const url = new URL(existingUrl)
  url.pathname = `/${template}`
  await fill(url.href)
  const { rows } = await admin.query<{ owner: string }>('select quote_ident(current_user) as owner')
  return {
    server: {
      adminUrl: existingUrl,
      ownerUrl: existingUrl,
      owner: rows[0]?.owner ?? '',
      template,
      strategy: 'wal_log',
    },
    stop: async () => {
      await admin.query(`drop database ${template} with (force)`)
      await admin.end()
    },
  }
}
