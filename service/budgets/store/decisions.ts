import { usdc } from '../../kit/money.ts'
import type { Approval } from '../model.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Counted, DecisionStore, NewAlert, NewDecision, TakenAgent } from '../ports.ts'
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

/** The statements of a decision's transaction; each serves a whole batch. */
export function createDecisionStore(): DecisionStore {
  return {
    async take(inside, agents, references) {
      const rows = await inside.run<TakenRow>(TAKE, [[...new Set(agents)].sort(), references], 'spending_take')
      const taken = rows.map((row): [string, TakenAgent] => [
        row.id,
        { agent: fromAgentRow(row), deleted: row.status === 'deleted', usage: usageOf(row), version: row.version },
      ])
      return { agents: new Map(taken), counted: new Set(rows[0]?.counted ?? []) }
    },

    async counted(inside, references) {
      const rows = await inside.run<{ reference: string }>(COUNTED, [references], 'spending_counted')
      return new Set(rows.map(({ reference }) => reference))
    },

    async approvals(inside, keys, now) {
      const rows = await inside.run<ApprovalRow>(
        APPROVALS,
        [keys.map(({ agentId }) => agentId), keys.map(({ requestHash }) => requestHash), now],
        'spending_approvals',
      )
      return rows.map(fromApprovalRow)
    },

    async record(inside, agents, decisions) {
      const { shapes, shapeOf } = shapesOf(decisions)
      const [agent] = agents
      const [shape] = shapes
      if (agent !== undefined && shape !== undefined && agents.length === 1 && shapes.length === 1) {
        return await recordAlike(inside, agent, shape, decisions)
      }
      const [row] = await inside.run<{ sound: boolean }>(
        RECORD,
        [
          agents.map(({ id }) => id),
          agents.map(({ version }) => version),
          agents.map(({ status }) => status),
          agents.map(({ usage }) => usage.at),
          agents.map(({ usage }) => usage.calls),
          agents.map(({ usage }) => usage.perMinute),
          agents.map(({ usage }) => usage.perDay),
          agents.map(({ usage }) => usage.perWeek),
          agents.map(({ usage }) => usage.perMonth),
          agents.map(({ usage }) => usage.lifetime),
          agents.map(({ next }) => next),
          agents.length,
          shapes.map(({ agentId }) => agentId),
          shapes.map(({ at }) => at),
          shapes.map(({ kind }) => kind),
          shapes.map(({ target }) => target),
          shapes.map(({ alias }) => alias),
          shapes.map(({ domain }) => domain),
          shapes.map(({ outcome }) => outcome),
          shapes.map(({ rule }) => rule),
          shapes.map(({ pattern }) => pattern),
          shapes.map(({ approvalId }) => approvalId),
          shapeOf,
          decisions.map(({ amount }) => amount),
          decisions.map(({ reference }) => reference),
        ],
        'spending_record',
      )
      return row?.sound === true
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

type Shape = Omit<NewDecision, 'amount' | 'reference'>

/**
 * The distinct decisions of a batch without their amounts and references, and for each decision the number of its
 * shape, counted from 1.
 */
function shapesOf(decisions: readonly NewDecision[]): { shapes: readonly Shape[]; shapeOf: readonly number[] } {
  const places = new Map<string, number>()
  const shapes: Shape[] = []
  let last: NewDecision | undefined
  const shapeOf = decisions.map((decision) => {
    // Neighbouring decisions are mostly alike, and comparing them is much cheaper than building a key.
    if (last !== undefined && isAlike(last, decision)) return shapes.length
    const { agentId, at, kind, target, alias, domain, outcome, rule, pattern, approvalId } = decision
    const key = JSON.stringify([agentId, at.getTime(), kind, target, alias, domain, outcome, rule, pattern, approvalId])
    const place = places.get(key) ?? shapes.push(decision)
    places.set(key, place)
    last = place === shapes.length ? decision : undefined
    return place
  })
  return { shapes, shapeOf }
}

function isAlike(one: Shape, other: Shape): boolean {
  return (
    one.agentId === other.agentId &&
    one.at.getTime() === other.at.getTime() &&
    one.kind === other.kind &&
    one.target === other.target &&
    one.alias === other.alias &&
    one.domain === other.domain &&
    one.outcome === other.outcome &&
    one.rule === other.rule &&
    one.pattern === other.pattern &&
    one.approvalId === other.approvalId
  )
}

/**
 * The most common batch by far: one agent with one kind of call. Without all the arrays it takes two thirds of the
 * time.
 */
async function recordAlike(
  inside: Statements,
  { id, version, next, status, usage }: Counted,
  shape: Shape,
  decisions: readonly NewDecision[],
): Promise<boolean> {
  const counted = [usage.at, usage.calls, usage.perMinute, usage.perDay, usage.perWeek, usage.perMonth, usage.lifetime]
  const { kind, target, alias, domain, outcome, rule, pattern, approvalId } = shape
  const noted = [shape.at, kind, target, alias, domain, outcome, rule, pattern, approvalId]
  const [row] = await inside.run<{ sound: boolean }>(
    RECORD_ALIKE,
    [
      id,
      version,
      status,
      ...counted,
      ...noted,
      decisions.map(({ amount }) => amount),
      decisions.map(({ reference }) => reference),
      next,
    ],
    'spending_record_alike',
  )
  return row?.sound === true
}

type TakenRow = AgentRow &
  UsageRow & {
    version: bigint
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

// OFFSET 0 keeps it at one index lookup per reference, even in the plan of a new database.
function counted(place: number): string {
  return `SELECT d.reference FROM (SELECT $${String(place)}::text[] AS all_of OFFSET 0) given CROSS JOIN unnest(given.all_of) AS asked(reference)
  CROSS JOIN LATERAL (
    SELECT d.reference FROM spending_decision d WHERE d.reference = asked.reference AND d.outcome = 'allowed' OFFSET 0
  ) d`
}

const COUNTED = counted(1)

// In all these statements OFFSET 0 hides the arrays from the planner. A planner that sees their lengths finds a plan
// for exactly these lengths slightly cheaper than the general one, and plans again each time, which costs more than the
// statement itself. Agents are locked in the order of their ids, which the caller has sorted. A returned amount is
// deleted only by the transaction that holds the agent's row, and added to that row's counters in the same transaction,
// so it is never added twice. Money that comes back while this waits for the row is left to the next decision.
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
  SELECT * FROM (
    (SELECT * FROM spending_approval r
     WHERE r.agent_id = asked.agent_id AND r.request_hash = asked.request_hash AND r.state = 'refused' AND r.expires_at > $3
     ORDER BY r.expires_at DESC LIMIT 1)
    UNION ALL
    SELECT * FROM spending_approval o
    WHERE o.agent_id = asked.agent_id AND o.request_hash = asked.request_hash AND o.state IN ('pending', 'approved')
  ) known
  -- A person's refusal is the answer, whatever else is open.
  ORDER BY known.state = 'refused' DESC LIMIT 1
) p
JOIN spending_agent a ON a.id = p.agent_id`

// Rows that this transaction has locked before are unchanged. Other rows are locked here, in the order of their ids; if
// a version differs, the caller must undo everything. What many decisions of a batch have in common is sent once:
// reading a dozen arrays took longer than writing the rows.
const RECORD = `
WITH counted AS (
  UPDATE spending_agent a
  SET status = t.status, counted_at = t.at, minute_calls = t.calls, minute_spent = t.minute, day_spent = t.day,
      week_spent = t.week, month_spent = t.month, lifetime_spent = t.lifetime, version = t.next
  FROM (
    SELECT $1::text[] AS a, $2::bigint[] AS b, $3::spending_status[] AS c, $4::timestamptz[] AS d, $5::int[] AS e,
           $6::bigint[] AS f, $7::bigint[] AS g, $8::bigint[] AS h, $9::bigint[] AS i, $10::bigint[] AS j, $11::bigint[] AS k OFFSET 0
  ) x
  CROSS JOIN unnest(x.a, x.b, x.c, x.d, x.e, x.f, x.g, x.h, x.i, x.j, x.k)
    AS t(id, version, status, at, calls, minute, day, week, month, lifetime, next)
  CROSS JOIN LATERAL (SELECT ctid AS place FROM spending_agent b WHERE b.id = t.id OFFSET 0) b
  WHERE a.ctid = b.place AND a.version = t.version
  RETURNING 1
), judged AS MATERIALIZED (
  SELECT count(*) = $12::int AS sound FROM counted
), noted AS (
  INSERT INTO spending_decision (agent_id, at, kind, target, alias, domain, outcome, rule, pattern, approval_id, amount, reference)
  SELECT s.agent_id, s.at, s.kind, s.target, s.alias, s.domain, s.outcome, s.rule, s.pattern, s.approval_id, t.amount, t.reference
  FROM judged
  CROSS JOIN (
    SELECT $13::text[] AS a, $14::timestamptz[] AS b, $15::spending_kind[] AS c, $16::text[] AS d, $17::text[] AS e,
           $18::text[] AS f, $19::spending_outcome[] AS g, $20::text[] AS h, $21::text[] AS i, $22::text[] AS j,
           $23::int[] AS k, $24::bigint[] AS l, $25::text[] AS m OFFSET 0
  ) x
  CROSS JOIN unnest(x.k, x.l, x.m) AS t(shape, amount, reference)
  JOIN LATERAL unnest(x.a, x.b, x.c, x.d, x.e, x.f, x.g, x.h, x.i, x.j) WITH ORDINALITY
    AS s(agent_id, at, kind, target, alias, domain, outcome, rule, pattern, approval_id, place) ON s.place = t.shape
  WHERE judged.sound
)
SELECT sound FROM judged`

const RECORD_ALIKE = `
WITH counted AS (
  UPDATE spending_agent
  SET status = $3, counted_at = $4, minute_calls = $5, minute_spent = $6, day_spent = $7, week_spent = $8,
      month_spent = $9, lifetime_spent = $10, version = $22
  WHERE id = $1 AND version = $2
  RETURNING id
), noted AS (
  INSERT INTO spending_decision (agent_id, at, kind, target, alias, domain, outcome, rule, pattern, approval_id, amount, reference)
  SELECT counted.id, $11, $12, $13, $14, $15, $16, $17, $18, $19, t.amount, t.reference
  FROM counted CROSS JOIN unnest($20::bigint[], $21::text[]) AS t(amount, reference)
)
SELECT true AS sound FROM counted`

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
