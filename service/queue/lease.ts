import type { Statements } from '../kit/transaction.ts'

/** A lock that outlives neither its holder's silence nor its connection: plain rows, renewed. */
export interface Lease {
  /** Takes or renews it; false while another holder has it. */
  take(now: Date, until: Date): Promise<boolean>
  release(): Promise<void>
}

/** Rejected: an advisory lock, which hangs on one session and says nothing about who holds it since when. */
export function createLease(statements: Statements, name: string, holder: string): Lease {
  return {
    async take(now, until) {
      const rows = await statements.run(
        `INSERT INTO lease (name, holder, until) VALUES ($1, $2, $3)
         ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
         WHERE lease.holder = excluded.holder OR lease.until <= $4
         RETURNING 1`,
        [name, holder, until, now],
      )
      return rows.length > 0
    },
    async release() {
      await statements.run('DELETE FROM lease WHERE name = $1 AND holder = $2', [name, holder])
    },
  }
}
