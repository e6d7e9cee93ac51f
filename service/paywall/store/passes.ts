import type { StatementPool } from '../../kit/transaction.ts'
import type { PrepaidStore } from '../ports.ts'

/** The paths that wallets have paid for, and the sign-ins that were used. */
export function passes(statements: StatementPool): Pick<PrepaidStore, 'addPass' | 'signIn' | 'forgetSignIns'> {
  return {
    async addPass(inside, { paywallId, payer, path }, now) {
      await inside.run(ADD_PASS, [paywallId, payer, path, now], 'paywall_add_pass')
    },

    async signIn({ paywallId, payer, path }, { since, nonce }, now) {
      const values = [paywallId, payer, path, since, nonce, now]
      const [row] = await statements.run<{ paid: boolean; fresh: boolean }>(SIGN_IN, values, 'paywall_sign_in')
      if (row?.paid !== true) return 'unpaid'
      return row.fresh ? 'passed' : 'used'
    },

    async forgetSignIns(before) {
      await statements.run('DELETE FROM paywall_sign_in WHERE used_at < $1', [before], 'paywall_forget_sign_ins')
    },
  }
}

const ADD_PASS = `
INSERT INTO paywall_pass AS p (paywall_id, payer, path, paid_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (paywall_id, payer, path) DO UPDATE SET paid_at = greatest(p.paid_at, EXCLUDED.paid_at)`

// Only a wallet that has paid uses up a nonce, so that nobody else can fill the table. Whether a payment still counts is in
// its sale: a wallet may have paid several times, and a refund takes back one of them.
const SIGN_IN = `
WITH pass AS (
  SELECT FROM paywall_pass p WHERE paywall_id = $1 AND payer = $2 AND path = $3 AND paid_at >= $4 AND EXISTS (
    SELECT FROM sale s WHERE s.details ->> 'pass' = encode(p.path, 'hex') AND s.payer = p.payer AND s.subject = p.paywall_id
      AND s.state = 'paid' AND s.ended_at >= $4 AND (s.amount = 0 OR s.refunded < s.amount)
  )
), entered AS (
  INSERT INTO paywall_sign_in (nonce, used_at) SELECT $5::bytea, $6::timestamptz FROM pass
  ON CONFLICT (nonce) DO NOTHING RETURNING nonce
)
SELECT EXISTS (SELECT FROM pass) AS paid, EXISTS (SELECT FROM entered) AS fresh`
