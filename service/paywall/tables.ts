import { SIGN_IN_MS_MAX } from './rules/payment.ts'
import { days, latestMarks, newestMarks, OWNED, rowMarks, sealedText, type Tables } from '../kit/tables.ts'

export const paywallTables: Tables = {
  sealed: [
    sealedText('paywall', 'headers_sealed', `t.id || '/upstreamHeaders'`),
    sealedText('paywall', 'secret_sealed', `t.id || '/secret'`),
  ],
  retention: (kept) => ({
    paywall: { kept: 'one per paywall' },
    paywall_tier: { kept: 'one per customer of a tiered price, overwritten in each window' },
    paywall_balance: { kept: 'money: prepaid balances' },
    paywall_customer: { kept: 'one per customer of a paywall' },
    paywall_token: { kept: 'one per token and paywall: gives access to the remaining balance' },
    paywall_hold: { ends: 'when its call ends, or at its deadline (paywall.holds)' },
    paywall_draw: {
      keptMs: days(kept.draws),
      age: 'at',
      key: [
        ['at', 'timestamptz'],
        ['call', 'text'],
      ],
      says: 'Single debits from prepaid balances. The total per customer and day stays in `paywall_draw_day`.',
    },
    paywall_draw_day: { kept: 'money: debits by customer and day' },
    paywall_pass: {
      keptMs: SIGN_IN_MS_MAX,
      age: 'paid_at',
      key: [
        ['paid_at', 'timestamptz'],
        ['paywall_id', 'text'],
        ['payer', 'text'],
        ['path', 'bytea'],
      ],
      says: 'When a wallet last paid for a path, for as long as it may sign in instead of paying.',
    },
    paywall_sign_in: { ends: 'ten minutes after it was used (paywall.holds)' },
    paywall_day: { kept: 'statistics: one per day, route and outcome' },
  }),
  changes: {
    paywalls: [
      newestMarks('paywall', 'updated_at, revenue, customers', 100),
      latestMarks('sale', 'subject', 'paywall', 'c.state, c.handover'),
      rowMarks(`SELECT concat_ws(',', t.id, d.route, d.outcome) AS id, concat_ws(',', t.id, d.route, d.outcome, d.count, d.amount) AS mark
        FROM (SELECT id FROM paywall WHERE ${OWNED} ORDER BY id DESC LIMIT 20) t
        JOIN paywall_day d ON d.paywall_id = t.id AND d.day = (now() AT TIME ZONE 'UTC')::date`),
    ],
  },
}
