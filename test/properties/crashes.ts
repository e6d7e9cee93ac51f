import type pg from 'pg'
import type { StatementPool, Statements } from '../../service/kit/transaction.ts'

/** The caller never learns what became of its statement. */
export class Crash extends Error {}

/**
 * A pool where now and then a statement is never sent, its response is lost after the commit, or its connection is cut
 * in the middle, so that the caller can't know the outcome. `chance` returns a number from 0 to 1.
 */
export function crashing(pool: pg.Pool, rate: number, chance: () => number): StatementPool & { crashes: number } {
  const counted = {
    crashes: 0,
    async run<Row>(text: string, values: readonly unknown[], name?: string): Promise<Row[]> {
      const query = { text, values: [...values], ...(name === undefined ? {} : { name }) }
      if (chance() >= rate) return (await pool.query(query)).rows as Row[]
      counted.crashes++
      const how = chance()
      if (how < 0.3) throw new Crash('died before sending')
      if (how < 0.6) {
        await pool.query(query)
        throw new Crash('died before hearing the answer')
      }
      const client = await connect(pool)
      const running = client.query(query).catch(() => undefined)
      cut(client)
      await running
      const { processID } = client
      client.release(true)
      // What was sent may still be carried out, and only the locks of a transaction would have the next command wait for it.
      await untilGone(pool, processID)
      throw new Crash('the connection was cut')
    },
    async together<T>(work: (inside: Statements) => Promise<T>): Promise<T> {
      const client = await connect(pool)
      const inside: Statements = {
        async run<Row>(text: string, values: readonly unknown[], name?: string): Promise<Row[]> {
          if (chance() < rate) {
            counted.crashes++
            throw new Crash('died between two statements of a transaction')
          }
          return (await client.query({ text, values: [...values], ...(name === undefined ? {} : { name }) }))
            .rows as Row[]
        },
      }
      try {
        await client.query('begin')
        const result = await work(inside)
        const ending = client.query('commit').catch(() => undefined)
        if (chance() < rate) {
          counted.crashes++
          if (chance() < 0.5) cut(client)
          await ending
          throw new Crash('died while committing')
        }
        await ending
        client.release()
        return result
      } catch (error) {
        // The server rolls back what a dead process leaves open.
        client.release(true)
        throw error
      }
    },
  }
  return counted
}

/** A connection that breaks also emits an event; this handler ignores it. */
async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  const client = await pool.connect()
  if (client.listenerCount('error') < 2) client.on('error', () => undefined)
  return client
}

async function untilGone(pool: pg.Pool, processID: number): Promise<void> {
  const { rows } = await pool.query('SELECT 1 FROM pg_stat_activity WHERE pid = $1', [processID])
  if (rows.length > 0) await untilGone(pool, processID)
}

function cut(client: pg.PoolClient): void {
  client.connection.stream.destroy()
}

declare module 'pg' {
  interface ClientBase {
    readonly processID: number
    readonly connection: { readonly stream: { destroy(): void } }
  }
}
