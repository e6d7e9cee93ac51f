import pg from 'pg'
import { currentTransaction, watched, type WatchedTransaction } from '../kit/transaction.ts'

/**
 * Lends out the connection that Prisma's transaction runs on, so that a store's SQL is the same inside and outside of a
 * transaction. `$queryRawUnsafe` would differ: Prisma converts arrays, bytes and numbers in its own way, and does not
 * name prepared statements.
 */
export class SharedPool extends pg.Pool {
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
export interface Queryable {
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
