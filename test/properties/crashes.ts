import type pg from 'pg'
import type { Statements } from '../../service/kit/transaction.ts'

/** The caller never learns what became of its statement. */
export class Crash extends Error {}

/**
 * The pool, but now and then a statement is never sent, its answer is lost after the commit, or its
 * connection is cut in the middle, so that nobody knows. `chance` gives a number from 0 to 1.
 */
export function crashing(pool: pg.Pool, rate: number, chance: () => number): Statements & { crashes: number } {
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
      const client = await pool.connect()
      // A connection that breaks says so by an event as well; nobody is to hear it.
      client.on('error', () => undefined)
      const running = client.query(query).catch(() => undefined)
      client.connection.stream.destroy()
      await running
      client.release(true)
      throw new Crash('the connection was cut')
    },
  }
  return counted
}

declare module 'pg' {
  interface ClientBase {
    readonly connection: { readonly stream: { destroy(): void } }
  }
}
