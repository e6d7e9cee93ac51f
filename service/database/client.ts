import { createHash } from 'node:crypto'
import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import type { Log } from '../kit/log.ts'
import type { Step, Tracer } from '../kit/tracer.ts'
import {
  currentTransaction,
  watched,
  type StatementPool,
  type Statements,
  type WatchedTransaction,
} from '../kit/transaction.ts'
import { PrismaClient, type Prisma } from './generated/client.ts'

/** One connection pool with two interfaces: plain SQL for frequent statements, the Prisma client for the rest. */
export interface Database {
  readonly pool: pg.Pool
  readonly prisma: PrismaClient
  readonly statements: StatementPool
  /** Both interfaces, inside one transaction, which is rolled back and repeated as `together` is. */
  transaction<T>(work: (transaction: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>
  ping(): Promise<void>
  close(): Promise<void>
}

export interface Transaction extends Statements {
  readonly prisma: Prisma.TransactionClient
}

export interface TransactionOptions {
  /** How long it may take, and hold its locks. */
  readonly timeoutMs?: number
  readonly isolationLevel?: Prisma.TransactionIsolationLevel
}

export interface DatabaseOptions {
  readonly url: string
  readonly poolMax: number
  readonly log?: Log
  readonly tracer?: Tracer | null
  /**
   * Whether statements fail that take a second connection while a transaction holds its first. A full pool would wait for
   * itself: each transaction holds a connection that another one needs. Tests set it.
   */
  readonly strict?: boolean
}

export function openDatabase({ url, poolMax, log, tracer = null, strict = false }: DatabaseOptions): Database {
  const pool = new SharedPool(strict, {
    connectionString: url,
    max: poolMax,
    application_name: 'coinslot',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    // The system's default is two hours. A connection that a firewall dropped would seem fine until then.
    keepAliveInitialDelayMillis: 10_000,
    types: TYPES,
    ...IN_UTC,
  })
  let closing = false
  pool.on('error', ({ message }) => {
    // Only the message: the error object holds the whole connection.
    if (!closing) log?.warn({ reason: message }, 'An idle database connection was lost.')
  })
  const adapter = new PrismaPg(pool, { statementNameGenerator })
  // Also for transactions that a library opens: Prisma's own limit of 5 seconds fails a sign-up on a busy machine.
  const transactionOptions = { timeout: TRANSACTION_MS, maxWait: TRANSACTION_MS }
  const prisma = followed(new PrismaClient({ adapter, transactionOptions }), tracer)

  return {
    pool,
    prisma,
    statements: {
      ...statementsOn({ query: (statement) => pool.repeatOutdated(() => pool.query(statement)) }, tracer),
      together: (work) => pool.repeatOutdated(() => together(pool, work, tracer)),
    },
    transaction: (work, { timeoutMs = TRANSACTION_MS, isolationLevel } = {}) =>
      pool.repeatOutdated(() =>
        pool.watchConnect(async (taken) =>
          prisma.$transaction(async (tx) => work({ prisma: tx, ...statementsOn(taken(), tracer) }), {
            ...transactionOptions,
            timeout: timeoutMs,
            ...(isolationLevel === undefined ? {} : { isolationLevel }),
          }),
        ),
      ),
    ping: async () => {
      await pool.query(PING)
    },
    close: async () => {
      closing = true
      await prisma.$disconnect()
      await pool.end()
    },
  }
}

const TRANSACTION_MS = 10_000

// `query_timeout` is known to the driver and missing in its types.
const PING = { text: 'select 1', query_timeout: 2_000 }

/** A transaction without Prisma: for frequent work it costs two extra round trips and nothing else. */
async function together<T>(
  pool: SharedPool,
  work: (inside: Statements) => Promise<T>,
  tracer: Tracer | null,
): Promise<T> {
  const client = await pool.connect()
  let broken = false
  try {
    await client.query('begin')
    const result = await pool.watchWork(() => work(statementsOn(client, tracer)))
    await client.query('commit')
    return result
  } catch (error) {
    // A connection that cannot roll back is broken and must not be used again.
    await client.query('rollback').catch(() => (broken = true))
    throw error
  } finally {
    client.release(broken)
  }
}

function statementsOn(on: Queryable, tracer: Tracer | null): Statements {
  async function run<Row>(text: string, values: readonly unknown[], name?: string): Promise<Row[]> {
    const query = { text, values: [...values], ...(name === undefined ? {} : { name }) }
    return (await on.query(query)).rows as Row[]
  }
  if (tracer === null) return { run }
  return {
    run: <Row>(text: string, values: readonly unknown[], name?: string) =>
      tracer.within(toStep(name ?? firstWord(text), text), async (attributes) => {
        const rows = await run<Row>(text, values, name)
        attributes['db.response.returned_rows'] = rows.length
        return rows
      }),
  }
}

/** Only the statement's text, with its placeholders, goes into the trace. The values do not. */
function toStep(name: string, text: string): Step {
  return {
    name: `sql ${name}`,
    kind: 'client',
    attributes: { 'db.system.name': 'postgresql', 'db.query.text': text.trim() },
  }
}

function firstWord(text: string): string {
  return /[a-z]+/i.exec(text)?.[0].toLowerCase() ?? 'statement'
}

/** Prisma writes its SQL itself, so the trace has only the model and the operation. */
function followed(prisma: PrismaClient, tracer: Tracer | null): PrismaClient {
  if (tracer === null) return prisma
  const extended = prisma.$extends({
    query: {
      $allOperations: ({ model, operation, args, query }) =>
        tracer.within(
          {
            name: `prisma ${model ?? ''} ${operation}`,
            kind: 'client',
            attributes: { 'db.system.name': 'postgresql' },
          },
          async () => (await query(args)) as unknown,
        ),
    },
  })
  return extended as unknown as PrismaClient
}

/** The same text gets the same name, so the server plans each statement once per connection. */
function statementNameGenerator({ sql }: { sql: string }): string {
  let name = names.get(sql)
  if (name === undefined) {
    name = `prisma_${createHash('sha256').update(sql).digest('base64url').slice(0, 24)}`
    // Lists of varying length produce ever new texts. Texts beyond the cap get a new name each time.
    if (names.size < 5_000) names.set(sql, name)
  }
  return name
}

const names = new Map<string, string>()

/** BIGINT is money and comes as `bigint`, not as text. Only on this pool; Prisma brings parsers of its own. */
const TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => {
    if (format !== 'binary' && oid === INT8) return BigInt
    if (format !== 'binary' && oid === INT8_ARRAY) return (text: string) => readTexts(text).map(toBigInt)
    return parserOf(oid, format)
  },
}

// The driver's types accept only some of these numbers.
const parserOf = pg.types.getTypeParser as (oid: number, format?: 'text' | 'binary') => (text: string) => unknown
const INT8 = 20
const INT8_ARRAY = 1016
const TEXT_ARRAY = 1009
const readTexts = parserOf(TEXT_ARRAY) as (text: string) => (string | null)[]

function toBigInt(text: string | null): bigint | null {
  return text === null ? null : BigInt(text)
}

/** The adapter reads a timestamp's text as UTC, so each connection is set to it. The pool waits for it. */
const IN_UTC = { onConnect: (client: pg.ClientBase) => client.query(`set timezone = 'UTC'`) }

/**
 * Lends out the connection that Prisma's transaction runs on, so that a store's SQL is the same inside and outside of a
 * transaction. `$queryRawUnsafe` would differ: Prisma converts arrays, bytes and numbers in its own way, and does not
 * name prepared statements.
 */
class SharedPool extends pg.Pool {
  private readonly lent = new WeakMap<pg.PoolClient, Watch>()

  private readonly strict: boolean

  /** Which migrations a connection's prepared statements may be older than: only those of the newest era are lent. */
  private era = 0

  private readonly eras = new WeakMap<pg.PoolClient, number>()

  constructor(strict: boolean, config: pg.PoolConfig) {
    super(config)
    this.strict = strict
    // The pool listens for errors only while the connection is idle. An error between two statements shows in the next
    // statement, but without a listener it would end the whole process.
    this.on('connect', (client) => {
      client.on('error', () => undefined)
      this.eras.set(client, this.era)
    })
    // After the release other code uses the connection, for example when Prisma has ended a transaction after its
    // timeout.
    this.on('release', (_error, client) => {
      const watch = this.lent.get(client)
      if (watch !== undefined) delete watch.client
    })
  }

  /**
   * Runs a statement or a whole transaction, and repeats it on connections opened since where a migration changed a table
   * after its statements were prepared. Nothing of it was done then: PostgreSQL refuses such a statement before it runs, and
   * the transaction was rolled back.
   */
  async repeatOutdated<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const { era } = this
      try {
        return await work()
      } catch (error) {
        if (attempt === ATTEMPTS || !isOutdated(error)) throw error
        // Another statement may have begun the next era meanwhile.
        if (this.era === era) this.era++
      }
    }
  }

  watchConnect<T>(work: (taken: () => Queryable) => Promise<T>): Promise<T> {
    const watch: Watch = { pool: this, taken: false, isStrict: this.strict }
    const query = (statement: pg.QueryConfig): Promise<pg.QueryResult> =>
      watch.client?.query(statement) ?? Promise.reject(new Error('The transaction is over.'))
    return watched(watch, () =>
      work(() => {
        if (!watch.taken) throw new Error('The transaction did not come from this pool.')
        return { query }
      }),
    )
  }

  /** Runs the work of a transaction that has its connection. */
  watchWork<T>(work: () => Promise<T>): Promise<T> {
    const watch: Watch = { pool: this, taken: true, isStrict: this.strict }
    return this.strict ? watched(watch, work) : work()
  }

  override connect(): Promise<pg.PoolClient>
  override connect(callback: Connected): void
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    const watch = currentTransaction() as Watch | undefined
    if (this.strict && watch?.pool === this && watch.taken && watch.isOver !== true) {
      throw new Error('Inside a transaction, pass on its statements: this one takes a second connection.')
    }
    if (callback !== undefined) {
      this.take(callback)
      return undefined
    }
    return new Promise((resolve, reject) => {
      this.take((error, client) => {
        if (client === undefined) {
          reject(error ?? new Error('The pool gave no connection.'))
          return
        }
        if (watch?.pool === this && !watch.taken) {
          Object.assign(watch, { taken: true, client })
          this.lent.set(client, watch)
        }
        resolve(client)
      })
    })
  }

  private take(callback: Connected): void {
    super.connect((error, client, done) => {
      if (client === undefined || this.eras.get(client) === this.era) {
        callback(error, client, done)
        return
      }
      done(true)
      this.take(callback)
    })
  }
}

/** One could only be refused again if another migration came in between. */
const ATTEMPTS = 4

/**
 * "cached plan must not change result type": a named statement that answers all columns of a table (`*`), which has another one
 * since it was prepared. The message is in the language of the server, the routine is not.
 */
function isOutdated(error: unknown): boolean {
  const { code, routine } = error as { code?: string; routine?: string }
  return code === '0A000' && routine === 'RevalidateCachedQuery'
}

/** What runs a statement: the pool, or one of its connections. */
interface Queryable {
  query(statement: pg.QueryConfig): Promise<pg.QueryResult>
}

interface Watch extends WatchedTransaction {
  pool: pg.Pool
  /** The first connection taken inside belongs to the transaction. Later ones do not. */
  taken: boolean
  client?: pg.PoolClient
}

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: unknown) => void,
) => void
