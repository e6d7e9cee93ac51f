import { EventEmitter } from 'node:events'
import type { PgPool, PgPoolClient, PgQueryResult } from 'bullmq'
import type pg from 'pg'

/**
 * The pool as BullMQ sees it, in which all workers of the process listen on one connection. By itself BullMQ takes one
 * for each worker and never gives it back: with a dozen topics, two processes use up what a PostgreSQL has. All of them
 * LISTEN on the same channel and pick out what is theirs, so one connection hears enough.
 *
 * BullMQ takes a connection out of its pool only to listen and to look at its own version once; all other statements are
 * single ones.
 */
export function listeningTogether(pool: pg.Pool): PgPool {
  const line = new Line(pool)
  const seen: PgPool & { options: { keepAlive: boolean } } = {
    // Tells BullMQ that a dropped connection is noticed, so that a worker may wait for long.
    options: { keepAlive: true },
    query: async (text, values) => ask(pool, text, values),
    connect: () => Promise.resolve(new Listener(pool, line)),
    end: async () => pool.end(),
    on(event: 'error' | 'connect', listener: (of: never) => void) {
      pool.on(event as 'error', listener as (error: Error) => void)
      return seen
    },
    removeAllListeners: () => seen,
  }
  return seen
}

/** The one connection that listens, while at least one listener wants it. */
class Line {
  private readonly listeners = new Set<Listener>()
  private client: pg.PoolClient | null = null
  /** Until it listens; whoever comes meanwhile waits for the same. */
  private opening: Promise<void> | null = null
  private readonly pool: pg.Pool

  constructor(pool: pg.Pool) {
    this.pool = pool
  }

  async listen(listener: Listener): Promise<void> {
    this.listeners.add(listener)
    if (this.client === null) await (this.opening ??= this.open())
  }

  leave(listener: Listener): void {
    this.listeners.delete(listener)
    if (this.listeners.size === 0) this.close()
  }

  private async open(): Promise<void> {
    try {
      const client = await this.pool.connect()
      client.once('error', (error: Error) => this.drop(client, error))
      client.once('end', () => this.drop(client, new Error('The connection that listens has ended.')))
      client.on('notification', (message) => {
        for (const listener of [...this.listeners]) listener.emit('notification', message)
      })
      await client.query(LISTEN).catch((error: unknown) => {
        client.release(true)
        throw error
      })
      this.client = client
      if (this.listeners.size === 0) this.close()
    } finally {
      this.opening = null
    }
  }

  /** Each worker is told, looks for work, and listens again on the next connection. */
  private drop(client: pg.PoolClient, error: Error): void {
    if (this.client !== client) return
    this.close()
    const left = [...this.listeners]
    this.listeners.clear()
    for (const listener of left) listener.emit('error', error)
  }

  /** Not given back to the pool: it would go on hearing there. */
  private close(): void {
    const { client } = this
    this.client = null
    client?.release(true)
  }
}

/** What BullMQ holds as the connection of one worker. */
class Listener extends EventEmitter implements PgPoolClient {
  private readonly pool: pg.Pool
  private readonly line: Line

  constructor(pool: pg.Pool, line: Line) {
    super()
    this.pool = pool
    this.line = line
  }

  async query<R>(text: string, values?: readonly unknown[]): Promise<PgQueryResult<R>> {
    // The worker's name for its connection: this one has many workers.
    if (text.includes(`set_config('application_name'`)) return { rows: [] }
    if (!text.includes(LISTEN)) return ask(this.pool, text, values)
    await this.line.listen(this)
    return { rows: [] }
  }

  release(): void {
    this.line.leave(this)
  }
}

async function ask<R>(pool: pg.Pool, text: string, values?: readonly unknown[]): Promise<PgQueryResult<R>> {
  return pool.query<R & pg.QueryResultRow>(text, values as unknown[])
}

/** The channel of all jobs; nothing here reads BullMQ's events. */
const LISTEN = 'LISTEN bullmq_jobs;'
