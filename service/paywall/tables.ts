import { OWNED, days, latestMarks, newestMarks, rowMarks, type Tables } from '../kit/tables.ts'

export const paywallTables: Tables = {
  retention: (kept) => ({
    paywall: { kept: 'one for each paywall' },
    paywall_tier: { kept: 'one for each customer of a tiered price, rewritten in each window' },
    paywall_balance: { kept: 'money: what was paid in advance' },
    paywall_customer: { kept: 'one for each customer of a paywall' },
    paywall_token: { kept: 'one for each payment in advance: the right to what is left of it' },
    paywall_hold: { ends: 'with its call, or at its deadline (paywall.holds)' },
    paywall_draw: {
      keptMs: days(kept.draws),
      age: 'at',
      key: [
        ['at', 'timestamptz'],
        ['call', 'text'],
      ],
      says: "Single draws from prepaid balances. What a customer's day came to stays, in `paywall_draw_day`.",
    },
    paywall_draw_day: { kept: 'money: what was drawn, by customer and day' },
    paywall_day: { kept: 'statistics: one for each day, route and outcome' },
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
