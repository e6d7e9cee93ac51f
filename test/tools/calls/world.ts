import type { ImportRequest } from '../../../service/tools/service/catalogue/importing.ts'
import { usdc } from '../../../service/kit/money.ts'
import { testService, type Answer, type Hooks, type TestPerson, type TestService } from '../../harness/service.ts'
import { Upstream } from './upstream.ts'

export interface ToolWorld {
  service: TestService
  /** The server behind the tools. */
  upstream: Upstream
  /** A new user with this much in the wallet; every user has 5 of free credits. */
  caller(wallet?: number): Promise<TestPerson>
  call(caller: TestPerson | string, slug: string, input?: unknown, headers?: Record<string, string>): Promise<Answer>
  left(caller: TestPerson): Promise<{ credits: number; balance: number; available: number; locks: number }>
  /** Takes this much of a user's money, credits first. */
  spend(caller: TestPerson, amount: bigint): Promise<void>
  /** The number of open holds, over all users. */
  locks(): Promise<number>
  close(): Promise<void>
}

/** The whole service, with the tools of one document whose server answers here. Each costs 0.01. */
export async function toolWorld(environment: Record<string, string> = {}, hooks: Hooks = {}): Promise<ToolWorld> {
  const service = await testService(
    {
      ALLOW_HOSTS: '127.0.0.1',
      RATE_TOOLS_PER_MINUTE: '0',
      TOOL_CALLS_AT_ONCE: '0',
      TOOL_PROVIDER_AT_ONCE: '1000',
      RATE_API_PER_MINUTE: '0',
      ...environment,
    },
    hooks,
  )
  const upstream = await new Upstream().listen()
  await service.catalogue.importDocument(importRequest(upstream.url), JSON.stringify(DOCUMENT))

  async function sum(text: string): Promise<number> {
    const [row] = await service.database.statements.run<{ count: bigint }>(text, [])
    return Number(row!.count)
  }

  return {
    service,
    upstream,
    async caller(wallet = 0) {
      const person = await service.person()
      if (wallet > 0) await person.call('POST', '/v1/wallet/deposit', { body: { amount: wallet } })
      return person
    },
    call: (caller, slug, input = {}, headers = {}) =>
      service.call('POST', `/tools/${slug}`, {
        body: input,
        headers,
        key: typeof caller === 'string' ? caller : caller.key,
      }),
    async left(caller) {
      const { credits } = (await caller.call('GET', '/v1/credits')).body
      const { wallet } = (await caller.call('GET', '/v1/wallet/balance')).body
      return {
        credits: credits.balance,
        balance: wallet.balance,
        available: wallet.availableBalance,
        locks: Object.keys(wallet.pendingLocks as object).length,
      }
    },
    async spend({ caller: { user } }, micro) {
      const owner = { userId: user.id, environment: 'sandbox' as const }
      const [id, amount] = [`spend-${user.id}`, usdc(micro)]
      const { ledger } = service
      const deadline = new Date(service.clock.now().getTime() + 60_000)
      await ledger.reserve({ id, owner, amount, useCredits: true, deadline, reference: null })
      const capture = {
        hold: id,
        owner,
        amount,
        shares: [],
        kind: 'capture' as const,
        reference: null,
        announcements: [],
      }
      await ledger.capture(capture)
    },
    locks: () => sum(`SELECT count(*) FROM ledger_hold WHERE state = 'open'`),
    async close() {
      await service.close()
      await upstream.close()
    },
  }
}

export function importRequest(server: string, more: Partial<ImportRequest> = {}): ImportRequest {
  return {
    environment: 'sandbox',
    ownerId: null,
    slug: 'acme',
    name: 'Acme',
    description: null,
    simulated: false,
    trusted: false,
    source: null,
    pricing: { otherwise: usdc(10_000n) },
    server,
    auth: null,
    ...more,
  }
}

const json = (schema: unknown) => ({ content: { 'application/json': { schema } } })
const ok = { 200: { description: 'Done', ...json({ type: 'object' }) } }
const text = { type: 'string' }

/** One of each feature that documents have. */
export const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Acme', version: '1' },
  servers: [{ url: 'https://acme.example' }],
  paths: {
    '/words/{word}': {
      get: {
        operationId: 'getWord',
        summary: 'Look a word up',
        parameters: [
          { name: 'word', in: 'path', required: true, schema: { ...text, maxLength: 40 } },
          { name: 'language', in: 'query', schema: { ...text, enum: ['en', 'de'] } },
          { name: 'tags', in: 'query', schema: { type: 'array', items: text } },
          { name: 'X-Trace', in: 'header', schema: text },
        ],
        responses: ok,
      },
    },
    '/notes': {
      post: {
        operationId: 'createNote',
        summary: 'Write a note down',
        requestBody: {
          required: true,
          ...json({
            type: 'object',
            required: ['title'],
            properties: { title: text, pages: { type: 'integer', minimum: 1 }, more: { type: 'object' } },
          }),
        },
        responses: ok,
      },
    },
    '/picture': {
      get: {
        operationId: 'getPicture',
        summary: 'A picture',
        responses: {
          200: { description: 'Done', content: { 'image/png': { schema: { ...text, format: 'binary' } } } },
        },
      },
    },
    '/text': {
      get: {
        operationId: 'getText',
        summary: 'A text',
        responses: { 200: { description: 'Done', content: { 'text/plain': { schema: text } } } },
      },
    },
    '/anything': { get: { operationId: 'getAnything', summary: 'Whatever the test wants', responses: ok } },
    '/slow': { get: { operationId: 'getSlow', summary: 'Answers when it is told to', responses: ok } },
  },
}
