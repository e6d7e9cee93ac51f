import { z } from 'zod'
import type { Described } from '../../api/route.ts'
import { word } from '../../kit/wire.ts'
import { OWN } from '../mcp/own-tools.ts'

/** The MCP server as the API reference shows it, under `{tools}/mcp`. */
export function mcpReference(limits: McpLimits): Described[] {
  return [streamable(limits), listening, ending, legacyMessage]
}

export interface McpLimits {
  address: string
  requestsPerMinute: number
  callsPerMinute: number
  callsAtOnce: number
  bodyBytes: number
  taskAfterMs: number
}

const common = { tag: 'MCP', auth: 'agent' } as const
const SESSION = word(200)

const query = z.object({
  key: word(8_192).optional().meta({
    description:
      'An API key, for clients that can send no header. Addresses end up in logs and histories: use a key with limits',
  }),
  auth: z.enum(['oauth']).optional().meta({
    description:
      'Answers a request without a credential with 401, so that the client asks the owner for access by OAuth',
  }),
  view: z
    .enum(['all'])
    .optional()
    .meta({ description: 'Lists every tool, 100 a page; without it, five tools give access to all others' }),
  provider: word(200).optional().meta({ description: 'Lists the tools of this provider themselves' }),
  collection: word(200).optional().meta({ description: 'Lists the tools of this collection themselves' }),
})

const message = z.object({
  jsonrpc: z.literal('2.0'),
  id: z
    .union([word(200), z.int()])
    .optional()
    .meta({ description: 'Absent in a notification', examples: [1] }),
  method: word(200).meta({ description: '`initialize`, `ping`, `tools/…`, `resources/…`', examples: ['tools/list'] }),
  params: z.looseObject({}).optional(),
})

const answered = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.int()]).meta({ examples: [1] }),
  result: z.looseObject({}).optional(),
  error: z.object({ code: z.int(), message: z.string() }).optional(),
})

function streamable({
  address,
  requestsPerMinute,
  callsPerMinute,
  callsAtOnce,
  bodyBytes,
  taskAfterMs,
}: McpLimits): Described {
  const bounds = [
    each(requestsPerMinute, 'requests a minute for a key'),
    each(callsPerMinute, 'calls of tools a minute for a key'),
    each(callsAtOnce, 'calls at once'),
    `bodies of at most ${String(bodyBytes)} bytes`,
  ].filter((bound) => bound !== null)
  const own = OWN.map(({ name, description }) => `\`${name}\`: ${description}`)
  return {
    ...common,
    method: 'post',
    path: '',
    summary: 'Send a message by Streamable HTTP, the transport of MCP since 2025',
    description: [
      'Authenticate with `Authorization: Bearer` and an API key or an OAuth access token for this address; or with `?key=`, for clients that can send no header, although addresses end up in logs and histories. An agent’s key is bound by the agent’s limits. Without a key you are a guest and pay for each call: its first answer states the price for x402 and MPP, and you call again with the payment in `_meta`; streams and sessions need a key. With `?auth=oauth` the answer is 401, and `WWW-Authenticate` names the metadata from which a client learns how to ask the owner for access.',
      '`initialize` answers a session in `Mcp-Session-Id`; send it with each message that follows. A session lasts 24 hours and belongs to the key that started it. It is optional: without one, each request stands alone. With one, you can fetch the answer of a call whose connection broke by GET with `Last-Event-ID`, and cancel a call by `notifications/cancelled`.',
      'A call that you name is charged once, however often you repeat it: send the header `Idempotency-Key`, or `params._meta["coinslot/idempotency-key"]` if your client cannot send a header for each call. The same call with the same key returns the answer that you lost, or the call’s task, for 24 hours; with other arguments it is refused with -32602 and `data.code` `idempotency_conflict`. After a broken connection a repetition may wait up to 30 seconds. Guests fetch a lost answer with the payment’s token. Where `_meta["coinslot/payment"]` of your answer names what was charged, a call of the same tool with the same member has that answer again, or is refused, and charges nothing.',
      'Version 2026-07-28 has no `initialize` and no session: each message names the version, the client and its capabilities in `params._meta`, and its headers `MCP-Protocol-Version`, `Mcp-Method` and `Mcp-Name` equal the body. `server/discover` says what there is. Closing the connection cancels a call that was not sent to its tool yet.',
      `With the capability \`io.modelcontextprotocol/tasks\` a call that takes longer than ${String(taskAfterMs)} ms is answered with a task. \`tasks/get\` returns its state and its result for 24 hours, \`tasks/cancel\` ends it if it was not sent to its tool yet. Calls without a key are not made tasks.`,
      'With the capability `elicitation.url` a call that is not affordable, or that an agent’s owner must approve, is answered with `input_required`: a page for the person, and a `requestState` that is good once, for an hour, for the same key and the same call. Repeat the call with it and `inputResponses` once the person has finished; if the person declines, nothing is called.',
      `Without a view these tools are listed. ${own.join(' ')}`,
      'A result has `structuredContent`, and in `_meta["coinslot/billing"]` what the call cost and what is left: `{cost, credits, balance, callId}`. Only a success is charged. Errors that a model can act on (an invalid input, insufficient balance, a failed tool) are results with `isError`, not protocol errors. Each tool’s documentation is a resource, `tools/list` and `resources/list` are paged by `cursor`.',
      `Limits: ${bounds.join(', ')}. Browser pages may send requests only from the dashboard’s origin and those in \`CORS_ORIGINS\`.`,
    ].join('\n\n'),
    headers: z.object({
      Accept: word(200).meta({ examples: ['application/json, text/event-stream'] }),
      'Mcp-Session-Id': SESSION.optional().meta({ description: 'From the response to `initialize`' }),
      'Idempotency-Key': word(255).optional().meta({ description: 'Names a `tools/call`, so that it can be repeated' }),
      'MCP-Protocol-Version': word(20)
        .optional()
        .meta({ description: 'As agreed by `initialize`, or `2026-07-28`, which needs no agreement' }),
      'Mcp-Method': word(200).optional().meta({ description: 'From 2026-07-28 on: the method of the body' }),
      'Mcp-Name': word(1_000).optional().meta({
        description: 'From 2026-07-28 on: the tool’s name, the resource’s URI or the task’s id in the body',
      }),
    }),
    query,
    body: message,
    answers: { 200: answered, 202: z.undefined() },
    errors: {
      400: 'The headers differ from the body (-32020), the version is not supported (-32022), or the client lacks a capability (-32021).',
      404: 'The session has ended or belongs to another key: start a new one. Or the method is not known (-32601).',
      406: 'Accept must name both application/json and text/event-stream.',
    },
    samples: [
      {
        title: 'Call a tool',
        text: [
          `curl -s ${address} -H "Authorization: Bearer $COINSLOT_KEY" -H 'Content-Type: application/json' \\`,
          "  -H 'Accept: application/json, text/event-stream' \\",
          `  -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_tools","arguments":{"query":"weather"}}}'`,
        ].join('\n'),
      },
      {
        title: 'Client settings',
        text: JSON.stringify(
          { mcpServers: { coinslot: { url: address, headers: { Authorization: 'Bearer csk_test_…' } } } },
          null,
          2,
        ),
      },
    ],
  }
}

const listening: Described = {
  ...common,
  method: 'get',
  path: '',
  summary: 'Open an event stream',
  description: [
    'Without a session: the HTTP+SSE transport of 2024. The first event, `endpoint`, is the address to post messages to. It contains the session and, if the stream was opened with `?key=`, the key. All answers come as `message` events.',
    'With `Mcp-Session-Id`: the stream of Streamable HTTP. With `Last-Event-ID` it sends the answer of the call whose stream broke, as soon as there is one; without it the stream stays silent, since this server sends no messages of its own.',
  ].join('\n\n'),
  headers: z.object({
    Accept: word(200).meta({ examples: ['text/event-stream'] }),
    'Mcp-Session-Id': SESSION.optional(),
    'Last-Event-ID': word(1_000).optional(),
  }),
  query,
  answers: {},
  errors: { 404: 'The session has ended or belongs to another key.', 406: 'Accept must name text/event-stream.' },
}

const ending: Described = {
  ...common,
  method: 'delete',
  path: '',
  summary: 'End a session',
  headers: z.object({ 'Mcp-Session-Id': SESSION }),
  answers: { 200: z.undefined() },
  errors: { 404: 'The session has ended or belongs to another key.' },
}

const legacyMessage: Described = {
  ...common,
  method: 'post',
  path: '/messages',
  summary: 'Send a message to an HTTP+SSE stream, at the address that its first event named',
  description: 'Authenticate every message: the address alone is not enough.',
  query: query.pick({ key: true }).extend({ sessionId: SESSION }),
  body: message,
  answers: { 202: z.undefined() },
  errors: { 404: 'There is no such stream, or it belongs to another key.' },
}

function each(limit: number, what: string): string | null {
  return limit === 0 ? null : `${String(limit)} ${what}`
}
