import { PrismaPg } from '@prisma/adapter-pg'
import { ColumnTypeEnum } from '@prisma/driver-adapter-utils'
import pg from 'pg'
import { shadowPool } from './shadow.mjs'

/**
 * The engine's way to its databases: the one of the URL, and shadow databases in memory.
 * The adapter's own
 * `connectToShadowDb` is not used: given a connection string it answers with the main database, and the
 * engine empties what it believes to be a shadow.
 */
export function databases(url, needed) {
  let embedded
  return {
    provider: 'postgres',
    adapterName: '@prisma/adapter-pg',
    connect: async () => {
      // The engine asks its main database for a version even for what reads none, as a diff of two schemas.
      if (isEmbedded(url) && !needed) return inMemory()
      if (isEmbedded(url)) embedded ??= startEmbedded()
      const connectionString = embedded === undefined ? url : (await embedded).url
      return adapter(new pg.Pool({ connectionString }))
    },
    connectToShadowDb: inMemory,
    close: async () => (await embedded)?.stop(),
  }
}

async function inMemory() {
  return adapter(await shadowPool())
}

async function adapter(pool) {
  return readingChars(await new PrismaPg(pool, { disposeExternalPool: true }).connect())
}

/** The adapter refuses the one-byte "char" of PostgreSQL's catalogue, which the engine reads all the time. */
function readingChars(adapter) {
  const chars = new WeakMap()
  const performIO = adapter.performIO.bind(adapter)
  const queryRaw = adapter.queryRaw.bind(adapter)
  adapter.performIO = async (query) => {
    const result = await performIO(query)
    const found = result.fields.filter((field) => field.dataTypeID === pg.types.builtins.CHAR)
    chars.set(
      query,
      found.map((field) => result.fields.indexOf(field)),
    )
    for (const field of found) field.dataTypeID = pg.types.builtins.TEXT
    return result
  }
  adapter.queryRaw = async (query) => {
    const result = await queryRaw(query)
    for (const column of chars.get(query)) result.columnTypes[column] = ColumnTypeEnum.Character
    return result
  }
  return adapter
}

export async function canConnect(url) {
  if (isEmbedded(url)) return
  const client = new pg.Client({ connectionString: url })
  try {
    await client.connect()
    await client.query('select 1')
  } catch (error) {
    throw error.code === '3D000'
      ? coded('P1003', error.message)
      : coded('P1001', `Can't reach the database: ${error.message}`)
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

function isEmbedded(url) {
  return new URL(url).hostname === 'embedded'
}

async function startEmbedded() {
  const built = new URL('../../service/dist/database/embedded.js', import.meta.url)
  const { attachOrStart } = await import(built.href).catch(() => {
    throw new Error('Run `npm run build` first, or set DATABASE_URL.')
  })
  return attachOrStart({ dataDir: process.env.DATA_DIR || new URL('../../.coinslot', import.meta.url).pathname })
}

function coded(code, message) {
  return Object.assign(new Error(message), { code })
}
