import { fromRow, type RowOf } from '../../kit/rows.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Owner } from '../../kit/owner.ts'
import type { Alert, AlertStore } from '../ports.ts'

/** Low-balance alerts: thresholds, and who was notified. */
export function alerts(statements: Statements): AlertStore {
  return {
    async find({ userId, environment }) {
      const [row] = await statements.run<{ below: Usdc }>(
        'SELECT below FROM wallet_alert WHERE user_id = $1 AND environment = $2::environment',
        [userId, environment],
      )
      return row?.below ?? null
    },
    async set({ userId, environment }, below) {
      if (below === null) {
        await statements.run('DELETE FROM wallet_alert WHERE user_id = $1 AND environment = $2::environment', [
          userId,
          environment,
        ])
        return
      }
      // A new threshold resets the alert, so an owner below it is notified again.
      await statements.run(
        `INSERT INTO wallet_alert (user_id, environment, below) VALUES ($1, $2::environment, $3)
         ON CONFLICT (user_id, environment) DO UPDATE SET below = excluded.below, alerted_at = NULL
         WHERE wallet_alert.below <> excluded.below`,
        [userId, environment, below],
      )
    },
    async after(last, limit) {
      const rows = await statements.run<RowOf<Omit<Alert, 'owner'> & Owner>>(
        `SELECT user_id, environment, below, alerted_at FROM wallet_alert
         WHERE (user_id, environment) > ($1, $2::environment) ORDER BY user_id, environment LIMIT $3`,
        [last?.owner.userId ?? '', last?.owner.environment ?? 'sandbox', limit],
      )
      return rows
        .map(fromRow)
        .map(({ userId, environment, ...alert }) => ({ ...alert, owner: { userId, environment } }))
    },
    async mark({ userId, environment }, alerted, inside) {
      const rows = await inside.run(
        `UPDATE wallet_alert SET alerted_at = $3
         WHERE user_id = $1 AND environment = $2::environment AND (alerted_at IS NULL) <> ($3::timestamptz IS NULL) RETURNING 1`,
        [userId, environment, alerted],
      )
      return rows.length > 0
    },
  }
}
