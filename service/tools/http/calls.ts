import { z } from 'zod'
import { reply, route, type AnyRoute } from '../../api/route.ts'
import { preferredWait } from '../../kit/http.ts'
import { isId } from '../../kit/ids.ts'
import { toWire } from '../../kit/money.ts'
import { amountOut, page, timestamp } from '../../kit/wire.ts'
import { callMissing, keyMissing, needsAccount } from '../errors/call.ts'
import type { CallResult, CallSummary, OperationUnderWay } from '../model/call.ts'
import type { Calls } from '../service/calls/calls.ts'
import { paidFields, toolInput, type ToolDoor } from './pay.ts'
import { bound, reading, toReading } from './reading.ts'

/**
 * Calls of tools over plain HTTP. These routes come after all others of the address, because `/{slug}` matches what is
 * left.
 */
export function callRoutes(calls: Calls, door: ToolDoor): AnyRoute[] {
  return [
    route({
      method: 'post',
      path: '/:slug',
      summary:
        'Call a tool with the inputs in the body; only a successful call is charged. Without a key a 402 response states the price, for x402 version 1 or 2 and MPP',
      tag: 'Tools',
      auth: 'optional',
      idempotent: true,
      limit: 'tool-calls',
      sells: { description: 'One call of the tool', limit: 'pay' },
      params: z.object({ slug: z.string() }),
      query: reading.extend(bound.shape),
      body: toolInput,
      answers: { 200: callOut },
      errors: {
        401: 'The key is wrong; or there is none, and this server cannot settle payments.',
        402: 'With a key: insufficient credits and balance (`required`, `available`). Without one: the price, or why the payment was refused.',
        403: 'A limit of the agent refuses the call.',
        404: 'There is no such tool.',
        409: 'The tool needs a connection; a person opens `connectUrl`. Nothing is charged. Or the authorization already paid for something else, or its call is in progress.',
        410: 'The tool was removed; `successor` names its replacement. Or the authorization has expired.',
        502: 'The tool failed; `upstream` is its error. Nothing is charged.',
        503: 'Too many calls to this provider are in progress. Or settlement is pending: retry with the payment token.',
        504: 'The tool did not answer in time; nothing is charged.',
      },
      async handle({ caller, params, query, body, operation, keyHash, mayHaveBegun, gone, header }) {
        const { maxCost = null } = query
        if (caller === null) {
          if (!door.isOpen()) throw keyMissing()
          if (query.fields !== undefined || query.all !== undefined) throw needsAccount()
          return await door.sell({ header, operation, gone }, { slug: params.slug, input: body, maxCost })
        }
        const connection = header('x-connection') ?? null
        const named = { slug: params.slug, operation, keyed: keyHash !== null, mayHaveBegun, maxCost }
        const ask = { caller, ...named, input: body, signal: gone(), connection }
        return reply(200, toResult(await calls.call({ ...ask, ...toReading(query) })))
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
    route({
      method: 'get',
      path: '/tool-calls/:callId',
      summary: 'The result of a call; asks the tool again, for nothing, where its work goes on (`Prefer: wait=60`)',
      tag: 'Tools',
      auth: 'agent',
      limit: 'tool-calls',
      params: z.object({ callId: z.string() }),
      query: reading.pick({ fields: true }),
      answers: { 200: callOut },
      errors: {
        404: 'You have no such call.',
        409: 'The tool needs a connection; a person opens `connectUrl`.',
        410: 'The answer is no longer stored.',
        502: 'The tool failed, or the work did; `upstream` is its error.',
        504: 'The tool did not answer in time.',
      },
      async handle({ caller, params, query, header, gone }) {
        const { fields = null } = toReading(query)
        const waitMs = preferredWait(header('prefer')) * 1_000
        const { callId: id } = params
        if (!isId('call', id)) throw callMissing()
        return reply(200, toResult(await calls.result(caller, id, { fields, waitMs, signal: gone() })))
      },
    }),
  ]
}

export function toResult(result: CallResult) {
  const { tool, output, simulated, pages, operation, cost, credits, balance, durationMs, callId } = result
  return {
    success: true,
    tool,
    output,
    simulated,
    ...(pages === null ? null : { pages }),
    ...(operation === null ? null : { operation: toOperation(operation) }),
    cost: toWire(cost),
    credits: toWire(credits),
    balance: toWire(balance),
    duration: durationMs,
    callId,
  }
}

export function toOperation({ askAt, expiresAt }: OperationUnderWay) {
  return { askAt: askAt.toISOString(), expiresAt: expiresAt.toISOString() }
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
    description:
      'JSON as the tool returned it, text as a string, bytes as `{contentType, base64, bytes}`; an answer that is too large to be sent as `{url, name, contentType, bytes, expiresAt}`',
  }),
  simulated: z.boolean().meta({ description: 'The sandbox made the output up; the tool was not called' }),
  pages: z
    .object({
      read: z.int().meta({ description: 'Each page costs as much as a call' }),
      next: z
        .record(z.string(), z.unknown())
        .nullable()
        .meta({ description: 'The input that goes on after these pages; null when this is everything' }),
    })
    .optional()
    .meta({ description: 'With `all`: the pages that `output` was put together from' }),
  operation: z
    .object({
      askAt: timestamp.meta({ description: 'The tool is not asked again before' }),
      expiresAt: timestamp.meta({ description: 'Until then the result can be fetched' }),
    })
    .optional()
    .meta({
      description:
        'The tool is still at work, and `output` says how far it is: `GET /v1/tool-calls/{callId}` asks again, free of charge',
    }),
  cost: amountOut,
  credits: amountOut.nullable().meta({ description: 'What is left of the free credits; null without a key' }),
  balance: amountOut.nullable().meta({ description: 'What is left in the wallet; null without a key' }),
  duration: z.int().meta({ description: 'Milliseconds' }),
  callId: z.string(),
  ...paidFields,
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
