import { days, newestMarks, type Tables } from '../kit/tables.ts'

export const budgetTables: Tables = {
  sealed: [
    {
      table: 'spending_approval',
      column: 'on_approved',
      type: 'jsonb',
      secrets: `SELECT t.on_approved -> 'payload' ->> 'ask', (t.on_approved -> 'payload' ->> 'operation') || '/ask'`,
    },
  ],
  retention: (kept) => ({
    spending_agent: { kept: 'one for each agent' },
    spending_decision: {
      keptMs: days(kept.decisions),
      age: 'at',
      key: [
        ['at', 'timestamptz'],
        ['agent_id', 'text'],
        ['id', 'bigint'],
      ],
      // The amount that comes back when the hold ends is written into this row.
      unless: `EXISTS (SELECT FROM ledger_hold h WHERE h.id = t.reference AND h.state = 'open')`,
      says: 'Decisions about agents whose lock has ended. What an agent has spent is in its own row.',
    },
    spending_return: { ends: "folded into the agent's row by its next decision" },
    spending_alert: {
      keptMs: days(kept.decisions),
      age: 'told_at',
      key: [
        ['told_at', 'timestamptz'],
        ['agent_id', 'text'],
        ['event', 'text'],
        ['"limit"', 'text'],
        ['threshold', 'bigint'],
        ['"window"', 'timestamptz'],
      ],
      // Its window never ends, so without the row the alert would be sent again.
      unless: `t."limit" = 'lifetime'`,
      says: 'Warnings that an agent is near a limit, except its lifetime limit.',
    },
    spending_approval: {
      keptMs: days(kept.decisions),
      age: 'created_at',
      key: [['id', 'text']],
      unless: `t.state IN ('pending', 'approved')`,
      says: 'Approvals that were given, refused, used or lapsed.',
    },
  }),
  changes: {
    agents: [
      newestMarks('spending_agent', 'status, updated_at, version, counted_at, lifetime_spent', 100),
      newestMarks('spending_approval', 'state', 50),
    ],
  },
}
