import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { usdcOf } from '../facilitator/world.ts'
import { freePort } from '../harness/ports.ts'
import { SECRET, startReplica } from '../tools/calls/replica.ts'
import { post, VERSION } from '../tools/mcp-client.ts'
import { openWorld, until, type World } from './world.ts'

const CAPABILITIES = { elicitation: { url: {} } }
const ACCEPTED = { page: { action: 'accept' } }
const INPUT = { site: 'https://example.com/', depth: 3 }

type Json = Record<string, unknown>

/** A person pays on the checkout's page for what a model called, and the same call returns the answer. */
describe('a checkout’s call that a person pays for', () => {
  let world: World
  let chk: string

  beforeAll(async () => {
    const environment = { SETTLE_CONFIRMATIONS: '1', AUTH_SECRET: SECRET, PORT: String(await freePort()) }
    world = await openWorld({ chain: true, environment })
    ;({ id: chk } = await sell())
  })
  afterAll(() => world.close())
  beforeEach(async () => {
    await world.forget()
    world.workflow.answers({ delivery: { status: 200, body: '{"score":97}' } })
  })

  const FIELDS = [
    { name: 'site', label: 'Site', type: 'url', required: true },
    { name: 'depth', label: 'Depth', type: 'number', required: false },
  ]
  const sell = (terms: object = {}) => world.sell({ fields: FIELDS, responseMode: 'lastNode', price: 0.5, ...terms })
  const at = (id = chk, { origin }: { origin: string } = world.service) => `${origin}/p/${id}/mcp`
  const call = async (more: Json = {}, { to = at(), key = null }: { to?: string; key?: string | null } = {}) => {
    const params = { name: 'seo-audit', arguments: INPUT, ...more }
    return (await post(to, key, { method: 'tools/call', params, capabilities: CAPABILITIES })).body
  }

  /** A call that waits for its person. */
  async function waiting(to = at()) {
    const { result } = await call({}, { to })
    expect(result).toMatchObject({ resultType: 'input_required' })
    const { requestState, inputRequests } = result as { requestState: string; inputRequests: Json }
    const { url } = (inputRequests['page'] as { params: { url: string } }).params
    return { requestState, url, order: new URL(url).hash.slice('#order='.length) }
  }

  /** What the page sends. */
  async function pay(order: string, { id = chk, token = 'a', more = {} } = {}) {
    const payer = await world.chain.payer(1_000_000n)
    const paymentPayload = await world.sign(payer, id)
    const body = { order, token: `tok_${token.repeat(43)}`, paymentPayload, ...more }
    return { payer, ...(await world.call('POST', `/p/${id}/pay`, { body })) }
  }
  const answered = { structuredContent: { score: 97 } }

  test('the person pays on the page, and the official client gets the workflow’s answer', async () => {
    const client = new Client(
      { name: 'test', version: '1' },
      { capabilities: CAPABILITIES, versionNegotiation: { mode: { pin: VERSION } } },
    )
    const pages: string[] = []
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      if (params.mode !== 'url') throw new Error('not a page')
      pages.push(params.url)
      // A client says that its person agreed before the person has paid.
      void pay(new URL(params.url).hash.slice('#order='.length))
      return { action: 'accept' }
    })
    await client.connect(new StreamableHTTPClientTransport(new URL(at())))
    const result = await client.callTool({ name: 'seo-audit', arguments: INPUT })
    expect(result).toMatchObject({
      ...answered,
      _meta: { 'x402/payment-response': { success: true }, 'coinslot/payment': { paymentId: expect.any(String) } },
    })
    expect(pages).toHaveLength(1)
    expect(new URL(pages[0]!).pathname).toBe(`/p/${chk}`)
    expect(world.workflow.deliveries.map(({ json }) => (json as { input: unknown }).input)).toEqual([INPUT])
    await client.close()
  })

  test('a state returns the answer once, in any process, for its own request and address only', async () => {
    const { requestState, order } = await waiting()
    expect((await pay(order)).status).toBe(200)
    const buyer = await world.service.person()
    const other = await sell()
    const altered = `${requestState.slice(0, -1)}${requestState.endsWith('A') ? 'B' : 'A'}`
    const refused = [
      await call({ requestState, arguments: { ...INPUT, depth: 4 } }),
      await call({ requestState }, { to: at(other.id) }),
      await call({ requestState }, { key: buyer.key }),
      await call({ requestState: altered }),
    ]
    expect(refused.map(({ error }) => error?.code)).toEqual(refused.map(() => -32602))
    const second = await startReplica(world.service, { BASE_SEPOLIA_RPC_URLS: world.chain.url })
    const repeated = { requestState, inputResponses: ACCEPTED }
    expect((await call(repeated, { to: at(chk, second) })).result).toMatchObject(answered)
    expect((await call(repeated, { to: at(chk, second) })).error).toMatchObject({
      message: expect.stringContaining('was used before') as unknown,
    })
    await second.close()
    expect(world.workflow.deliveries).toHaveLength(1)
  })

  test('repeats the same unpaid order, which either of its links pays once', async () => {
    const first = await waiting()
    const again = call({ requestState: first.requestState, inputResponses: ACCEPTED })
    const { result } = await timesOut(again)
    expect(result).toMatchObject({ resultType: 'input_required' })
    const next = result as unknown as { requestState: string; inputRequests: { page: { params: { url: string } } } }
    expect(next.requestState).not.toBe(first.requestState)
    expect(next.requestState.split('.')[0]).toBe(first.requestState.split('.')[0])
    // Either link pays for it, once.
    expect((await pay(first.order)).status).toBe(200)
    const twin = await pay(new URL(next.inputRequests.page.params.url).hash.slice('#order='.length), { token: 'b' })
    expect([twin.status, twin.body.code]).toEqual([409, 'already_bought'])
    expect((await call({ requestState: next.requestState, inputResponses: ACCEPTED })).result).toMatchObject(answered)
  })

  test('an order is paid once: the second of two concurrent payments moves no money', async () => {
    const { order } = await waiting()
    const before = await usdcOf(world.chain, world.recipient)
    const both = await Promise.all([pay(order), pay(order, { token: 'b' })])
    const won = both.find(({ status }) => status === 200)!
    const lost = both.find(({ status }) => status !== 200)!
    expect([lost.status, lost.body.code]).toEqual([409, 'already_bought'])
    expect(lost.text).not.toContain('pay_')
    expect(await usdcOf(world.chain, lost.payer.address)).toBe(1_000_000n)
    expect(await usdcOf(world.chain, won.payer.address)).toBe(500_000n)
    expect(await usdcOf(world.chain, world.recipient)).toBe(before + 500_000n)
    await until(() => world.workflow.deliveries.length === 1)
  })

  test('one payment sent many times concurrently is one payment, and each repetition returns it', async () => {
    const { order } = await waiting()
    const paymentPayload = await world.sign(await world.chain.payer(1_000_000n), chk)
    const body = { order, token: `tok_${'a'.repeat(43)}`, paymentPayload }
    const send = () => world.call('POST', `/p/${chk}/pay`, { body })
    const answers = await Promise.all(Array.from({ length: 8 }, send))
    // A page repeats after a 503 by itself.
    expect(answers.every(({ status, body: { code } }) => status === 200 || code === 'payment_busy')).toBe(true)
    expect((await send()).status).toBe(200)
    await until(() => world.workflow.deliveries.length === 1)
  })

  test('an order buys its own input at its own checkout, until it expires', async () => {
    const { order } = await waiting()
    const other = await sell()
    const [text, signature] = order.split('.')
    const [operation, until, input] = JSON.parse(Buffer.from(text!, 'base64url').toString()) as [string, number, Json]
    const forged = (content: unknown): string =>
      `${Buffer.from(JSON.stringify(content)).toString('base64url')}.${signature!}`
    const refused = [
      await pay(order, { id: other.id }),
      await pay(forged([operation, until, { ...input, depth: 9 }])),
      await pay(forged([operation, until + 1_000, input])),
      await pay('nonsense'),
      await pay(order, { more: { input: { site: 'https://other.example/' } } }),
      await pay(order, { more: { token: undefined } }),
    ]
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 400))
    expect(Math.round((until - world.service.clock.now().getTime()) / 60_000)).toBe(30)
    world.service.clock.forward(1_800_001)
    const late = await pay(order)
    expect([late.status, late.body.code]).toEqual([410, 'order_expired'])
    expect(world.workflow.deliveries).toEqual([])
    for (const { payer } of [...refused, late]) expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n)
  })

  test('repeating the page’s own request after the order expired returns the payment', async () => {
    const { order } = await waiting()
    const { status, body, payer } = await pay(order)
    expect(status).toBe(200)
    const more = { paymentPayload: await world.sign(payer, chk) }
    world.service.clock.forward(1_800_001)
    const known = { paymentId: body.payment.id as string, order, token: `tok_${'a'.repeat(43)}` }
    const fetched = await world.call('POST', `/p/${chk}/pay`, { body: known })
    expect([fetched.status, fetched.body.payment.id]).toEqual([200, body.payment.id])
    expect((await pay(order, { more })).body.code).toBe('order_expired')
  })

  test('a declined page charges nothing; one already paid still returns the answer', async () => {
    for (const action of ['decline', 'cancel']) {
      const { requestState } = await waiting()
      const { result } = await call({ requestState, inputResponses: { page: { action } } })
      expect(result).toMatchObject({ isError: true })
      expect(JSON.stringify(result)).toContain('Nothing was charged.')
    }
    const { requestState, order } = await waiting()
    await pay(order)
    const declined = await call({ requestState, inputResponses: { page: { action: 'decline' } } })
    expect(declined.result).toMatchObject(answered)
  })

  test('returns no answer for the link and the payment’s id without the token', async () => {
    const { requestState, order } = await waiting()
    await pay(order)
    const id = `pay_${requestState.split('.')[0]!.slice(3)}`
    const { body } = await world.call('GET', `/p/${chk}/payments/${id}`)
    expect(body).toMatchObject({ payment: { status: 'paid', token: null }, delivery: { answer: null } })
    const guessed = await call({ _meta: { 'coinslot/payment': { paymentId: id } } })
    expect(JSON.stringify(guessed)).not.toContain('score')
  })

  test('in test mode the page simulates, and a payment that fails there is an error of the call', async () => {
    const { id } = await sell({ testMode: true })
    const simulate = (order: string, outcome: string, token = 'a') => {
      const body = { order, token: `tok_${token.repeat(43)}`, simulate: true, outcome }
      return world.call('POST', `/p/${id}/pay`, { body })
    }
    const to = at(id)
    const [good, bad] = [await waiting(to), await waiting(to)]
    expect((await simulate(good.order, 'paid')).status).toBe(200)
    expect((await simulate(good.order, 'paid', 'b')).body.code).toBe('already_bought')
    await simulate(bad.order, 'declined')
    const { result } = await call({ requestState: good.requestState, inputResponses: ACCEPTED }, { to })
    expect(result).toMatchObject({ ...answered, _meta: { 'coinslot/simulated': true } })
    const failed = await call({ requestState: bad.requestState, inputResponses: ACCEPTED }, { to })
    expect(failed.result).toMatchObject({ isError: true, structuredContent: { error: { code: 'payment_refused' } } })
  })

  test('in 2025-11-25 the session says which call is repeated; once answered, the same call buys again', async () => {
    async function session(capabilities: Json) {
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
      const send = async (method: string, params: Json, more: Record<string, string> = {}) => {
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
        const response = await fetch(at(), { method: 'POST', headers: { ...headers, ...more }, body })
        const text = await response.text()
        return {
          id: response.headers.get('mcp-session-id')!,
          body: JSON.parse(/^data: (.*)$/m.exec(text)![1]!) as Json,
        }
      }
      const about = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'test', version: '1' } }
      const { id } = await send('initialize', about)
      const more = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }
      return async (input: Json = INPUT) =>
        (await send('tools/call', { name: 'seo-audit', arguments: input }, more)).body as {
          result?: Json
          error?: Json
        }
    }
    const orderOf = ({ error }: { error?: Json }): string => {
      expect(error).toMatchObject({ code: -32042 })
      const { elicitations } = error!['data'] as { elicitations: { mode: string; url: string }[] }
      return new URL(elicitations[0]!.url).hash.slice('#order='.length)
    }
    const idOf = (order: string): unknown =>
      (JSON.parse(Buffer.from(order.split('.')[0]!, 'base64url').toString()) as unknown[])[0]
    const [mine, other, plain] = [
      await session({ elicitation: { url: {} } }),
      await session({ elicitation: { url: {} } }),
      await session({}),
    ]
    const order = orderOf(await mine())
    expect(idOf(orderOf(await mine()))).toBe(idOf(order))
    expect((await pay(order)).status).toBe(200)
    expect(idOf(orderOf(await other()))).not.toBe(idOf(order))
    expect(idOf(orderOf(await mine({ ...INPUT, depth: 4 })))).not.toBe(idOf(order))
    expect((await mine()).result).toMatchObject(answered)
    expect(idOf(orderOf(await mine()))).not.toBe(idOf(order))
    expect((await plain()).result).toMatchObject({ isError: true, structuredContent: { x402Version: 2 } })
    expect(world.workflow.deliveries).toHaveLength(1)
  })

  test('without pages, or where the address would be too long, the terms name the page for the model', async () => {
    const params = { name: 'seo-audit', arguments: INPUT }
    const { body } = await post(at(), null, { method: 'tools/call', params })
    const long = await call({ arguments: { site: `https://example.com/${'a'.repeat(1_800)}` } })
    for (const { result } of [body, long]) {
      expect(result).toMatchObject({ isError: true, structuredContent: { accepts: [{ amount: '500000' }] } })
      const [terms, advice] = (result as { content: { text: string }[] }).content
      expect(JSON.parse(terms!.text)).toMatchObject({ x402Version: 2 })
      expect(advice!.text).toContain(`/p/${chk}`)
    }
    const faulty = await call({ arguments: { depth: 1 } })
    expect(faulty.result).toMatchObject({ structuredContent: { error: { code: 'invalid_input' } } })
  })

  /** Lets the time pass for a call that waits, second by second. */
  async function timesOut<T>(waits: Promise<T>): Promise<T> {
    let isOver = false
    void waits.finally(() => (isOver = true))
    await until(() => {
      world.service.clock.forward(1_000)
      return isOver
    })
    return await waits
  }
})
