import { PrismaPg } from '@prisma/adapter-pg'
import { ColumnTypeEnum } from '@prisma/driver-adapter-utils'
import pg from 'pg'
import { memoryPool } from './memory.mjs'

/**
 * The engine's way to its databases: the one of the URL, and shadow databases in memory. The adapter's own
 * `connectToShadowDb` is not used: given a connection string it answers with the main database, and the
 * engine empties what it believes to be a shadow.
 */
export function databases(url, needed) {
  return {
    provider: 'postgres',
    adapterName: '@prisma/adapter-pg',
    // The engine asks its main database for a version even for what reads none, as a diff of two schemas.
    connect: async () => adapter(needed ? new pg.Pool({ connectionString: url }) : await memoryPool()),
    connectToShadowDb: async () => adapter(await memoryPool()),
  }
}

export async function canConnect(url) {
  const client = new pg.Client({ connectionString: url })
  try {
    await client.connect()
    await client.query('select 1')
  } catch (error) {
    const code = error.code === '3D000' ? 'P1003' : 'P1001'
    throw Object.assign(new Error(`Can't reach the database: ${error.message}`), { code })
  } finally {
    await client.end().catch(() => undefined)
  }
}

export async function createDatabase(url) {
  const target = new URL(url)
  const name = decodeURIComponent(target.pathname.slice(1))
  target.pathname = '/postgres'
  const client = new pg.Client({ connectionString: target.href })
  await client.connect()
  try {
    await client.query(`create database ${client.escapeIdentifier(name)}`)
  } finally {
    await client.end()
  }
  return { databaseName: name }
}

/**
 * The adapter with two faults mended: it refuses the one-byte "char" of PostgreSQL's catalogue, which the
 * engine reads all the time, and it cuts a script at every semicolon, also those in the bodies of functions.
 */
async function adapter(pool) {
  const adapter = await new PrismaPg(pool, { disposeExternalPool: true }).connect()
  adapter.executeScript = async (script) => {
    await pool.query(script).catch((error) => adapter.onError(error))
  }
  const performIO = adapter.performIO.bind(adapter)
  const queryRaw = adapter.queryRaw.bind(adapter)
  const charColumns = new WeakMap()
  adapter.performIO = async (query) => {
    const result = await performIO(query)
    const chars = result.fields.filter((field) => field.dataTypeID === pg.types.builtins.CHAR)
    charColumns.set(
      query,
      chars.map((field) => result.fields.indexOf(field)),
    )
    for (const field of chars) field.dataTypeID = pg.types.builtins.TEXT
    return result
  }
  adapter.queryRaw = async (query) => {
    const result = await queryRaw(query)
    for (const column of charColumns.get(query)) result.columnTypes[column] = ColumnTypeEnum.Character
    return result
  }
  return adapter
}
