import { setTimeout as wait } from 'node:timers/promises'
import express from 'express'
import { pino } from 'pino'
import { mountMcp } from '../../service/api/mcp/mount.ts'
import { Metrics } from '../../service/api/metrics.ts'
import { answerErrors, openRequest } from '../../service/api/requests.ts'
import { listen } from '../../service/api/server.ts'
import type { Caller } from '../../service/kit/caller.ts'
import { systemClock } from '../../service/kit/clock.ts'
import { deriveId, newId } from '../../service/kit/ids.ts'
import { usdc } from '../../service/kit/money.ts'
import { DomainError } from '../../service/kit/errors.ts'
import { callAborted, upstreamError } from '../../service/tools/errors/call.ts'
import { createToolServer } from '../../service/tools/mcp/server.ts'
import type { Binary, CallInput, CallId, CallResult, CallState } from '../../service/tools/model/call.ts'
import type { JsonSchema, Tool } from '../../service/tools/model/tool.ts'

export interface Fixtures {
  url: string
  close(): Promise<void>
}

/** The service's MCP, before a catalogue of what the protocol's suite looks for. */
export async function startFixtures(): Promise<Fixtures> {
  const log = pino({ level: 'silent' })
  const states = new Map<CallId, CallState>()
  const tools = Object.keys(ANSWERS).map(toTool)
  const listed = tools.map((tool) => ({ tool, stats: null, needs: 'nothing' as const, simulated: false, fit: null }))
  const service = createToolServer({
    catalogue: {
      isSimulated: () => Promise.resolve(false),
      bySlug: (_, slug) => Promise.resolve(tools.find((tool) => tool.slug === slug)!),
      get: (_, slug) => Promise.resolve(listed.find(({ tool }) => tool.slug === slug)!),
      list: () => Promise.resolve({ tools: listed, total: listed.length, nearest: [] }),
      search: () => Promise.resolve({ tools: listed, total: listed.length, nearest: [] }),
    },
    calls: {
      async call(input) {
        const id = deriveId('call', input.operation)
        states.set(id, { state: 'under way' })
        try {
          const call = await answer(input)
          states.set(id, { state: 'ended', call, endedAt: new Date() })
          return call
        } catch (error) {
          states.set(id, endedBy(id, error))
          throw error
        }
      },
      result: () => Promise.reject(new Error('no call of the suite goes on after it')),
      state: (_, operation) => Promise.resolve(states.get(deriveId('call', operation)) ?? null),
      balance: () => Promise.resolve({ credits: usdc(0n), wallet: usdc(0n) }),
    },
    // Sold to guests only, and this server has none.
    payments: {} as never,
    facilitator: 'http://localhost/facilitator',
    countCall: () => Promise.resolve(),
    countGuest: () => Promise.resolve(),
    pages: { addFunds: 'http://localhost/wallet', approvals: 'http://localhost/agents' },
    topUpUrl: null,
    version: '1',
  })
  const mcp = mountMcp({
    clock: systemClock,
    log,
    redis: null,
    address: 'http://localhost/mcp',
    // No client of this suite names its calls.
    idempotency: {} as never,
    resourceMetadata: 'http://localhost/.well-known/oauth-protected-resource/mcp',
    guest: null,
    identify: () => Promise.resolve(SOMEBODY),
    limit: () => Promise.resolve({ headers: {}, refusal: null }),
    messagesMax: null,
    bodyBytesMax: 262_144,
    origins: [],
    secret: 's'.repeat(32),
    taskAfterMs: 20,
    service,
  })
  const app = express()
  app.use(openRequest(systemClock, log, new Metrics()))
  app.use('/mcp', mcp.handler)
  app.use(answerErrors(log))
  const running = await listen(app, 0, '127.0.0.1')
  return {
    url: `http://127.0.0.1:${String(running.port)}/mcp?view=all`,
    async close() {
      await mcp.close()
      await running.drain(1_000)
    },
  }
}

const bytes = (contentType: string, base64: string): Binary => ({
  contentType,
  base64,
  bytes: Buffer.from(base64, 'base64').length,
})

type Answer = (call: CallInput) => unknown

const ANSWERS: Readonly<Record<string, Answer>> = {
  test_simple_text: () => 'This is a simple text response for testing.',
  test_image_content: () =>
    bytes(
      'image/png',
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    ),
  test_audio_content: () => bytes('audio/wav', 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='),
  test_embedded_resource: () => bytes('application/pdf', 'JVBERi0='),
  test_error_handling: () => {
    throw upstreamError('This tool intentionally returns an error for testing.')
  },
  test_tool_with_progress: ({ onProgress }) => {
    for (const progress of [0, 50, 100]) onProgress?.({ progress, total: 100, message: null })
    return 'Done.'
  },
  test_reconnection: () => 'Reconnected.',
  json_schema_2020_12_tool: () => 'Schema.',
  greet: ({ input }) => `Hello, ${(input as { name: string }).name}!`,
  async slow_compute({ input, signal }) {
    const { seconds } = input as { seconds: number }
    await wait(seconds * 1_000, undefined, { signal }).catch(() => {
      throw callAborted()
    })
    return 'Computed.'
  },
  async failing_job() {
    await wait(100)
    throw upstreamError('This job fails.')
  },
  async protocol_error_job() {
    await wait(100)
    throw new Error('its process died')
  },
}

/** What becomes of a call that has failed. One that ended with an error of our own has no result. */
function endedBy(id: CallId, error: unknown): CallState {
  if (!(error instanceof DomainError)) return { state: 'lost' }
  const failure = { code: error.code, sentence: error.message }
  return { state: 'ended', call: { id, failure }, endedAt: new Date() }
}

const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  json_schema_2020_12_tool: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: {
      address: {
        $anchor: 'address',
        type: 'object',
        properties: { street: { type: 'string' }, city: { type: 'string' } },
      },
    },
    properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
    allOf: [{ anyOf: [{ required: ['name'] }, { required: ['address'] }] }],
    if: { required: ['address'] },
    then: { required: ['name'] },
    else: { required: ['name'] },
    additionalProperties: false,
  },
  ...Object.fromEntries(
    ['greet', 'slow_compute', 'failing_job', 'protocol_error_job'].map((name) => [name, { type: 'object' }]),
  ),
}

async function answer(call: CallInput): Promise<CallResult> {
  const output = await ANSWERS[call.slug]!(call)
  const [cost, credits, balance] = [usdc(1n), usdc(2n), usdc(3n)]
  const callId = deriveId('call', call.operation)
  const kind = { outputKind: 'text', simulated: false, pages: null, operation: null } as const
  return { callId, tool: call.slug, output, ...kind, cost, credits, balance, durationMs: 1 }
}

function toTool(slug: string): Tool {
  return {
    id: newId('tool', new Date()),
    environment: 'sandbox',
    slug,
    name: slug,
    description: slug,
    provider: 'suite',
    category: null,
    price: usdc(1n),
    ownerId: null,
    input: SCHEMAS[slug] ?? { type: 'object', properties: {}, additionalProperties: false },
    output: null,
    upstream: { kind: 'mcp', server: 'https://suite.example', tool: slug },
    status: 'live',
    successor: null,
    deprecated: false,
    version: 1,
    contentHash: slug,
  }
}

const SOMEBODY: Caller = {
  user: null,
  subject: 'somebody',
  issuer: 'coinslot',
  environment: 'sandbox',
  via: 'key',
  keyId: 'key_somebody',
  agentId: null,
}
