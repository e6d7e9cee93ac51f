import type { Statements } from '../../../kit/transaction.ts'
import type { CallStore, EndedCall } from '../../ports/calls.ts'
import { classOf, FAILED } from '../../rules/stats.ts'

/** Writes the rows of a batch of calls, the answers of calls that can be repeated, and the calls' statistics. */
export async function writeCalls(inside: Statements, calls: readonly EndedCall[]): Promise<ReadonlySet<string>> {
  const rows = await inside.run<{ id: string }>(
    WRITE,
    [
      calls.map(({ id }) => id),
      calls.map(({ environment }) => environment),
      calls.map(({ userId }) => userId),
      calls.map(({ agentId }) => agentId),
      calls.map(({ toolId }) => toolId),
      calls.map(({ slug }) => slug),
      calls.map(({ provider }) => provider),
      calls.map(({ cost }) => cost),
      calls.map(({ failure }) => failure?.code ?? null),
      calls.map(({ failure }) => failure?.sentence ?? null),
      calls.map(({ attempt }) => attempt),
      calls.map(({ durationMs }) => durationMs),
      calls.map(({ endedAt }) => endedAt),
      calls.map(({ fault, durationMs }) => (fault === null ? classOf(durationMs) : FAILED[fault])),
      calls.map(({ output: kept }) => kept?.kind ?? null),
      calls.map(({ output: kept }) => (kept === null ? null : JSON.stringify(kept.value))),
      calls.map(({ output: kept }) => (kept?.pages === undefined ? null : JSON.stringify(kept.pages))),
      calls.map(({ operation }) => operation?.sealed ?? null),
      calls.map(({ operation }) => operation?.askAt ?? null),
    ],
    'tool_call_write',
  )
  return new Set(rows.map(({ id }) => id))
}

// A call that failed and then succeeded under the same id is one call: the success stays.
const WRITE = `
WITH ask AS (
  SELECT * FROM unnest($1::text[], $2::environment[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[],
                       $9::text[], $10::text[], $11::int[], $12::int[], $13::timestamptz[], $14::int[], $15::text[], $16::json[],
                       $17::json[], $18::text[], $19::timestamptz[])
    AS t(id, environment, user_id, agent_id, tool_id, slug, provider, cost, error_code, error, attempt, duration_ms, ended_at,
         latency_class, kind, value, pages, operation, ask_at)
), written AS (
  INSERT INTO tool_call AS c (id, environment, user_id, agent_id, tool_id, slug, provider, cost, error_code, error, attempt,
                              duration_ms, ended_at)
  SELECT id, environment, user_id, agent_id, tool_id, slug, provider, cost, error_code, error, attempt, duration_ms, ended_at FROM ask
  ON CONFLICT (id) DO UPDATE
  SET cost = excluded.cost, error_code = excluded.error_code, error = excluded.error,
      attempt = excluded.attempt, duration_ms = excluded.duration_ms, ended_at = excluded.ended_at
  WHERE c.error_code IS NOT NULL
  RETURNING c.id
), kept AS (
  INSERT INTO tool_answer (call_id, kind, value, pages, operation, ask_at, created_at)
  SELECT ask.id, ask.kind, ask.value, ask.pages, ask.operation, ask.ask_at, ask.ended_at FROM ask JOIN written USING (id) WHERE ask.kind IS NOT NULL
  ON CONFLICT (call_id) DO NOTHING
), left_behind AS (
  INSERT INTO tool_delta (tool_id, environment, slug, latency_class, error, ended_at)
  SELECT ask.tool_id, ask.environment, ask.slug, ask.latency_class, ask.error, ask.ended_at FROM ask JOIN written USING (id)
)
SELECT id FROM written`

/** Reading and writing of work that goes on after its call has ended. */
export function createOperations(statements: Statements): Pick<CallStore, 'claimOperation' | 'writeOperation'> {
  return {
    async claimOperation(id, now, until) {
      const rows = await statements.run<{ id: string }>(CLAIM, [id, now, until], 'tool_operation_claim')
      return rows.length > 0
    },

    async writeOperation(id, { output, operation }) {
      const value = output === null ? null : JSON.stringify(output.value)
      const { sealed = null, askAt = null } = operation ?? {}
      await statements.run(PROGRESS, [id, output?.kind ?? null, value, sealed, askAt], 'tool_operation_write')
    },
  }
}

const CLAIM = `
UPDATE tool_answer SET ask_at = $3 WHERE call_id = $1 AND operation IS NOT NULL AND ask_at <= $2 RETURNING call_id AS id`

// A result that another process has stored stays.
const PROGRESS = `
UPDATE tool_answer SET kind = coalesce($2::text, kind), value = coalesce($3::json, value), operation = $4::text, ask_at = $5
WHERE call_id = $1 AND operation IS NOT NULL`
