import type { CustomerRun, Run, RunFigures, RunSummary } from '../../model/run.ts'

/** What everybody who may see a run sees of it. */
const figures = (error: string): string => `
id, rda_id AS "rdaId", rda_slug AS "rdaSlug", rda_version AS "rdaVersion", status AS state, cost, model_id AS "modelId",
prompt_tokens AS "promptTokens", completion_tokens AS "completionTokens", error_code AS "errorCode", ${error} AS error,
created_at AS "createdAt", started_at AS "startedAt", ended_at AS "endedAt", duration_ms AS "durationMs"`

/** Everything but inputs and output, which may be large. */
export const SUMMARY = `${figures('error')},
environment, user_id AS "userId", subject, agent_id AS "agentId", rda_type AS "rdaType", owner_id AS "ownerId",
payer_id AS "payerId", locked, price, webhook_url AS "webhookUrl", process, deadline`

export const WHOLE = `${SUMMARY}, inputs, output`

/** A page of runs stays small, also where inputs are long. */
const INPUTS_LISTED_MAX = 32_768

/** What a creator may know of a customer's run: not who ran it, not its output, its inputs only where agreed. */
export const OF_CUSTOMER = `${figures('coalesce(error_full, error)')}, inputs_shared AS "inputsShared",
CASE WHEN inputs_shared AND length(inputs::text) <= ${String(INPUTS_LISTED_MAX)} THEN inputs END AS inputs`

/** A run as its columns have it: usage and failure are two columns each. */
type RowOf<Figures extends RunFigures> = Omit<Figures, 'usage' | 'failure'> & {
  promptTokens: number | null
  completionTokens: number | null
  errorCode: string | null
  error: string | null
}

export type SummaryRow = RowOf<RunSummary>
export type WholeRow = RowOf<Run>
export type CustomerRow = RowOf<CustomerRun>

export function fromRow<Figures extends RunFigures>(row: RowOf<Figures>): Figures {
  const { promptTokens, completionTokens, errorCode: code, error, ...run } = row
  const usage = promptTokens === null || completionTokens === null ? null : { promptTokens, completionTokens }
  const failure = code === null ? null : { code, sentence: error ?? '' }
  return { ...run, usage, failure } as unknown as Figures
}
