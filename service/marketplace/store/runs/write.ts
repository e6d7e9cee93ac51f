import type { Id } from '../../../kit/ids.ts'
import type { Usdc } from '../../../kit/money.ts'
import type { Statements } from '../../../kit/transaction.ts'
import type { EndedRun, NewRun } from '../../ports/run.ts'

/** The rows of a batch of runs: one statement for those that begin, one for those that end. */
export async function writeRuns(
  inside: Statements,
  begun: readonly NewRun[],
  ended: readonly EndedRun[],
): Promise<ReadonlySet<string>> {
  const written: { id: string }[] = []
  if (begun.length > 0) written.push(...(await begin(inside, begun)))
  if (ended.length > 0) written.push(...(await end(inside, ended)))
  return new Set(written.map(({ id }) => id))
}

function begin(inside: Statements, runs: readonly NewRun[]): Promise<{ id: string }[]> {
  return inside.run(
    BEGIN,
    [
      runs.map((run) => run.id),
      runs.map((run) => run.environment),
      runs.map((run) => run.userId),
      runs.map((run) => run.subject),
      runs.map((run) => run.rdaId),
      runs.map((run) => run.rdaSlug),
      runs.map((run) => run.rdaType),
      runs.map((run) => run.rdaVersion),
      runs.map((run) => run.ownerId),
      runs.map((run) => run.payerId),
      runs.map((run) => run.state),
      runs.map((run) => run.locked),
      runs.map((run) => run.price),
      runs.map((run) => run.modelId),
      runs.map((run) => JSON.stringify(run.inputs)),
      runs.map((run) => run.webhookUrl),
      runs.map((run) => run.process),
      runs.map((run) => run.deadline),
      runs.map((run) => run.createdAt),
      runs.map((run) => run.startedAt),
      runs.map((run) => run.agentId),
      runs.map((run) => run.inputsShared),
    ],
    'run_begin',
  )
}

function end(inside: Statements, runs: readonly EndedRun[]): Promise<{ id: string }[]> {
  return inside.run(
    END_RUNS,
    [
      runs.map((run) => run.id),
      runs.map((run) => run.state),
      runs.map((run) => run.cost),
      runs.map((run) => run.usage?.promptTokens ?? null),
      runs.map((run) => run.usage?.completionTokens ?? null),
      runs.map((run) => run.output),
      runs.map((run) => run.failure?.code ?? null),
      runs.map((run) => run.failure?.sentence ?? null),
      runs.map((run) => run.endedAt),
      runs.map((run) => run.durationMs),
      runs.map((run) => run.counts),
      runs.map((run) => run.failure?.forCreator ?? null),
    ],
    'run_end',
  )
}

export async function chargeRun(inside: Statements, id: Id<'run'>, amount: Usdc): Promise<boolean> {
  return (await inside.run(CHARGE, [id, amount], 'run_charge')).length > 0
}

const CHARGE = `
WITH charged AS (
  UPDATE run SET locked = $2, price = $2, cost = $2 WHERE id = $1 AND status = 'succeeded' AND cost = 0 RETURNING id, rda_id
), left_behind AS (
  INSERT INTO run_delta (rda_id, runs, succeeded, revenue, latency_ms) SELECT rda_id, 0, 0, $2, 0 FROM charged
)
SELECT id FROM charged`

export const BEGIN = `
INSERT INTO run (id, environment, user_id, subject, rda_id, rda_slug, rda_type, rda_version, owner_id, payer_id,
                 status, locked, price, model_id, inputs, webhook_url, process, deadline, created_at, started_at, agent_id, inputs_shared)
SELECT * FROM unnest($1::text[], $2::environment[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
                     $11::run_status[], $12::bigint[], $13::bigint[], $14::text[], $15::jsonb[], $16::text[], $17::text[], $18::timestamptz[], $19::timestamptz[], $20::timestamptz[], $21::text[], $22::boolean[])
ON CONFLICT (id) DO NOTHING
RETURNING id`

// Once ended, a run stays as it is: a second end finds no open row. OFFSET 0 keeps the look-up what it is,
// one probe of the primary key each, also where a young database's statistics suggest another plan.
export const END_RUNS = `
WITH ask AS (
  SELECT * FROM unnest($1::text[], $2::run_status[], $3::bigint[], $4::int[], $5::int[], $6::text[], $7::text[], $8::text[], $9::timestamptz[], $10::int[], $11::boolean[], $12::text[])
    AS t(id, status, cost, prompt_tokens, completion_tokens, output, error_code, error, ended_at, duration_ms, counts, error_full)
), open AS MATERIALIZED (
  SELECT id FROM run WHERE id = ANY ($1::text[]) AND status IN ('queued', 'running') ORDER BY id FOR UPDATE
), ended AS (
  UPDATE run r
  SET status = ask.status, cost = ask.cost, prompt_tokens = ask.prompt_tokens, completion_tokens = ask.completion_tokens,
      output = ask.output, error_code = ask.error_code, error = ask.error, error_full = ask.error_full, ended_at = ask.ended_at,
      duration_ms = ask.duration_ms, process = NULL
  FROM ask JOIN open ON open.id = ask.id
  WHERE r.id = ask.id AND r.id = ANY ($1::text[])
  RETURNING r.id, r.rda_id, r.status, r.cost, r.duration_ms, ask.counts AND r.user_id <> r.owner_id AS counts
), left_behind AS (
  INSERT INTO run_delta (rda_id, runs, succeeded, revenue, latency_ms)
  SELECT rda_id, count(*), count(*) FILTER (WHERE status = 'succeeded'), sum(cost),
         coalesce(sum(duration_ms) FILTER (WHERE status = 'succeeded'), 0)
  FROM ended WHERE counts
  GROUP BY rda_id
)
SELECT id FROM ended`
