import type { Id } from '../../../kit/ids.ts'
import type { Usdc } from '../../../kit/money.ts'
import type { Environment } from '../../../kit/owner.ts'
import type { AssetType } from '../../model/asset.ts'
import type { Usage } from '../../model/language-model.ts'
import type { CustomerRun, Failure, Run, RunState, RunSummary } from '../../model/run.ts'

/** Everything but what it was given and what came out, which may be large. */
export const SUMMARY = `
id, environment, user_id, subject, agent_id, rda_id, rda_slug, rda_type, rda_version, owner_id, payer_id, status, locked, price, cost,
model_id, prompt_tokens, completion_tokens, error_code, error, webhook_url, process, deadline, created_at, started_at, ended_at,
duration_ms`

export const WHOLE = `${SUMMARY}, inputs, output`

export interface SummaryRow {
  id: Id<'run'>
  environment: Environment
  user_id: string
  subject: string
  agent_id: string | null
  rda_id: Id<'rda'>
  rda_slug: string
  rda_type: AssetType
  rda_version: string
  owner_id: string
  payer_id: string
  status: RunState
  locked: Usdc
  price: Usdc
  cost: Usdc
  model_id: string | null
  prompt_tokens: number | null
  completion_tokens: number | null
  error_code: string | null
  error: string | null
  webhook_url: string | null
  process: string | null
  deadline: Date
  created_at: Date
  started_at: Date | null
  ended_at: Date | null
  duration_ms: number | null
}

export interface WholeRow extends SummaryRow {
  inputs: Readonly<Record<string, unknown>>
  output: string | null
}

/** A page of runs stays small whatever was filled in. */
const INPUTS_LISTED_MAX = 32_768

/** What a creator may know of a customer's run: nothing that says who ran it or what came out; with what, where agreed. */
export const OF_CUSTOMER = `
inputs_shared, CASE WHEN inputs_shared AND length(inputs::text) <= ${String(INPUTS_LISTED_MAX)} THEN inputs END AS inputs,
id, rda_id, rda_slug, rda_version, status, cost, model_id, prompt_tokens, completion_tokens, error_code, error, created_at,
started_at, ended_at, duration_ms`

export type CustomerRow = FigureRow & { inputs_shared: boolean; inputs: Readonly<Record<string, unknown>> | null }

type FigureRow = Pick<
  SummaryRow,
  | 'id'
  | 'rda_id'
  | 'rda_slug'
  | 'rda_version'
  | 'status'
  | 'cost'
  | 'model_id'
  | 'prompt_tokens'
  | 'completion_tokens'
  | 'error_code'
  | 'error'
  | 'created_at'
  | 'started_at'
  | 'ended_at'
  | 'duration_ms'
>

export function fromCustomerRow(row: CustomerRow): CustomerRun {
  return {
    id: row.id,
    rdaId: row.rda_id,
    rdaSlug: row.rda_slug,
    rdaVersion: row.rda_version,
    state: row.status,
    cost: row.cost,
    modelId: row.model_id,
    usage: usageOf(row),
    failure: failureOf(row),
    createdAt: row.created_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    durationMs: row.duration_ms,
    inputsShared: row.inputs_shared,
    inputs: row.inputs,
  }
}

export function fromSummaryRow(row: SummaryRow): RunSummary {
  return {
    id: row.id,
    environment: row.environment,
    userId: row.user_id,
    subject: row.subject,
    agentId: row.agent_id,
    rdaId: row.rda_id,
    rdaSlug: row.rda_slug,
    rdaType: row.rda_type,
    rdaVersion: row.rda_version,
    ownerId: row.owner_id,
    payerId: row.payer_id,
    state: row.status,
    locked: row.locked,
    price: row.price,
    cost: row.cost,
    modelId: row.model_id,
    usage: usageOf(row),
    failure: failureOf(row),
    webhookUrl: row.webhook_url,
    process: row.process,
    deadline: row.deadline,
    createdAt: row.created_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    durationMs: row.duration_ms,
  }
}

function usageOf(row: FigureRow): Usage | null {
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = row
  return promptTokens === null || completionTokens === null ? null : { promptTokens, completionTokens }
}

function failureOf({ error_code: code, error }: FigureRow): Failure | null {
  return code === null ? null : { code, sentence: error ?? '' }
}

export function fromRow(row: WholeRow): Run {
  return { ...fromSummaryRow(row), inputs: row.inputs, output: row.output }
}
