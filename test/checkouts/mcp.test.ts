import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { payFor, sendMcp, type Json } from '../harness/mcp.ts'
import { freePort } from '../harness/ports.ts'
import { usdcOf } from '../facilitator/world.ts'
import { openWorld, until, type World } from './world.ts'

/** A checkout as a tool: a paid call runs the workflow, and its answer is the result. */
describe('the MCP address of a checkout', () => {
  let world: World
  let chk: string
  let dies = false
  const reach = (place: string): void => {
    if (dies && place === 'outgoing payment reserved') throw new Error('the process died')
  }

  beforeAll(async () => {
    const environment = { SETTLE_CONFIRMATIONS: '1', PORT: String(await freePort()) }
    world = await openWorld({ chain: true, environment, hooks: { failpoints: { reach } } })
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
  const send = (method: string, params: Json, { at = chk, key }: { at?: string; key?: string } = {}) =>
    sendMcp(
      `${world.service.origin}/p/${at}/mcp`,
      { method, params },
      key === undefined ? {} : { authorization: `Bearer ${key}` },
    )
  const call = async (input: Json, meta: Json = {}, to: { at?: string; key?: string } = {}): Promise<Json> =>
    (await send('tools/call', { name: 'seo-audit', arguments: input, _meta: meta }, to))['result'] as Json
  const errorOf = (result: Json): unknown => (result['structuredContent'] as Json)['error']
  const INPUT = { site: 'https://example.com/' }

  test('lists one tool, with the form as its input and the price', async () => {
    const { tools } = (await send('tools/list', {}))['result'] as { tools: Json[] }
    expect(tools).toHaveLength(1)
    expect(tools[0]).toMatchObject({
      name: 'seo-audit',
      title: 'SEO audit',
      description: expect.stringContaining('Costs 0.5 USDC a call.') as unknown,
      inputSchema: { required: ['site'], properties: { site: { type: 'string' }, depth: { type: 'number' } } },
      _meta: { 'coinslot/price': '0.5', 'agents-x402/paymentRequired': true, 'agents-x402/priceUSD': 0.5 },
    })
  })

  test("runs the workflow once for a guest's payment, and repeats the answer for its token only", async () => {
    const payer = await world.chain.payer(1_000_000n)
    const unpaid = await call(INPUT)
    expect(unpaid).toMatchObject({ isError: true, structuredContent: { accepts: [{ amount: '500000' }] } })
    const payment = await payFor(world.chain, payer, unpaid)
    const paid = await call(INPUT, { 'x402/payment': payment })
    expect(paid).toMatchObject({
      structuredContent: { score: 97 },
      content: [{ type: 'text', text: '{"score":97}' }],
      _meta: { 'x402/payment-response': { success: true, payer: payer.address } },
    })
    expect(world.workflow.deliveries.map(({ json }) => (json as { input: unknown }).input)).toEqual([INPUT])
    const proof = (paid['_meta'] as Json)['coinslot/payment']
    expect(await call(INPUT, { 'coinslot/payment': proof })).toMatchObject({ structuredContent: { score: 97 } })
    const stolen = await call(INPUT, { 'x402/payment': payment })
    expect(errorOf(stolen)).toMatchObject({ code: 'payment_submitted' })
    expect(world.workflow.deliveries).toHaveLength(1)
    expect(await usdcOf(world.chain, payer.address)).toBe(500_000n)
  })

  test('returns an account’s sale for a repeated call with its key, and nothing for a guest’s key', async () => {
    await world.chain.fund(world.service.wallets.treasury()!, 100_000_000n)
    await world.chain.mine()
    const buyer = await world.service.person()
    await buyer.call('POST', '/v1/wallet/deposit', { body: { amount: 10 } })
    const named = { 'coinslot/idempotency-key': 'order-1' }
    const paid = await call(INPUT, named, { key: buyer.key })
    expect(paid).toMatchObject({
      structuredContent: { score: 97 },
      _meta: { 'coinslot/billing': { cost: 0.5, paymentId: expect.stringMatching(/^pay_/) as unknown } },
    })
    expect(await call(INPUT, named, { key: buyer.key })).toEqual(paid)
    expect(world.workflow.deliveries).toHaveLength(1)

    const payer = await world.chain.payer(1_000_000n)
    const payment = { 'x402/payment': await payFor(world.chain, payer, await call(INPUT, named)), ...named }
    expect(await call(INPUT, payment)).toMatchObject({ structuredContent: { score: 97 } })
    // The signature is public, and the key may be guessed.
    expect(errorOf(await call(INPUT, payment))).toMatchObject({ code: 'payment_submitted' })
    expect(await call(INPUT, named)).toMatchObject({ isError: true, structuredContent: { accepts: expect.anything() } })
  })

  test('a payment buys nothing at another checkout or with another input', async () => {
    const payer = await world.chain.payer(1_000_000n)
    const payment = await payFor(world.chain, payer, await call(INPUT))
    expect(await call(INPUT, { 'x402/payment': payment })).not.toHaveProperty('isError')
    const other = await sell()
    for (const refused of [
      await call(INPUT, { 'x402/payment': payment }, { at: other.id }),
      await call({ site: 'https://other.example/' }, { 'x402/payment': payment }),
    ]) {
      expect(refused['isError']).toBe(true)
    }
    expect(world.workflow.deliveries).toHaveLength(1)
    expect(await usdcOf(world.chain, payer.address)).toBe(500_000n)
  })

  test('asks for no payment for a call that cannot be served', async () => {
    expect(errorOf(await call({ depth: 1 }))).toMatchObject({ code: 'invalid_input', details: { site: 'is required' } })
    expect(await send('tools/call', { name: 'another', arguments: INPUT })).toMatchObject({ error: { code: -32_602 } })
    const missing = { at: 'chk_00000000000000000000000000' }
    expect(errorOf(await call(INPUT, {}, missing))).toMatchObject({ code: 'checkout_not_found' })
    expect(await send('tools/list', {}, missing)).toMatchObject({ error: { code: -32_602 } })
  })

  test('in test mode a call is free, and says so', async () => {
    const { id } = await sell({ testMode: true })
    expect(await call(INPUT, {}, { at: id })).toMatchObject({
      structuredContent: { score: 97 },
      _meta: { 'coinslot/simulated': true },
    })
  })

  test('a run of a pass does not keep a client in silence that hears no progress', async () => {
    const plans = [{ id: 'ten', name: 'Ten runs', price: 5, kind: 'runs', runs: 10 }]
    const { id } = await sell({ testMode: true, plans })
    const body = { input: INPUT, simulate: true, choice: { plan: 'ten' } }
    const { payment } = (await world.call('POST', `/p/${id}/pay`, { body })).body
    await until(() => world.workflow.deliveries.length === 1)
    await world.forget()
    const { key } = await world.service.person()
    const client = new Client({ name: 'test', version: '1' })
    const requestInit = { headers: { authorization: `Bearer ${key}` } }
    const address = new URL(`${world.service.origin}/p/${id}/mcp`)
    await client.connect(new StreamableHTTPClientTransport(address, { requestInit }))
    const finish = world.workflow.holds()
    const called = client.callTool({
      name: 'seo-audit',
      arguments: { site: 'https://example.org/' },
      _meta: { 'coinslot/pass': payment.pass.token },
    })
    await until(() => world.workflow.deliveries.length === 1)
    world.service.clock.forward(30_000)
    expect(await called).toMatchObject({ structuredContent: { payment: { free: 'pass', status: 'paid' } } })
    finish()
    await client.close()
  })

  test('a payment of an account that has not reached the checkout goes on where a call names it', async () => {
    await world.chain.fund(world.service.wallets.treasury()!, 100_000_000n)
    await world.chain.mine()
    const buyer = await world.service.person()
    await buyer.call('POST', '/v1/wallet/deposit', { body: { amount: 10 } })
    dies = true
    await send('tools/call', { name: 'seo-audit', arguments: INPUT }, { key: buyer.key })
    dies = false
    const { payments } = (await buyer.call('GET', '/v1/pay')).body as { payments: { id: string }[] }
    const named = { 'coinslot/payment': { paymentId: payments[0]!.id } }
    const other = await sell()
    expect(errorOf(await call(INPUT, named, { key: buyer.key, at: other.id }))).toMatchObject({
      code: 'payment_not_found',
    })
    // Of what was paid before, a bound decides nothing any more.
    const paid = await call(INPUT, { ...named, 'coinslot/max-cost': 0.1 }, { key: buyer.key })
    expect(paid).toMatchObject({ structuredContent: { score: 97 }, _meta: named })
    expect(await call(INPUT, named, { key: buyer.key })).toEqual(paid)
    expect(world.workflow.deliveries).toHaveLength(1)
    expect((await buyer.call('GET', '/v1/pay')).body.total).toBe(1)
    expect((await buyer.call('GET', '/v1/wallet/balance')).body.wallet.totalSpent).toBe(0.5)
  })

  test('a payment of an account that was given back buys nothing, and its call is to be sent as a new one', async () => {
    await world.chain.fund(world.service.wallets.treasury()!, 100_000_000n)
    await world.chain.mine()
    const buyer = await world.service.person()
    await buyer.call('POST', '/v1/wallet/deposit', { body: { amount: 10 } })
    const keyed = { 'coinslot/idempotency-key': 'order-2' }
    dies = true
    await send('tools/call', { name: 'seo-audit', arguments: INPUT, _meta: keyed }, { key: buyer.key })
    dies = false
    const payments = async () => (await buyer.call('GET', '/v1/pay')).body.payments as { id: string; status: string }[]
    const payment = await until(async () => {
      world.service.clock.forward(120_000)
      await world.service.outgoingPayments.reconcile()
      const [one] = await payments()
      return one?.status === 'returned' && one
    })
    const named = { 'coinslot/payment': { paymentId: payment.id } }
    for (const meta of [keyed, named]) {
      const error = errorOf(await call(INPUT, meta, { key: buyer.key }))
      const message = 'This call was not bought, and nothing was charged. Send it again as a new call.'
      expect(error).toMatchObject({ code: 'not_bought', message })
      expect(error).not.toHaveProperty('paymentId')
    }
    expect(await call(INPUT, {}, { key: buyer.key })).toMatchObject({ structuredContent: { score: 97 } })
    expect((await buyer.call('GET', '/v1/wallet/balance')).body.wallet).toMatchObject({
      totalSpent: 0.5,
      totalLocked: 0,
    })
  })

  test('with a key the account’s wallet pays', async () => {
    await world.chain.fund(world.service.wallets.treasury()!, 100_000_000n)
    await world.chain.mine()
    const buyer = await world.service.person()
    await buyer.call('POST', '/v1/wallet/deposit', { body: { amount: 10 } })
    const before = await usdcOf(world.chain, world.recipient)
    const paid = await call(INPUT, {}, { key: buyer.key })
    expect(paid).toMatchObject({
      structuredContent: { score: 97 },
      _meta: { 'coinslot/billing': { cost: 0.5, paymentId: expect.stringMatching(/^pay_/) as unknown } },
    })
    expect(await usdcOf(world.chain, world.recipient)).toBe(before + 500_000n)
    const named = { 'coinslot/payment': (paid['_meta'] as Json)['coinslot/payment'] }
    expect(await call(INPUT, named, { key: buyer.key })).toEqual(paid)
    const stranger = await world.service.person()
    await stranger.call('POST', '/v1/wallet/deposit', { body: { amount: 10 } })
    const other = await sell()
    for (const to of [{ key: stranger.key }, { key: buyer.key, at: other.id }]) {
      expect(errorOf(await call(INPUT, named, to))).toMatchObject({ code: 'payment_not_found' })
    }
    expect(world.workflow.deliveries).toHaveLength(1)
    const { wallet } = (await buyer.call('GET', '/v1/wallet/balance')).body
    expect(wallet.totalSpent).toBe(0.5)
    expect((await send('tools/list', {}, { key: buyer.key }))['result']).not.toHaveProperty(
      'tools.0._meta.agents-x402/paymentRequired',
    )
    const wrong = await sendMcp(
      `${world.service.origin}/p/${chk}/mcp`,
      { method: 'tools/list', params: {} },
      { authorization: 'Bearer csk_wrong' },
    )
    expect(wrong['error']).toBeDefined()
  })
})
