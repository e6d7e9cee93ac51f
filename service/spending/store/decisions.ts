import { usdc } from '../../kit/money.ts'
import type { Approval } from '../model.ts'
import type { DecisionStore, NewAlert, TakenAgent } from '../ports.ts'
import { giveBack } from '../rules/windows.ts'
import {
  APPROVAL_COLUMNS,
  fromAgentRow,
  fromApprovalRow,
  fromUsageRow,
  type AgentRow,
  type ApprovalRow,
  type UsageRow,
} from './rows.ts'

/** The statements of a decision's transaction; all of them for a whole batch. */
export function createDecisionStore(): DecisionStore {
  return {
    async take(inside, agents, references) {
      const rows = await inside.run<TakenRow>(TAKE, [[...new Set(agents)].sort(), references], 'spending_take')
      const taken = rows.map((row): [string, TakenAgent] => [
        row.id,
        { agent: fromAgentRow(row), deleted: row.status === 'deleted', usage: usageOf(row) },
      ])
      return { agents: new Map(taken), counted: new Set(rows[0]?.counted ?? []) }
    },

    async counted(inside, references) {
      const rows = await inside.run<{ reference: string }>(COUNTED, [references], 'spending_counted')
      return new Set(rows.map(({ reference }) => reference))
    },

    async approvals(inside, asked) {
      const rows = await inside.run<ApprovalRow>(
        APPROVALS,
        [asked.map(({ agentId }) => agentId), asked.map(({ requestHash }) => requestHash)],
        'spending_approvals',
      )
      return rows.map(fromApprovalRow)
    },

    async record(inside, agents, decisions) {
      await inside.run(
        RECORD,
        [
          agents.map(({ id }) => id),
          agents.map(({ status }) => status),
          agents.map(({ usage }) => usage.at),
          agents.map(({ usage }) => usage.calls),
          agents.map(({ usage }) => usage.perMinute),
          agents.map(({ usage }) => usage.perDay),
          agents.map(({ usage }) => usage.perWeek),
          agents.map(({ usage }) => usage.perMonth),
          agents.map(({ usage }) => usage.lifetime),
          decisions.map(({ agentId }) => agentId),
          decisions.map(({ at }) => at),
          decisions.map(({ kind }) => kind),
          decisions.map(({ target }) => target),
          decisions.map(({ alias }) => alias),
          decisions.map(({ domain }) => domain),
          decisions.map(({ amount }) => amount),
          decisions.map(({ outcome }) => outcome),
          decisions.map(({ rule }) => rule),
          decisions.map(({ pattern }) => pattern),
          decisions.map(({ reference }) => reference),
          decisions.map(({ approvalId }) => approvalId),
        ],
        'spending_record',
      )
    },

    async recordApprovals(inside, ended, begun) {
      if (ended.length > 0) {
        await inside.run(
          END_APPROVALS,
          [ended.map(({ id }) => id), ended.map(({ state }) => state), ended.map(({ usedBy }) => usedBy)],
          'spending_end_approvals',
        )
      }
      if (begun.length > 0) await inside.run(BEGIN_APPROVALS, columnsOf(begun), 'spending_begin_approvals')
    },

    async tell(inside, alerts, now) {
      const rows = await inside.run<{ place: bigint }>(
        TELL,
        [
          alerts.map(({ agent }) => agent.id),
          alerts.map(({ event }) => event),
          alerts.map(({ limit }) => limit),
          alerts.map(({ at }) => Math.round(at * 10_000)),
          alerts.map(({ window }) => window),
          now,
        ],
        'spending_tell',
      )
      const fresh = new Set(rows.map(({ place }) => Number(place)))
      return alerts.filter((_: NewAlert, place) => fresh.has(place + 1))
    },
  }
}

type TakenRow = AgentRow &
  UsageRow & {
    counted: readonly string[] | null
    returned_at: readonly Date[] | null
    returned: readonly bigint[] | null
  }

function usageOf(row: TakenRow) {
  let usage = fromUsageRow(row)
  row.returned_at?.forEach((at, place) => {
    usage = giveBack(usage, at, usdc(row.returned?.[place] ?? 0n))
  })
  return usage
}

function columnsOf(begun: readonly Approval[]): unknown[] {
  return [
    begun.map(({ id }) => id),
    begun.map(({ agentId }) => agentId),
    begun.map(({ owner }) => owner.userId),
    begun.map(({ owner }) => owner.environment),
    begun.map(({ kind }) => kind),
    begun.map(({ target }) => target),
    begun.map(({ amount }) => amount),
    begun.map(({ requestHash }) => requestHash),
    begun.map(({ onApproved }) => (onApproved === null ? null : JSON.stringify(onApproved))),
    begun.map(({ createdAt }) => createdAt),
    begun.map(({ expiresAt }) => expiresAt),
  ]
}

// OFFSET 0 keeps it one probe of the index for each, also in the plan of a young database.
function counted(place: number): string {
  return `SELECT d.reference FROM (SELECT $${String(place)}::text[] AS all_of OFFSET 0) given CROSS JOIN unnest(given.all_of) AS asked(reference)
  CROSS JOIN LATERAL (
    SELECT d.reference FROM spending_decision d WHERE d.reference = asked.reference AND d.outcome = 'allowed' OFFSET 0
  ) d`
}

const COUNTED = counted(1)

// In all of these the arrays stand behind a wall (OFFSET 0): a planner that sees their lengths finds a plan for just
// these lengths a little cheaper than the general one, and plans anew each time, at more than the statement's cost.
// Agents are taken in the order of their ids, which the caller has sorted.
// What came back is deleted only by who holds the agent's row, and is added to that row's counters in the same
// transaction: nothing is folded in twice. What comes back while this waits for the row is for the next decision.
const TAKE = `
WITH taken AS MATERIALIZED (
  SELECT a.* FROM (SELECT $1::text[] AS ids OFFSET 0) given CROSS JOIN unnest(given.ids) AS wanted(id)
  CROSS JOIN LATERAL (SELECT * FROM spending_agent a WHERE a.id = wanted.id FOR NO KEY UPDATE) a
), gone AS (
  DELETE FROM spending_return r
  USING (
    SELECT place FROM taken CROSS JOIN LATERAL (SELECT ctid AS place FROM spending_return b WHERE b.agent_id = taken.id OFFSET 0) b
  ) back
  WHERE r.ctid = back.place
  RETURNING r.agent_id, r.at, r.amount
), returned AS (
  SELECT agent_id, date_trunc('minute', at) AS at, sum(amount)::bigint AS amount FROM gone GROUP BY 1, 2
)
SELECT taken.*, r.returned_at, r.returned, (SELECT array_agg(reference) FROM (${counted(2)}) known) AS counted
FROM taken
LEFT JOIN (
  SELECT agent_id, array_agg(at) AS returned_at, array_agg(amount) AS returned FROM returned GROUP BY agent_id
) r ON r.agent_id = taken.id`

const APPROVALS = `
SELECT ${APPROVAL_COLUMNS}
FROM unnest($1::text[], $2::text[]) AS asked(agent_id, request_hash)
CROSS JOIN LATERAL (
  SELECT * FROM spending_approval p
  WHERE p.agent_id = asked.agent_id AND p.request_hash = asked.request_hash AND p.state IN ('pending', 'approved')
  OFFSET 0
) p
JOIN spending_agent a ON a.id = p.agent_id`

const RECORD = `
WITH counted AS (
  UPDATE spending_agent a
  SET status = t.status, counted_at = t.at, minute_calls = t.calls, minute_spent = t.minute, day_spent = t.day,
      week_spent = t.week, month_spent = t.month, lifetime_spent = t.lifetime
  FROM (
    SELECT $1::text[] AS a, $2::spending_status[] AS b, $3::timestamptz[] AS c, $4::int[] AS d, $5::bigint[] AS e,
           $6::bigint[] AS f, $7::bigint[] AS g, $8::bigint[] AS h, $9::bigint[] AS i OFFSET 0
  ) x
  CROSS JOIN unnest(x.a, x.b, x.c, x.d, x.e, x.f, x.g, x.h, x.i) AS t(id, status, at, calls, minute, day, week, month, lifetime)
  CROSS JOIN LATERAL (SELECT ctid AS place FROM spending_agent b WHERE b.id = t.id OFFSET 0) b
  WHERE a.ctid = b.place
)
INSERT INTO spending_decision (agent_id, at, kind, target, alias, domain, amount, outcome, rule, pattern, reference, approval_id)
SELECT t.* FROM (
  SELECT $10::text[] AS a, $11::timestamptz[] AS b, $12::spending_kind[] AS c, $13::text[] AS d, $14::text[] AS e,
         $15::text[] AS f, $16::bigint[] AS g, $17::spending_outcome[] AS h, $18::text[] AS i, $19::text[] AS j,
         $20::text[] AS k, $21::text[] AS l OFFSET 0
) x CROSS JOIN unnest(x.a, x.b, x.c, x.d, x.e, x.f, x.g, x.h, x.i, x.j, x.k, x.l) AS t`

const END_APPROVALS = `
UPDATE spending_approval p SET state = t.state, used_by = t.used_by
FROM unnest($1::text[], $2::spending_approval_state[], $3::text[]) AS t(id, state, used_by)
WHERE p.id = t.id AND p.state IN ('pending', 'approved')`

const BEGIN_APPROVALS = `
INSERT INTO spending_approval (id, agent_id, user_id, environment, kind, target, amount, request_hash, on_approved, created_at, expires_at)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::environment[], $5::spending_kind[], $6::text[], $7::bigint[], $8::text[], $9::jsonb[], $10::timestamptz[], $11::timestamptz[])`

const TELL = `
WITH asked AS (
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::timestamptz[]) WITH ORDINALITY
    AS t(agent_id, event, "limit", threshold, "window", place)
), fresh AS (
  INSERT INTO spending_alert (agent_id, event, "limit", threshold, "window", told_at)
  SELECT agent_id, event, "limit", threshold, "window", $6::timestamptz FROM asked
  ON CONFLICT DO NOTHING
  RETURNING agent_id, event, "limit", threshold, "window"
)
SELECT min(place) AS place FROM asked JOIN fresh USING (agent_id, event, "limit", threshold, "window")
GROUP BY agent_id, event, "limit", threshold, "window"`
