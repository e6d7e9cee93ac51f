import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { TestPerson } from '../harness/service.ts'
import { toolWorld, type ToolWorld } from './calls/world.ts'
import { post, VERSION, type Message } from './mcp-client.ts'

const CAPABILITIES = { elicitation: { url: {} } }
const NOTE = { name: 'acme-create-note', arguments: { title: 'Paid by a person' } }
const TOP_UP = 'https://pay.example/top-up'

/** A call that is not affordable, or not approved, is made possible by a person on a page. */
describe('MCP calls that need a person', () => {
  let world: ToolWorld
  let address: string
  beforeAll(async () => {
    world = await toolWorld({ TOP_UP_URL: TOP_UP })
    address = `${world.service.origin}/tools/mcp`
    world.upstream.respondWith('/notes', { id: 7 }, 201)
  })
  afterAll(() => world.close())

  async function poor(): Promise<TestPerson> {
    const person = await world.caller()
    await world.spend(person, 5_000_000n)
    return person
  }
  const pay = (person: TestPerson) => person.call('POST', '/v1/wallet/deposit', { body: { amount: 1 } })

  /** A client whose person does this with the page that they are shown. */
  async function client(key: string, onPage: (url: string) => Promise<'accept' | 'decline' | 'cancel'>) {
    const client = new Client(
      { name: 'test', version: '1' },
      { capabilities: CAPABILITIES, versionNegotiation: { mode: { pin: VERSION } } },
    )
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      if (params.mode !== 'url') throw new Error('not a page')
      return { action: await onPage(params.url) }
    })
    const headers = { authorization: `Bearer ${key}` }
    await client.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers } }))
    return client
  }

  const call = (key: string, more: Record<string, unknown> = {}, message: Partial<Message> = {}) =>
    post(address, key, {
      method: 'tools/call',
      params: { ...NOTE, ...more },
      capabilities: CAPABILITIES,
      ...message,
    })

  /** The state of a call that waits, of someone who has paid meanwhile. */
  async function waiting() {
    const person = await poor()
    const { body } = await call(person.key)
    await pay(person)
    return { person, requestState: body.result.requestState as string }
  }

  test('a person adds funds, and the official client gets its result', async () => {
    const person = await poor()
    const pages: string[] = []
    const mcp = await client(person.key, async (url) => {
      pages.push(url)
      await pay(person)
      return 'accept'
    })
    expect(await mcp.callTool(NOTE)).toMatchObject({
      structuredContent: { id: 7 },
      _meta: { 'coinslot/billing': { cost: 0.01, balance: 0.99 } },
    })
    expect(pages).toEqual([TOP_UP])
    await mcp.close()
  })

  test('a person approves an agent’s call, on a page that the agent itself cannot use', async () => {
    const person = await world.caller(1)
    const { agent } = (await person.call('POST', '/v1/agents', { body: { name: 'Buyer', approvalAbove: 0.001 } })).body
    const body = { name: 'agent', agentId: agent.id }
    const { secret } = (await person.call('POST', '/v1/keys', { body })).body as { secret: string }
    const pages: string[] = []
    const mcp = await client(secret, async (url) => {
      pages.push(url)
      const { approvals } = (await person.call('GET', '/v1/approvals?status=pending')).body
      await person.call('POST', `/v1/approvals/${String(approvals[0].id)}/approve`)
      return 'accept'
    })
    expect(await mcp.callTool(NOTE)).toMatchObject({ structuredContent: { id: 7 } })
    // The mail's link decides by itself. This page asks for the owner's sign-in.
    expect(pages.map((page) => new URL(page)).map(({ pathname, search }) => pathname + search)).toEqual(['/agents'])
    await mcp.close()
  })

  test('a person who declines is charged nothing, also when the call has become possible', async () => {
    for (const action of ['decline', 'cancel'] as const) {
      const person = await poor()
      const mcp = await client(person.key, async () => {
        await pay(person)
        return action
      })
      expect(await mcp.callTool(NOTE)).toMatchObject({ isError: true })
      expect(await world.left(person)).toMatchObject({ balance: 1, locks: 0 })
      await mcp.close()
    }
  })

  test('continue with the same operation when repeated, once', async () => {
    const { person, requestState } = await waiting()
    const inputResponses = { page: { action: 'accept' } }
    const { result } = (await call(person.key, { requestState, inputResponses })).body
    expect(result).toMatchObject({ resultType: 'complete', structuredContent: { id: 7 } })
    const operation = requestState.split('.')[0]!
    expect(result._meta['coinslot/billing'].callId).toBe(operation.replace('op_', 'call_'))
    const again = await call(person.key, { requestState, inputResponses })
    expect([again.status, again.body.error]).toEqual([
      200,
      expect.objectContaining({ code: -32602, message: expect.stringContaining('was used before') }),
    ])
    expect(await world.left(person)).toMatchObject({ balance: 0.99, locks: 0 })
  })

  test('ask the person again while the balance is still too low', async () => {
    const person = await poor()
    const first = (await call(person.key)).body.result
    expect(first).toMatchObject({
      resultType: 'input_required',
      inputRequests: { page: { method: 'elicitation/create', params: { mode: 'url', url: TOP_UP } } },
    })
    const { requestState } = first as { requestState: string }
    const { result } = (await call(person.key, { requestState, inputResponses: { page: { action: 'accept' } } })).body
    expect(result.resultType).toBe('input_required')
    const next = result.requestState as string
    expect(next).not.toBe(requestState)
    expect(next.split('.')[0]).toBe(requestState.split('.')[0])
  })

  test('a state of another caller or request, an altered or an expired one is refused and charges nothing', async () => {
    const { person, requestState } = await waiting()
    const other = await world.caller(1)
    const otherKey = (await person.call('POST', '/v1/keys', { body: { name: 'other' } })).body.secret as string
    const times = world.upstream.to('/notes').length
    const altered = `${requestState.slice(0, -1)}${requestState.endsWith('A') ? 'B' : 'A'}`
    const [operation, ...rest] = requestState.split('.')
    const renamed = [`${operation!.slice(0, -1)}${operation!.endsWith('0') ? '1' : '0'}`, ...rest].join('.')
    const refused = [
      await call(other.key, { requestState }),
      await call(otherKey, { requestState }),
      await call(person.key, { requestState, arguments: { title: 'Another' } }),
      await call(person.key, { requestState, name: 'acme-get-slow', arguments: {} }),
      await call(person.key, { requestState: altered }),
      await call(person.key, { requestState: renamed }),
      await call(person.key, { requestState: '' }),
      await call(person.key, { requestState: 'nonsense' }),
    ]
    world.service.clock.forward(3_600_001)
    refused.push(await call(person.key, { requestState }))
    expect(refused.map(({ body }) => body.error?.code)).toEqual(refused.map(() => -32602))
    expect(refused.at(-1)!.body.error!.message).toContain('has expired')
    expect(world.upstream.to('/notes')).toHaveLength(times)
    expect(await world.left(person)).toMatchObject({ balance: 1, locks: 0 })
    expect(await world.left(other)).toMatchObject({ balance: 1, credits: 5 })
  })

  test('return insufficient_credits to a client that opens no pages', async () => {
    const person = await poor()
    for (const capabilities of [{}, { elicitation: { form: {} } }]) {
      const { body } = await call(person.key, {}, { capabilities })
      expect(body.result).toMatchObject({
        isError: true,
        structuredContent: { error: { code: 'insufficient_credits' } },
      })
    }
  })
})
