import type { StatementPool } from '../../kit/transaction.ts'
import type { Progress } from '../model.ts'
import type { CheckoutStore } from '../stores.ts'
import { NO_PROGRESS } from '../rules/lifecycle.ts'

/** The queries that connect sales and checkouts. */
export function sales(statements: StatementPool): Pick<CheckoutStore, 'lockProgress' | 'saveProgress' | 'progressOf'> {
  return {
    async lockProgress(inside, payment, now) {
      const values = [payment, JSON.stringify(NO_PROGRESS.lines), now]
      const [row] = await inside.run<Progress>(LOCK_PROGRESS, values, 'checkout_lock_progress')
      return row ?? NO_PROGRESS
    },

    async saveProgress(inside, payment, { lines, written }, now) {
      const values = [payment, JSON.stringify(lines), written, now]
      await inside.run(SAVE_PROGRESS, values, 'checkout_save_progress')
    },

    async progressOf(payments) {
      if (payments.length === 0) return new Map()
      const rows = await statements.run<{ paymentId: string; lines: Progress['lines'] }>(
        PROGRESS,
        [payments],
        'checkout_progress',
      )
      return new Map(rows.map(({ paymentId, lines }) => [paymentId, lines]))
    },
  }
}

// The update changes nothing: it locks the row that is there, and returns it.
const LOCK_PROGRESS = `
INSERT INTO checkout_progress (payment_id, lines, written, updated_at) VALUES ($1, $2::json, 0, $3)
ON CONFLICT (payment_id) DO UPDATE SET payment_id = excluded.payment_id
RETURNING lines, written`

const SAVE_PROGRESS = `
UPDATE checkout_progress SET lines = $2::json, written = $3, updated_at = $4 WHERE payment_id = $1`

const PROGRESS = `
SELECT payment_id AS "paymentId", lines FROM checkout_progress WHERE payment_id = ANY ($1)`
