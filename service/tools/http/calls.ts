import { z } from 'zod'
import { reply, route, type AnyRoute } from '../../api/route.ts'
import { toWire } from '../../kit/money.ts'
import { amountOut, page, timestamp } from '../../kit/wire.ts'
import type { CallResult, CallSummary } from '../model/call.ts'
import type { Calls } from '../service/calls/calls.ts'
import { faultOfShape } from '../rules/shape.ts'

/**
 * Calls of tools over plain HTTP. These routes come after all others of the address, because `/{slug}` matches what is
 * left.
 */
export function callRoutes(calls: Calls): AnyRoute[] {
  return [
    route({
      method: 'post',
      path: '/:slug',
      summary: 'Call a tool with the inputs in the body; only a successful call is charged',
      tag: 'Tools',
      auth: 'agent',
      idempotent: true,
      limit: 'tool-calls',
      params: z.object({ slug: z.string() }),
      body: toolInput,
      answers: { 200: callOut },
      errors: {
        402: 'Insufficient credits and balance: `required`, `available`.',
        403: 'A limit of the agent refuses the call.',
        404: 'There is no such tool.',
        410: 'The tool was removed; `successor` names its replacement.',
        502: 'The tool failed; `upstream` is its error. Nothing is charged.',
        503: 'Too many calls to this provider are in progress.',
        504: 'The tool did not answer in time; nothing is charged.',
      },
      async handle({ caller, params, body, operation, keyed, gone }) {
        const ask = { caller, slug: params.slug, input: body, operation, keyed, signal: gone() }
        return reply(200, toResult(await calls.call(ask)))
      },
    }),
  ]
}

/** Under the API's address, beside the routes of runs. */
export function callHistoryRoutes(calls: Calls): AnyRoute[] {
  return [
    route({
      method: 'get',
      path: '/tool-calls',
      summary: 'Your tool calls, newest first',
      tag: 'Tools',
      auth: 'agent',
      query: page.extend({ tool: z.string().max(200).optional() }),
      answers: { 200: z.object({ calls: z.array(summaryOut), total: z.int(), limit: z.int(), offset: z.int() }) },
      async handle({ caller, query }) {
        const { limit, offset, tool = null } = query
        const { calls: listed, total } = await calls.list(caller, { limit, offset, tool })
        return reply(200, { calls: listed.map(toCall), total, limit, offset })
      },
    }),
  ]
}

export function toResult(result: CallResult) {
  const { tool, output, cost, credits, balance, durationMs, callId } = result
  return {
    success: true,
    tool,
    output,
    cost: toWire(cost),
    credits: toWire(credits),
    balance: toWire(balance),
    duration: durationMs,
    callId,
  }
}

export function toCall({ id, slug, provider, cost, failure, durationMs, endedAt, agentId }: CallSummary) {
  return {
    callId: id,
    tool: slug,
    provider,
    success: failure === null,
    cost: toWire(cost),
    error: failure?.sentence ?? null,
    code: failure?.code ?? null,
    duration: durationMs,
    agentId,
    at: endedAt.toISOString(),
  }
}

const callOut = z.object({
  success: z.literal(true),
  tool: z.string(),
  output: z.unknown().meta({
    description: 'JSON as the tool returned it, text as a string, bytes as `{contentType, base64, bytes}`',
  }),
  cost: amountOut,
  credits: amountOut.meta({ description: 'What is left of the free credits' }),
  balance: amountOut.meta({ description: 'What is left in the wallet' }),
  duration: z.int().meta({ description: 'Milliseconds' }),
  callId: z.string(),
})

const summaryOut = z.object({
  callId: z.string(),
  tool: z.string(),
  provider: z.string(),
  success: z.boolean(),
  cost: amountOut,
  error: z.string().nullable(),
  code: z.string().nullable(),
  duration: z.int(),
  agentId: z.string().nullable(),
  at: timestamp,
})

/** A tool's input before it is checked against the tool's schema. The API can handle it like any other body. */
export const toolInput = z.unknown().transform((value, context) => {
  for (const [field, message] of Object.entries(faultOfShape(value) ?? {})) {
    context.addIssue({ code: 'custom', path: field === 'body' ? [] : [field], message })
  }
  return value ?? {}
})
