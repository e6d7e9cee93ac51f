import { z } from 'zod'
import { reply, route, type AnyRoute, type ServerEvent } from '../../api/route.ts'
import { FIELDS_MAX } from '../../kit/fields.ts'
import { deriveId, isId, type Id } from '../../kit/ids.ts'
import { amount, amountOut, page, timestamp } from '../../kit/wire.ts'
import { toWire } from '../../kit/money.ts'
import { FAILURES, runFailed, runMissing, runUnsettled } from '../errors.ts'
import { ASSET_TYPES } from '../model/asset.ts'
import {
  hasEnded,
  RUN_STATES,
  type CustomerRun,
  type Run,
  type RunFigures,
  type RunInput,
  type RunSummary,
} from '../model/run.ts'
import type { EndedRun } from '../ports/run.ts'
import { timelineOf } from '../rules/run.ts'
import type { Runs } from '../service/runs/runs.ts'

/** `address` is where a run's status is asked for. */
export function runRoutes(runs: Runs, address: string): AnyRoute[] {
  return [
    runRoute(runs, address),
    route({
      method: 'get',
      path: '/runs',
      summary: "The caller's runs, newest first",
      tag: 'Runs',
      auth: 'agent',
      query: page.extend({
        status: z.enum(RUN_STATES).optional(),
        rda: z.string().max(200).optional().meta({ description: 'Slug or id' }),
      }),
      answers: {
        200: z.object({ runs: z.array(summaryBody), total: z.int(), limit: z.int(), offset: z.int() }),
      },
      async handle({ caller, query: { status = null, rda = null, limit, offset } }) {
        const found = await runs.list(caller, { state: status, rda, limit, offset })
        return reply(200, { runs: found.runs.map(toSummary), total: found.total, limit, offset })
      },
    }),
    route({
      method: 'get',
      path: '/rda/:identifier/runs',
      summary: "List customers' runs of the caller's own RDA, newest first",
      tag: 'Runs',
      auth: 'person',
      params: z.object({ identifier: z.string().meta({ description: 'Its slug or id' }) }),
      query: page.extend({ status: z.enum(RUN_STATES).optional() }),
      answers: {
        200: z.object({ runs: z.array(customerBody), total: z.int(), limit: z.int(), offset: z.int() }),
      },
      errors: { 404: 'You have no such RDA in this environment.' },
      async handle({ caller, params, query: { status = null, limit, offset } }) {
        const found = await runs.ofCustomers(caller, params.identifier, { state: status, limit, offset })
        return reply(200, { runs: found.runs.map(toCustomerRun), total: found.total, limit, offset })
      },
    }),
    route({
      method: 'get',
      path: '/runs/:id',
      summary: 'Get a run with its inputs and output',
      tag: 'Runs',
      auth: 'agent',
      params: runParams,
      answers: { 200: z.object({ run: detailBody }) },
      errors: { 404: 'There is no such run.' },
      handle: async ({ caller, params }) => reply(200, { run: toDetail(await runs.get(caller, runId(params.id))) }),
    }),
    route({
      method: 'post',
      path: '/runs/:id/cancel',
      summary: 'Cancel a run: free until its request is sent to the asset; after that, the run continues',
      tag: 'Runs',
      auth: 'agent',
      idempotent: true,
      params: runParams,
      answers: { 200: canceledOut },
      errors: { 404: 'There is no such run.', 409: 'The run has ended already.' },
      async handle({ caller, params }) {
        const run = await runs.cancel(caller, runId(params.id))
        const canceled = run.state === 'canceled'
        return reply(200, { canceled, message: canceled ? CANCELED : GOES_ON, run: toDetail(run) })
      },
    }),
    route({
      method: 'get',
      path: '/runs/:id/events',
      summary: "Stream a run's states as server-sent events until the run ends",
      tag: 'Runs',
      auth: 'agent',
      params: runParams,
      answers: { 200: z.string().meta({ description: 'Events `status`, each with the run as JSON' }) },
      errors: { 404: 'There is no such run.' },
      async handle({ caller, params }) {
        const id = runId(params.id)
        // Checked before the stream opens: a caller who may not see the run gets a status, not an empty stream.
        await runs.get(caller, id)
        return { status: 200, body: null, events: (gone) => toEvents(runs.states(caller, id, gone)) }
      },
    }),
  ]
}

function runRoute(runs: Runs, address: string): AnyRoute {
  return route({
    method: 'post',
    path: '/run',
    summary: 'Run an RDA and pay for it',
    tag: 'Runs',
    auth: 'agent',
    idempotent: true,
    errorFields: ({ operation }) => ({ runId: deriveId('run', operation) }),
    body: runBody,
    answers: { 200: ranBody, 202: queuedBody },
    errors: {
      402: 'The balance is too low, or the run may cost more than `maxCost`.',
      403: "The agent's limits refuse it, or it is more than may leave the account in 24 hours.",
      404: 'There is no such RDA, or not for this caller.',
      409: 'The run was canceled, or the Idempotency-Key conflicts.',
      429: 'The caller or the tool has reached its limit of calls per minute.',
      500: 'The run failed and was not charged. Its `runId` can be looked up; that of a request which was refused before a run began cannot.',
      503: 'The creator of a free run cannot pay for it, or payouts are paused on this server.',
    },
    async handle({ caller, body, operation, mayHaveBegun }) {
      const input = toRunInput(body)
      if (input.background) {
        const run = await runs.queue(caller, input, { operation, keyed: mayHaveBegun })
        return reply(202, { success: true, runId: run.id, status: run.state, statusUrl: `${address}/runs/${run.id}` })
      }
      const run = await runs.run(caller, input, { operation, keyed: mayHaveBegun })
      if (!hasEnded(run.state)) throw runUnsettled()
      if (run.state !== 'succeeded') throw runFailed(run, run.failure ?? FAILURES.internal)
      return reply(200, toRan(run))
    },
  })
}

const CANCELED = 'The run was canceled before its request was sent. Nothing was charged.'
const GOES_ON =
  'The run has begun and can no longer be canceled. It is charged if it succeeds; get the run to see how it ends.'

export const runBody = z.strictObject({
  rdaSlug: z.string().min(1).max(200).meta({ description: 'Slug or id of the RDA' }),
  inputs: z
    .record(z.string(), z.unknown())
    .meta({ description: 'The inputs of its input schema, by name', maxProperties: FIELDS_MAX }),
  modelId: z
    .string()
    .min(1)
    .max(200)
    .nullish()
    .meta({ description: 'For prompts only; the default model when absent' }),
  maxCost: amount.nullish().meta({ description: 'Refuse to start a run that may cost more' }),
  webhookUrl: z
    .string()
    .max(2_048)
    .nullish()
    .meta({ description: 'Receives the end of the run once, signed: `run.completed` or `run.failed`' }),
  sharesInputs: z.boolean().nullish().meta({
    description: 'Share the inputs with the creator, if the RDA requests that with its own `sharesInputs`',
  }),
  async: z.boolean().nullish().meta({ description: 'Respond with 202 at once and run in the background' }),
})

export function toRunInput(body: z.output<typeof runBody>): RunInput {
  return {
    identifier: body.rdaSlug,
    inputs: body.inputs,
    modelId: body.modelId ?? null,
    maxCost: body.maxCost ?? null,
    webhookUrl: body.webhookUrl ?? null,
    background: body.async === true,
    sharesInputs: body.sharesInputs === true,
  }
}

const usageBody = z
  .object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() })
  .nullable()
  .meta({ id: 'Usage' })

export const ranBody = z
  .object({
    success: z.boolean(),
    runId: z.string(),
    output: z.string(),
    cost: amountOut,
    duration: z.number().meta({ description: 'Milliseconds' }),
    modelId: z.string().nullable(),
    usage: usageBody,
  })
  .meta({ id: 'RunResult' })

const queuedBody = z.object({
  success: z.boolean(),
  runId: z.string(),
  status: z.enum(RUN_STATES),
  statusUrl: z.string(),
})

const summaryBody = z
  .object({
    id: z.string(),
    rdaId: z.string(),
    rdaSlug: z.string(),
    rdaType: z.enum(ASSET_TYPES),
    rdaVersion: z.string(),
    agentId: z.string().nullable().meta({ description: 'The agent whose key started the run' }),
    status: z.enum(RUN_STATES),
    maxCost: amountOut.meta({ description: 'The most that is locked for the run' }),
    cost: amountOut,
    duration: z.number().nullable(),
    modelId: z.string().nullable(),
    usage: usageBody,
    error: z.string().nullable(),
    code: z.string().nullable(),
    createdAt: timestamp,
    startedAt: timestamp.nullable(),
    endedAt: timestamp.nullable(),
  })
  .meta({ id: 'RunSummary' })

const customerBody = summaryBody
  .omit({ rdaType: true, agentId: true, maxCost: true })
  .extend({
    inputsShared: z.boolean().meta({ description: 'The customer agreed that you see the inputs' }),
    inputs: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: 'Null where they are not shared, or longer than 32 KB' }),
  })
  .meta({ id: 'CustomerRun', description: 'The caller and the output are not shown.' })

const detailBody = summaryBody
  .extend({
    inputs: z.record(z.string(), z.unknown()),
    output: z.string().nullable(),
    webhookUrl: z.string().nullable(),
    timeline: z.array(z.object({ status: z.enum(RUN_STATES), at: timestamp })),
  })
  .meta({ id: 'Run' })

const runParams = z.object({ id: z.string() })

/** A text that is no run id names no run. */
export function runId(text: string): Id<'run'> {
  if (!isId('run', text)) throw runMissing()
  return text
}

export function toRan(run: Run): z.infer<typeof ranBody> {
  return {
    success: true,
    runId: run.id,
    output: run.output ?? '',
    cost: toWire(run.cost),
    duration: run.durationMs ?? 0,
    modelId: run.modelId,
    usage: toUsage(run),
  }
}

/** The creator sees how the run went. Who ran it, its inputs and its output stay the customer's. */
export function toCustomerRun(run: CustomerRun): z.infer<typeof customerBody> {
  return {
    ...toFigures(run),
    inputsShared: run.inputsShared,
    inputs: run.inputs === null ? null : { ...run.inputs },
    error: cut(run.failure?.sentence ?? null),
  }
}

/** A long sentence may contain a part of the inputs. */
function cut(sentence: string | null): string | null {
  return sentence === null || sentence.length <= SENTENCE_MAX ? sentence : `${sentence.slice(0, SENTENCE_MAX)}…`
}

const SENTENCE_MAX = 200

function toUsage({ usage }: Pick<Run, 'usage'>): z.infer<typeof usageBody> {
  if (usage === null) return null
  const { promptTokens, completionTokens } = usage
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  }
}

export function toSummary(run: RunSummary): z.infer<typeof summaryBody> {
  return { ...toFigures(run), rdaType: run.rdaType, agentId: run.agentId, maxCost: toWire(run.price) }
}

function toFigures(run: RunFigures) {
  return {
    id: run.id,
    rdaId: run.rdaId,
    rdaSlug: run.rdaSlug,
    rdaVersion: run.rdaVersion,
    status: run.state,
    cost: toWire(run.cost),
    duration: run.durationMs,
    modelId: run.modelId,
    usage: toUsage(run),
    error: run.failure?.sentence ?? null,
    code: run.failure?.code ?? null,
    createdAt: run.createdAt.toISOString(),
    startedAt: run.startedAt?.toISOString() ?? null,
    endedAt: run.endedAt?.toISOString() ?? null,
  }
}

const canceledOut = z.object({
  canceled: z
    .boolean()
    .meta({ description: 'False when the request was already sent: the run continues and is charged if it succeeds' }),
  message: z.string(),
  run: detailBody,
})

export function toDetail(run: Run): z.infer<typeof detailBody> {
  return {
    ...toSummary(run),
    inputs: run.inputs,
    output: run.output,
    webhookUrl: run.webhookUrl,
    timeline: timelineOf(run).map(({ status, at }) => ({ status, at: at.toISOString() })),
  }
}

async function* toEvents(states: AsyncIterable<Run>): AsyncIterable<ServerEvent> {
  for await (const run of states) {
    yield { event: 'status', id: run.state, data: hasEnded(run.state) ? toDetail(run) : toSummary(run) }
  }
}

/** The body of the webhook and of the event that report a run's end. */
export function toEndEvent({ run, ...end }: EndOfRun, address: string) {
  return {
    event: end.state === 'succeeded' ? ('run.completed' as const) : ('run.failed' as const),
    data: {
      runId: run.id,
      rdaId: run.rdaId,
      rdaSlug: run.rdaSlug,
      status: end.state,
      // A long output is fetched by the receiver, not sent with every attempt of a delivery.
      output: end.output !== null && end.output.length <= OUTPUT_REPORTED_MAX ? end.output : null,
      cost: toWire(end.cost),
      duration: end.durationMs,
      modelId: run.modelId,
      usage: toUsage(end),
      error: end.failure?.sentence ?? null,
      code: end.failure?.code ?? null,
      endedAt: end.endedAt.toISOString(),
      statusUrl: `${address}/runs/${run.id}`,
    },
  }
}

export type EndOfRun = Pick<EndedRun, 'state' | 'output' | 'cost' | 'durationMs' | 'usage' | 'failure' | 'endedAt'> & {
  run: Pick<EndedRun['run'], 'id' | 'rdaId' | 'rdaSlug' | 'modelId'>
}

const OUTPUT_REPORTED_MAX = 65_536
