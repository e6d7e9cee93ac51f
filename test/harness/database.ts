import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { openDatabase, type Database } from '../../service/database/client.ts'
import { TEST_SERVER, type TestServer } from './server.ts'

export interface TestDatabase extends Database {
  readonly url: string
  /** The same database as another process has it, with connections of its own. */
  another(): Database
}

/** A database for one test file, with all migrations applied; `close` drops it. */
export async function testDatabase({ poolMax = 10 } = {}): Promise<TestDatabase> {
  const { adminUrl, template, owner, strategy } = testServer()
  const name = `test_${randomBytes(6).toString('hex')}`
  await asAdmin(adminUrl, `create database ${name} template ${template} owner ${owner} strategy ${strategy}`)
  return openTestDatabase(databaseUrl(name), { poolMax })
}

/** One that is there already; `close` drops it. */
export function openTestDatabase(url: string, { poolMax = 10 } = {}): TestDatabase {
  const name = new URL(url).pathname.slice(1)
  const database = openDatabase({ url, poolMax, strict: true })
  const opened = [database]
  return {
    ...database,
    url,
    another() {
      const another = openDatabase({ url, poolMax, strict: true })
      opened.push(another)
      return another
    },
    close: async () => {
      for (const one of opened) await one.close()
      await asAdmin(testServer().adminUrl, `drop database ${name} with (force)`)
    },
  }
}

/** The address of a database on the tests' server, as the role that owns what the tests make. */
function databaseUrl(name: string): string {
  const url = new URL(testServer().ownerUrl)
  url.pathname = `/${name}`
  return url.href
}

/** An empty database, for tests that create their own tables. */
export async function emptyDatabase(): Promise<{ url: string; adminUrl: string; drop(): Promise<void> }> {
  const { adminUrl, owner } = testServer()
  const name = `empty_${randomBytes(6).toString('hex')}`
  await asAdmin(adminUrl, `create database ${name} owner ${owner} strategy wal_log`)
  const ofAdmin = new URL(adminUrl)
  ofAdmin.pathname = `/${name}`
  return {
    url: databaseUrl(name),
    adminUrl: ofAdmin.href,
    drop: () => asAdmin(adminUrl, `drop database ${name} with (force)`),
  }
}

function testServer(): TestServer {
  const server = process.env[TEST_SERVER]
  if (server === undefined) throw new Error('The tests have no database server: run them through jest.config.mjs.')
  return JSON.parse(server) as TestServer
}

async function asAdmin(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
