import { echoed } from '../../service/models/models.ts'
import { usdcOf } from '../facilitator/world.ts'
import { credentialFor, payFor, sendMcp, type Json } from '../harness/mcp.ts'
import { freePort } from '../harness/ports.ts'
import { until } from '../harness/until.ts'
import type { Answer, TestPerson } from '../harness/service.ts'
import { guestWorld, type GuestWorld } from '../marketplace/runs/guest-world.ts'
import { createCheckoutStore, LIST_FORMER } from '../../service/checkouts/store/checkouts.ts'
import { createAssetStore } from '../../service/marketplace/store/assets/assets.ts'
import { createPublishedTools } from '../../service/tools/service/catalogue/published.ts'
import { publishedAssets } from '../../service/wiring/tools-catalogue.ts'
import { post } from '../tools/mcp-client.ts'

/** All that an account sells at one MCP address. */
describe('the MCP address of an account', () => {
  let world: GuestWorld
  let deliveries: string[]

  let dies = false
  const reach = (place: string): void => {
    if (dies && place === 'outgoing payment reserved') throw new Error('the process died')
  }

  beforeAll(async () => {
    const own = { PORT: String(await freePort()), DEMO_PORT: '0' }
    const environment = { SETTLE_CONFIRMATIONS: '1', MCP_TASK_AFTER_MS: '20', ...own }
    world = await guestWorld(environment, { failpoints: { reach } })
    world.server.on('/workflow', ({ body }) => {
      if (body !== '') deliveries.push(body)
      return { body: body === '' ? { message: 'ready' } : { score: 97 } }
    })
    world.server.on('/weather/today/berlin', ({ query, body }) => ({ body: { city: 'berlin', query, body } }))
    world.server.on('/weather/ping', () => ({ body: { pong: true } }))
    world.server.on('/weather/broken', () => ({ status: 500, body: { error: 'out of rain' } }))
    expect((await choose(world.creator, 'weather-co')).status).toBe(200)
    await checkout({ product: { name: 'SEO audit' }, price: 0.5 })
    await world.prompt({ slug: 'echo', name: 'Echo', pricing: { model: 'per-run', amount: 0.02 } })
    await paywall([
      { method: 'GET', path: '/today/:city', pricing: { model: 'per-request', amount: 0.03 }, description: 'Today' },
      { method: 'POST', path: '/broken', pricing: { model: 'per-request', amount: 0.03 } },
      { method: 'GET', path: '/ping', pricing: { model: 'free' } },
      { method: 'GET', path: '/metered', pricing: { model: 'per-minute', amount: 1, minimum: 0, maximum: 1 } },
      { method: '*', path: '/any', pricing: { model: 'free' } },
    ])
  })
  afterAll(async () => {
    expect(await world.service.ledger.differences()).toEqual([])
    await world.close()
  })
  beforeEach(() => {
    deliveries = []
    // Older than what is remembered of the account.
    world.service.clock.forward(3_000)
  })

  const choose = (person: TestPerson, handle: string | null): Promise<Answer> =>
    person.call('PATCH', '/v1/me', { body: { handle } })
  const terms = () => ({ network: 'base-sepolia', recipient: world.chain.accounts[3]!.address })

  async function checkout(more: object, seller = world.creator): Promise<string> {
    const body = {
      ...{ callbackUrl: world.server.url('/workflow'), lifetime: 'persistent', responseMode: 'lastNode', ...terms() },
      fields: [{ name: 'site', label: 'Site', type: 'url', required: true }],
      ...more,
    }
    const created = await seller.call('POST', '/v1/checkouts', { body })
    expect([created.status, created.text]).toEqual([201, expect.any(String)])
    return (created.body as { checkout: { id: string } }).checkout.id
  }

  async function paywall(routes: object[], more: object = {}): Promise<string> {
    const body = {
      slug: 'weather',
      name: 'Weather',
      upstreamUrl: world.server.url('/weather'),
      routes,
      ...terms(),
      ...more,
    }
    const created = await world.creator.call('POST', '/v1/paywalls', { body })
    expect([created.status, created.text]).toEqual([201, expect.any(String)])
    return (created.body as { paywall: { id: string } }).paywall.id
  }

  interface To {
    handle?: string
    key?: string
  }
  const send = (method: string, params: Json, { handle = 'weather-co', key }: To = {}) =>
    sendMcp(
      `${world.service.origin}/m/${handle}/mcp`,
      { method, params },
      key === undefined ? {} : { authorization: `Bearer ${key}` },
    )
  const call = async (name: string, input: Json, meta: Json = {}, to: To = {}): Promise<Json> =>
    (await send('tools/call', { name, arguments: input, _meta: meta }, to))['result'] as Json
  const list = async (to: To = {}): Promise<Json[]> => {
    const tools: Json[] = []
    let cursor: string | undefined
    do {
      const { result } = await send('tools/list', cursor === undefined ? {} : { cursor }, to)
      const page = result as { tools: Json[]; nextCursor?: string }
      expect(page.tools.length).toBeLessThanOrEqual(50)
      tools.push(...page.tools)
      cursor = page.nextCursor
    } while (cursor !== undefined)
    return tools
  }
  /** Payers of accounts are funded from it. */
  async function fundTreasury(): Promise<void> {
    await world.chain.fund(world.service.wallets.treasury()!, 100_000_000n)
    await world.chain.mine()
  }
  const errorOf = (result: Json): unknown => (result['structuredContent'] as Json)['error']

  /** Calls without a payment, pays what is asked for, and calls again. */
  async function buy(name: string, input: Json) {
    const payer = await world.chain.payer(1_000_000n)
    const payment = await payFor(world.chain, payer, await call(name, input))
    const paid = await call(name, input, { 'x402/payment': payment })
    const left = await usdcOf(world.chain, payer.address)
    return { payment, paid, spent: 1_000_000n - left, proof: (paid['_meta'] as Json)?.['coinslot/payment'] }
  }

  test('lists checkouts, RDAs and routes with a fixed price, each with its price and its input', async () => {
    const tools = await list()
    expect(tools.map(({ name }) => name)).toEqual([
      'seo-audit',
      'echo',
      'weather-get-ping',
      'weather-get-today-city',
      'weather-post-broken',
    ])
    expect(tools).toMatchObject([
      {
        description: 'SEO audit\nCosts 0.5 USDC a call.',
        inputSchema: { required: ['site'] },
        _meta: { 'coinslot/price': '0.5', 'agents-x402/paymentRequired': true, 'agents-x402/priceUSD': 0.5 },
      },
      {
        title: 'Echo',
        description: expect.stringMatching(
          /Costs .*0\.02.* USDC a run\. A call without a payment states its price\.$/,
        ) as string,
        inputSchema: { required: ['say'] },
        _meta: { 'agents-x402/paymentRequired': true },
      },
      {
        description: expect.stringMatching(/GET .*\/gate\/weather\/ping\nFree\.$/) as string,
        _meta: { 'coinslot/price': '0' },
      },
      {
        description: expect.stringMatching(
          /^Today\nGET .*\/gate\/weather\/today\/:city\nCosts 0\.03 USDC a call\.$/,
        ) as string,
        inputSchema: { required: ['path'], properties: { path: { required: ['city'] } } },
      },
      { inputSchema: { required: [], properties: { body: {} } } },
    ])
    expect(tools[1]!['_meta']).not.toHaveProperty('coinslot/price')
    expect(tools[2]!['_meta']).not.toHaveProperty('agents-x402/paymentRequired')
    // With a key nothing is paid call by call.
    expect(JSON.stringify(await list({ key: (await world.caller(0)).key }))).not.toContain('agents-x402')
  })

  test('the terms of each kind say how to ask for the money back, as their 402 does', async () => {
    const inputs = { 'seo-audit': { site: 'https://example.com/' }, echo: { say: 'hello' } }
    for (const [name, input] of Object.entries({ ...inputs, 'weather-get-today-city': { path: { city: 'oslo' } } })) {
      const { structuredContent } = await call(name, input)
      expect([name, structuredContent]).toMatchObject([
        name,
        { extensions: { refund: { info: { windowSeconds: 2_592_000, partialRefunds: true } } } },
      ])
    }
  })

  test('a guest buys a checkout, and fetches the answer again by the payment’s token only', async () => {
    const input = { site: 'https://example.com/' }
    const { payment, paid, spent, proof } = await buy('seo-audit', input)
    expect(paid).toMatchObject({
      structuredContent: { score: 97 },
      _meta: { 'x402/payment-response': { success: true } },
    })
    expect([deliveries.length, spent]).toEqual([1, 500_000n])
    expect(await call('seo-audit', input, { 'coinslot/payment': proof })).toMatchObject({
      structuredContent: { score: 97 },
    })
    expect(errorOf(await call('seo-audit', input, { 'x402/payment': payment }))).toMatchObject({
      code: 'payment_submitted',
    })
    expect(deliveries).toHaveLength(1)
  })

  test('a guest buys a run of an RDA, once', async () => {
    const { payment, paid, spent, proof } = await buy('echo', { say: 'hello' })
    expect(paid).toMatchObject({ content: [{ text: echoed('hello') }], structuredContent: { result: echoed('hello') } })
    expect(spent).toBe(20_000n)
    expect(await call('echo', { say: 'hello' }, { 'coinslot/payment': proof })).toMatchObject({
      content: [{ text: echoed('hello') }],
    })
    expect(errorOf(await call('echo', { say: 'hello' }, { 'x402/payment': payment }))).toMatchObject({
      code: 'payment_submitted',
    })
    const other = await call('echo', { say: 'another' }, { 'coinslot/payment': proof })
    expect(other['isError']).toBe(true)
    expect(errorOf(await call('echo', {}))).toMatchObject({ code: 'invalid_input' })
  })

  test('a guest buys a call of a route, once; a failed one is not charged', async () => {
    const input = { path: { city: 'berlin' }, query: { unit: 'C' } }
    const { payment, paid, spent, proof } = await buy('weather-get-today-city', input)
    expect(paid).toMatchObject({
      structuredContent: { city: 'berlin' },
      _meta: { 'coinslot/status': 200, 'x402/payment-response': { success: true } },
    })
    expect(spent).toBe(30_000n)
    expect(await call('weather-get-today-city', input, { 'coinslot/payment': proof })).toMatchObject({
      structuredContent: { city: 'berlin' },
    })
    const stolen = await call('weather-get-today-city', input, { 'x402/payment': payment })
    expect(stolen).toMatchObject({ isError: true })
    expect(JSON.stringify(stolen)).not.toContain('berlin"')
    const elsewhere = await call('weather-get-today-city', { path: { city: 'paris' } }, { 'coinslot/payment': proof })
    expect(elsewhere['isError']).toBe(true)

    const failed = await buy('weather-post-broken', { body: { a: 1 } })
    expect(failed.spent).toBe(0n)
    expect(errorOf(failed.paid)).toMatchObject({
      code: 'upstream_error',
      message: 'The API answered with status 500. Nothing was charged.',
      upstream: { status: 500, message: '{"error":"out of rain"}' },
    })
  })

  test('a call that is paid first and fails is owed: its token, or the account that paid, gets the answer', async () => {
    let isWell = false
    world.server.on('/weather/first', () => (isWell ? { body: { well: true } } : { status: 503, body: {} }))
    const pricing = { model: 'per-request', amount: 0.03 }
    const routes = [{ method: 'GET', path: '/first', pricing, settle: 'before' }]
    await paywall(routes, { slug: 'paid-first', name: 'First' })
    await fundTreasury()
    const account = await world.caller(10)
    const { key } = account
    const owed = await call('first-get-first', {}, {}, { key })
    expect(owed).toMatchObject({ isError: true, _meta: { 'coinslot/billing': { cost: 0.03 } } })
    const failed = await buy('first-get-first', {})
    expect(failed.spent).toBe(30_000n)
    const { message, paymentId, paymentToken } = errorOf(failed.paid) as Record<string, string>
    expect(message).toBe('The API answered with status 503. The payment has arrived: call again with its token.')
    isWell = true
    const proof = { 'coinslot/payment': { paymentId, paymentToken } }
    expect(await call('first-get-first', {}, proof)).toMatchObject({ structuredContent: { well: true } })
    const { _meta } = owed as { _meta: Json }
    const { 'coinslot/billing': billing } = _meta
    expect(await call('first-get-first', {}, _meta, { key })).toMatchObject({
      structuredContent: { well: true },
      _meta: { 'coinslot/billing': billing },
    })
    expect((await world.wallet(account)).totalSpent).toBe(0.03)
  })

  test('a call of an account that fails before it is paid costs nothing, and its key may be tried again', async () => {
    let isWell = false
    world.server.on('/weather/after', () => (isWell ? { body: { well: true } } : { status: 500, body: { no: 'rain' } }))
    const pricing = { model: 'per-request', amount: 0.03 }
    await paywall([{ method: 'GET', path: '/after', pricing }], { slug: 'paid-after', name: 'After' })
    await fundTreasury()
    const account = await world.caller(10)
    const { key } = account
    const named = { 'coinslot/idempotency-key': 'once' }
    expect(await call('after-get-after', {}, named, { key })).toMatchObject({
      isError: true,
      structuredContent: { no: 'rain' },
      _meta: { 'coinslot/status': 500, 'coinslot/billing': { cost: 0 } },
    })
    expect((await world.wallet(account)).totalSpent).toBe(0)
    isWell = true
    // The same payment, which now buys the answer.
    const sold = await call('after-get-after', {}, named, { key })
    expect(sold).toMatchObject({ structuredContent: { well: true }, _meta: { 'coinslot/billing': { cost: 0.03 } } })
    expect(await call('after-get-after', {}, named, { key })).toEqual(sold)
    expect((await account.call('GET', '/v1/pay')).body.total).toBe(1)
    expect((await world.wallet(account)).totalSpent).toBe(0.03)
  })

  test('a guest buys a route by MPP', async () => {
    const input = { path: { city: 'berlin' }, query: { unit: 'K' } }
    const payer = await world.chain.payer(1_000_000n)
    const credential = await credentialFor(world.chain, payer, await call('weather-get-today-city', input))
    expect(await call('weather-get-today-city', { path: { city: 'paris' } }, credential)).toHaveProperty(
      'isError',
      true,
    )
    expect(await call('weather-get-today-city', input, credential)).toMatchObject({
      structuredContent: { city: 'berlin' },
      _meta: { 'org.paymentauth/receipt': { status: 'success' } },
    })
    expect(world.server.to('/weather/today/berlin').at(-1)!.query.get('unit')).toBe('K')
    expect(await usdcOf(world.chain, payer.address)).toBe(970_000n)
  })

  test('a free route is called at once, and an input cannot leave its path', async () => {
    expect(await call('weather-get-ping', {})).toMatchObject({ structuredContent: { pong: true } })
    for (const [input, field] of [
      [{}, 'path.city'],
      [{ path: { city: '' } }, 'path.city'],
      [{ path: { city: 'x', other: 'y' } }, 'path.other'],
      [{ path: { city: 'x'.repeat(2_000) } }, 'path'],
      [{ path: { city: 'x' }, body: 1 }, 'body'],
      [{ path: { city: 'x' }, query: { a: { b: 1 } } }, 'query.a'],
      [{ path: { city: 'x' }, headers: {} }, 'headers'],
    ] as const) {
      expect(errorOf(await call('weather-get-today-city', input))).toMatchObject({
        code: 'invalid_input',
        details: { [field]: expect.any(String) as string },
      })
    }
    for (const city of ['..', 'a/b', '../ping']) {
      expect(errorOf(await call('weather-get-today-city', { path: { city } }))).toMatchObject({ code: 'invalid_path' })
    }
  })

  test('with a key the account pays for each kind, in both versions of the protocol', async () => {
    await fundTreasury()
    const buyer = await world.caller(10)
    const { key } = buyer
    expect(await call('seo-audit', { site: 'https://example.com/' }, {}, { key })).toMatchObject({
      structuredContent: { score: 97 },
      _meta: { 'coinslot/billing': { cost: 0.5 } },
    })
    expect(await call('echo', { say: 'hi' }, {}, { key })).toMatchObject({
      content: [{ text: echoed('hi') }],
      _meta: { 'coinslot/billing': { cost: 0.02, runId: expect.stringMatching(/^run_/) as string } },
    })
    const address = `${world.service.origin}/m/weather-co/mcp`
    const params = { name: 'weather-get-today-city', arguments: { path: { city: 'berlin' } } }
    const { body } = await post(address, key, { method: 'tools/call', params })
    expect(body.result).toMatchObject({
      structuredContent: { city: 'berlin' },
      _meta: { 'coinslot/billing': { cost: 0.03 }, 'coinslot/status': 200 },
    })
    expect((await world.wallet(buyer)).totalSpent).toBe(0.55)
    expect((await world.run(buyer, 'echo')).status).toBe(200)
    const poor = await world.caller(0)
    expect(errorOf(await call('echo', { say: 'hi' }, {}, { key: poor.key }))).toMatchObject({
      code: 'insufficient_balance',
    })
  })

  test('a call that names the most that it may cost buys nothing dearer, of every kind', async () => {
    await fundTreasury()
    const buyer = await world.caller(10)
    const before = await world.wallet(buyer)
    const products: [string, Json, number][] = [
      ['seo-audit', { site: 'https://example.com/' }, 0.5],
      ['echo', { say: 'hi' }, 0.02],
      ['weather-get-today-city', { path: { city: 'berlin' } }, 0.03],
    ]
    for (const to of [{}, { key: buyer.key }]) {
      for (const [name, input, price] of products) {
        const dear = await call(name, input, { 'coinslot/max-cost': price / 2 }, to)
        expect([name, errorOf(dear)]).toMatchObject([name, { code: 'max_cost_exceeded', required: price }])
        expect(errorOf(await call(name, input, { 'coinslot/max-cost': '' }, to))).toMatchObject({
          code: 'invalid_input',
        })
      }
    }
    expect(await world.wallet(buyer)).toEqual(before)
    for (const [name, input, price] of products) {
      const meta = { 'coinslot/max-cost': price }
      expect(await call(name, input, meta)).toMatchObject({ isError: true, structuredContent: { accepts: [{}] } })
      expect(await call(name, input, meta, { key: buyer.key })).toMatchObject({
        _meta: { 'coinslot/billing': { cost: price } },
      })
    }
  })

  test('buys an account’s repeated call with its key once, for every kind of product', async () => {
    const { key, ...buyer } = await world.caller(10)
    const before = world.server.to('/weather/today/berlin').length
    for (const [name, input] of [
      ['seo-audit', { site: 'https://example.com/' }],
      ['echo', { say: 'hi' }],
      ['weather-get-today-city', { path: { city: 'berlin' } }],
    ] as const) {
      const named = { 'coinslot/idempotency-key': `order-${name}` }
      const first = await call(name, input, named, { key })
      expect(first).not.toHaveProperty('isError')
      expect(await call(name, input, named, { key })).toEqual(first)
    }
    expect([deliveries.length, world.server.to('/weather/today/berlin').length]).toEqual([1, before + 1])
    expect((await world.wallet({ ...buyer, key })).totalSpent).toBe(0.55)
  })

  test('answers an account’s call that names its payment from it, for every kind of product', async () => {
    const [buyer, stranger] = [await world.caller(10), await world.caller(10)]
    const before = world.server.to('/weather/today/berlin').length
    const names = new Map<string, unknown>()
    const calls = [
      ['seo-audit', { site: 'https://example.com/' }],
      ['echo', { say: 'hi' }],
      ['weather-get-today-city', { path: { city: 'berlin' } }],
    ] as const
    for (const [name, input] of calls) {
      const first = await call(name, input, {}, { key: buyer.key })
      const { 'coinslot/payment': payment, 'coinslot/billing': billing } = first['_meta'] as Json
      names.set(name, payment)
      const again = await call(name, input, { 'coinslot/payment': payment }, { key: buyer.key })
      // An answer that came by HTTP is not stored at its gate any more.
      if (name === 'weather-get-today-city') expect(errorOf(again)).toMatchObject({ code: 'payment_delivered' })
      else expect(again).toMatchObject({ content: first['content'], _meta: { 'coinslot/billing': billing } })
      const stolen = await call(name, input, { 'coinslot/payment': payment }, { key: stranger.key })
      expect([name, errorOf(stolen)]).toMatchObject([name, { code: expect.stringMatching(/_not_found$/) as string }])
    }
    for (const [name, input] of calls) {
      for (const [of, payment] of names) {
        if (of === name) continue
        const another = await call(name, input, { 'coinslot/payment': payment }, { key: buyer.key })
        expect([name, of, another['isError']]).toEqual([name, of, true])
      }
    }
    expect([deliveries.length, world.server.to('/weather/today/berlin').length]).toEqual([1, before + 1])
    expect((await world.wallet(buyer)).totalSpent).toBe(0.55)
    expect((await world.wallet(stranger)).totalSpent).toBe(0)
  })

  test('a payment of an account that has not reached the route goes on where a call names it', async () => {
    await fundTreasury()
    const buyer = await world.caller(10)
    const [name, input] = ['weather-get-today-city', { path: { city: 'berlin' } }] as const
    const before = world.server.to('/weather/today/berlin').length
    dies = true
    await call(name, input, {}, { key: buyer.key })
    dies = false
    const { payments } = (await buyer.call('GET', '/v1/pay')).body as { payments: { id: string }[] }
    const named = { 'coinslot/payment': { paymentId: payments[0]!.id } }
    const elsewhere = await call(name, { path: { city: 'oslo' } }, named, { key: buyer.key })
    expect(errorOf(elsewhere)).toMatchObject({ code: 'payment_not_found' })
    // Less than the route costs: of what was paid before, a bound decides nothing any more.
    const bounded = { ...named, 'coinslot/max-cost': 0.01 }
    expect(await call(name, input, bounded, { key: buyer.key })).toMatchObject({
      structuredContent: { city: 'berlin' },
      _meta: { 'coinslot/billing': { cost: 0.03 }, ...named },
    })
    expect(world.server.to('/weather/today/berlin')).toHaveLength(before + 1)
    expect((await buyer.call('GET', '/v1/pay')).body.total).toBe(1)
    expect((await world.wallet(buyer)).totalSpent).toBe(0.03)
  })

  test('a payment of an account goes on at a checkout that has closed meanwhile', async () => {
    await fundTreasury()
    const buyer = await world.caller(10)
    const id = await checkout({ product: { name: 'Closing audit' }, price: 0.1 })
    const params = { name: 'closing-audit', arguments: { site: 'https://example.com/' } }
    const buyAt = async (_meta: Json): Promise<Json> => {
      const headers = { authorization: `Bearer ${buyer.key}` }
      const body = { method: 'tools/call', params: { ...params, _meta } }
      return (await sendMcp(`${world.service.origin}/p/${id}/mcp`, body, headers))['result'] as Json
    }
    dies = true
    await buyAt({})
    dies = false
    const { payments } = (await buyer.call('GET', '/v1/pay')).body as { payments: { id: string }[] }
    const paymentId = payments[0]!.id
    expect((await world.creator.call('DELETE', `/v1/checkouts/${id}`)).status).toBeLessThan(300)
    // Its seller refuses it: the payment says what has become of the money.
    const named = { 'coinslot/payment': { paymentId } }
    expect(errorOf(await buyAt(named))).toMatchObject({ code: 'not_bought', paymentId })
    expect(errorOf(await buyAt({}))).toMatchObject({ code: 'checkout_not_found' })
    expect((await buyer.call('GET', '/v1/pay')).body.total).toBe(1)
  })

  test('a slow checkout is a task, for guests and accounts; other products are not', async () => {
    const address = `${world.service.origin}/m/weather-co/mcp`
    const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
    const params = { name: 'slow-audit', arguments: { site: 'https://example.com/' } }
    let open: () => void = () => undefined
    const opened = new Promise<void>((resolve) => (open = resolve))
    world.server.on('/slow-workflow', async ({ body }) => {
      if (body !== '') await opened
      return { body: body === '' ? { message: 'ready' } : { score: 12 } }
    })
    await checkout({ product: { name: 'Slow audit' }, price: 0.1, callbackUrl: world.server.url('/slow-workflow') })
    world.service.clock.forward(3_000)
    const buyer = await world.caller(10)
    const payer = await world.chain.payer(1_000_000n)
    const send = async (key: string | null, method: string, more: Json) =>
      (await post(address, key, { method, params: more, capabilities })).body.result as Json
    const _meta = { 'x402/payment': await payFor(world.chain, payer, await send(null, 'tools/call', params)) }
    const tasks = [
      [null, await send(null, 'tools/call', { ...params, _meta })],
      [buyer.key, await send(buyer.key, 'tools/call', params)],
    ] as const
    for (const [key, task] of tasks) {
      expect(task).toMatchObject({ resultType: 'task', status: 'working' })
      const elsewhere = await post(
        `${world.service.origin}/m/other/mcp`,
        key === null ? null : (await world.caller(0)).key,
        {
          ...{ method: 'tasks/get', params: { taskId: task['taskId'] }, capabilities },
        },
      )
      expect(elsewhere.body.error).toMatchObject({ code: -32_602 })
    }
    open()
    for (const [key, { taskId }] of tasks) {
      let task: Json
      do task = await send(key, 'tasks/get', { taskId })
      while (task['status'] === 'working')
      expect(task).toMatchObject({ status: 'completed', result: { structuredContent: { score: 12 } } })
    }
    expect(await send(buyer.key, 'tools/call', { name: 'echo', arguments: { say: 'x' } })).toMatchObject({
      resultType: 'complete',
    })
  })

  test('a guest of the newer protocol lists and buys too', async () => {
    const address = `${world.service.origin}/m/weather-co/mcp`
    const listed = (await post(address, null, { method: 'tools/list' })).body.result as { tools: Json[] }
    expect(listed.tools.map(({ name }) => name)).toContain('echo')
    const params = { name: 'echo', arguments: { say: 'new' } }
    const payer = await world.chain.payer(1_000_000n)
    const unpaid = (await post(address, null, { method: 'tools/call', params })).body.result as Json
    const _meta = { 'x402/payment': await payFor(world.chain, payer, unpaid) }
    const paid = (await post(address, null, { method: 'tools/call', params: { ...params, _meta } })).body.result
    expect(paid).toMatchObject({ content: [{ text: echoed('new') }] })
  })

  test('an agent buys within its own limits', async () => {
    const buyer = await world.caller(10)
    const { agent } = (await buyer.call('POST', '/v1/agents', { body: { name: 'A', limits: { perCall: 0.01 } } })).body
    const created = await buyer.call('POST', '/v1/keys', { body: { name: 'k', agentId: agent.id } })
    const key = (created.body as { secret: string }).secret
    for (const [tool, input] of [
      ['echo', { say: 'hi' }],
      ['seo-audit', { site: 'https://example.com/' }],
      ['weather-get-today-city', { path: { city: 'berlin' } }],
    ] as const) {
      expect([tool, errorOf(await call(tool, input, {}, { key }))]).toEqual([
        tool,
        expect.objectContaining({ code: 'spending_limit' }),
      ])
    }
    expect((await world.wallet(buyer)).totalSpent).toBe(0)
  })

  async function callAsAgent(buyer: TestPerson, rules: Json, tool: string, input: Json): Promise<Json> {
    const { agent } = (await buyer.call('POST', '/v1/agents', { body: { name: 'A', ...rules } })).body
    const created = await buyer.call('POST', '/v1/keys', { body: { name: 'k', agentId: agent.id } })
    return await call(tool, input, {}, { key: (created.body as { secret: string }).secret })
  }

  test('an agent runs an asset as a tool only where both of its lists allow it', async () => {
    const buyer = await world.caller(1)
    const callAs = (rules: Json) => callAsAgent(buyer, rules, 'echo', { say: 'hi' })
    for (const [rules, rule] of [
      [{ tools: { allow: [] } }, 'tools.allow'],
      [{ tools: { allow: ['echo'] } }, 'tools.allow'],
      [{ tools: { deny: ['rda-*'] } }, 'tools.deny'],
      [{ rdas: { deny: ['echo'] } }, 'rdas.deny'],
    ] as const) {
      expect(errorOf(await callAs(rules))).toMatchObject({ code: 'spending_limit', limit: rule })
    }
    expect((await world.wallet(buyer)).totalSpent).toBe(0)
    expect(await callAs({ tools: { allow: ['rda-echo'] } })).not.toHaveProperty('isError')
  })

  test("an agent's list of tools names an asset by the id of its tool too", async () => {
    const buyer = await world.caller(1)
    const apiEndpoint = world.server.on('/tides', () => ({ body: { tide: 'low' } }))
    await world.tool({ apiEndpoint }, { slug: 'tides', name: 'Tides' })
    const store = createAssetStore(world.service.testDatabase.statements)
    const { reading, prices } = await createPublishedTools(publishedAssets(store, world.service.clock)).read('sandbox')
    const { catalogue } = world.service
    await catalogue.importAssets('sandbox', reading, prices)
    const { id } = await catalogue.bySlug('sandbox', 'rda-tides', null)
    world.service.clock.forward(3_000)
    const callAs = (rules: Json) => callAsAgent(buyer, rules, 'tides', { city: 'Bern' })
    expect(errorOf(await callAs({ tools: { deny: [id] } }))).toMatchObject({ limit: 'tools.deny' })
    expect((await world.wallet(buyer)).totalSpent).toBe(0)
    expect(await callAs({ tools: { allow: [id] } })).not.toHaveProperty('isError')
    // The policy still means it once the catalogue has it no more.
    await catalogue.importAssets('sandbox', { ...reading, operations: [] }, new Map())
    expect(errorOf(await callAs({ tools: { deny: [id] } }))).toMatchObject({ limit: 'tools.deny' })
  })

  test('an agent calls a free route only where its rules allow it', async () => {
    const buyer = await world.caller(0)
    const before = world.server.to('/weather/ping').length
    const callAs = async (rules: Json) => {
      const { agent } = (await buyer.call('POST', '/v1/agents', { body: { name: 'A', ...rules } })).body
      const created = await buyer.call('POST', '/v1/keys', { body: { name: 'k', agentId: agent.id } })
      const result = await call('weather-get-ping', {}, {}, { key: (created.body as { secret: string }).secret })
      const { decisions } = (await buyer.call('GET', `/v1/agents/${agent.id}/decisions`)).body
      return { result, decisions: (decisions as Json[]).map(({ kind, outcome, rule }) => [kind, outcome, rule]) }
    }
    for (const [rules, rule] of [
      [{ status: 'paused' }, 'paused'],
      [{ domains: { allow: ['other.test'] } }, 'domains.allow'],
      [{ rate: { callsPerMinute: 0 } }, 'callsPerMinute'],
    ] as const) {
      const { result, decisions } = await callAs(rules)
      expect(errorOf(result)).toMatchObject({ code: 'spending_limit', limit: rule })
      expect(decisions).toEqual([['pay', 'refused', rule]])
    }
    expect(world.server.to('/weather/ping')).toHaveLength(before)
    expect((await callAs({})).result).toMatchObject({ structuredContent: { pong: true } })
  })

  test("an agent's calls of a free route count for its calls per minute", async () => {
    world.service.clock.forwardToMinute()
    const buyer = await world.caller(0)
    const rules = { name: 'A', rate: { callsPerMinute: 2 } }
    const { agent } = (await buyer.call('POST', '/v1/agents', { body: rules })).body
    const created = await buyer.call('POST', '/v1/keys', { body: { name: 'k', agentId: agent.id } })
    const { secret: key } = created.body as { secret: string }
    const before = world.server.to('/weather/ping').length
    const ping = () => call('weather-get-ping', {}, {}, { key })
    for (const answer of [await ping(), await ping()])
      expect(answer).toMatchObject({ structuredContent: { pong: true } })
    expect(errorOf(await ping())).toMatchObject({ code: 'spending_limit', limit: 'callsPerMinute' })
    expect(world.server.to('/weather/ping')).toHaveLength(before + 2)
    const standing = (await buyer.call('GET', `/v1/agents/${agent.id}/policy`)).body
    expect(standing).toMatchObject({ calls: { allowed: 2, made: 2 } })
    world.service.clock.forward(60_000)
    expect(await ping()).toMatchObject({ structuredContent: { pong: true } })
  })

  test('gives products of one name distinct tool names, and lists only those on sale', async () => {
    const seller = await world.caller(0)
    await choose(seller, 'names')
    const own = (more: object) => checkout({ product: { name: 'Audit' }, price: 1, ...more }, seller)
    const first = await own({ testMode: true })
    await own({ price: 2 })
    const temporary = { instanceId: 'i', workflowId: 'w', nodeId: 'n' }
    await own({ lifetime: 'temporary', source: temporary, product: { name: 'Temporary' } })
    const [test, paid, ...others] = await list({ handle: 'names' })
    expect(others).toEqual([])
    expect(test).toMatchObject({ name: 'audit', description: 'Audit\nIn test mode: nothing is charged.' })
    expect(paid).toMatchObject({ name: expect.stringMatching(/^audit-[0-9a-f]{6}$/) as string })
    const input = { site: 'https://example.com/' }
    expect(await call('audit', input, {}, { handle: 'names' })).toMatchObject({ _meta: { 'coinslot/simulated': true } })
    const suffixed = String(paid!['name'])
    const unpaid = await call(suffixed, input, {}, { handle: 'names' })
    expect(unpaid).toMatchObject({ structuredContent: { accepts: [{ amount: '2000000' }] } })

    await seller.call('DELETE', `/v1/checkouts/${first}`)
    world.service.clock.forward(3_000)
    expect(await list({ handle: 'names' })).toMatchObject([{ name: 'audit', _meta: { 'coinslot/price': '2' } }])
    // A client that remembers the longer name still reaches the same product.
    expect(await call(suffixed, input, {}, { handle: 'names' })).toMatchObject({
      structuredContent: { accepts: [{ amount: '2000000' }] },
    })
  })

  test('an account with many checkouts is listed page by page', async () => {
    const seller = await world.caller(0)
    await choose(seller, 'many-of-them')
    for (let place = 0; place < 60; place++) {
      await checkout({ product: { name: `Report ${String(place % 7)}` }, price: 1 }, seller)
    }
    const names = (await list({ handle: 'many-of-them' })).map(({ name }) => name)
    expect([names.length, new Set(names).size]).toEqual([60, 60])
    expect((await list({ handle: 'many-of-them' })).map(({ name }) => name)).toEqual(names)
    for (const cursor of ['nonsense', 'bm9uc2Vuc2U']) {
      expect(await send('tools/list', { cursor })).toMatchObject({ error: { code: -32_602 } })
    }
  })

  test('sells nothing of another account, under an unknown handle or under a released one', async () => {
    const stranger = await world.caller(0)
    await choose(stranger, 'stranger')
    expect(await list({ handle: 'stranger' })).toEqual([])
    expect(await send('tools/call', { name: 'echo', arguments: {} }, { handle: 'stranger' })).toMatchObject({
      error: { code: -32_602, message: expect.stringContaining('Unknown tool: echo') as string },
    })
    await choose(stranger, null)
    world.service.clock.forward(3_000)
    for (const handle of ['stranger', 'nobody-here', 'x', 'WEATHER-CO', 'weather-co%2f..']) {
      expect(await send('tools/list', {}, { handle })).toMatchObject({ error: { code: -32_602 } })
      const called = await send('tools/call', { name: 'echo', arguments: {} }, { handle })
      expect(errorOf(called['result'] as Json)).toMatchObject({ code: 'storefront_not_found' })
    }
    expect(await send('tools/list', {}, { key: 'csk_wrong' })).not.toHaveProperty('result')
  })

  test('refuses a product taken off sale, even if it was listed a moment before', async () => {
    const slug = await world.prompt({ slug: 'brief', name: 'Brief' })
    const id = await paywall([{ method: 'GET', path: '/ping', pricing: { model: 'free' } }], {
      slug: 'short',
      name: 'Short',
    })
    await world.service.clock.still(async () => {
      const tools = (await list()).map(({ name }) => name)
      expect(tools).toEqual(expect.arrayContaining(['brief', 'short-get-ping']))
      await world.creator.call('POST', `/v1/rda/${slug}/unpublish`)
      await world.creator.call('DELETE', `/v1/paywalls/${id}`)
      expect((await list()).map(({ name }) => name)).toEqual(
        tools.filter((name) => name !== 'brief' && name !== 'short-get-ping'),
      )
      expect(errorOf(await call('brief', { say: 'x' }))).toMatchObject({ code: 'rda_not_found' })
      expect(errorOf(await call('short-get-ping', {}))).toMatchObject({ code: 'paywall_not_found' })
    })
  })

  test('what was bought at a checkout is answered after it was paused and after it has ended, and nothing more is sold', async () => {
    await fundTreasury()
    let isThere = true
    const callbackUrl = world.server.on('/leaving', ({ body }) => {
      if (!isThere) return { status: 404, body: {} }
      return { body: body === '' ? { message: 'ready' } : { score: 41 } }
    })
    const id = await checkout({ product: { name: 'Leaving audit' }, price: 0.1, callbackUrl, preflight: true })
    const statusOf = async () =>
      ((await world.creator.call('GET', `/v1/checkouts/${id}`)).body as { checkout: Json }).checkout['status']
    const account = await world.caller(10)
    const { key } = account
    const [name, input] = ['leaving-audit', { site: 'https://example.com/' }] as const
    const keyed = { 'coinslot/idempotency-key': 'leaving' }
    const bought = await call(name, input, keyed, { key })
    expect(bought).toMatchObject({ structuredContent: { score: 41 } })
    const named = { 'coinslot/payment': (bought['_meta'] as Json)['coinslot/payment'] }
    const { proof } = await buy(name, input)
    const answersWhatWasBought = async (): Promise<void> => {
      expect(await call(name, input, keyed, { key })).toEqual(bought)
      expect(await call(name, input, named, { key })).toMatchObject({ structuredContent: { score: 41 } })
      expect(await call(name, input, { 'coinslot/payment': proof })).toMatchObject({ structuredContent: { score: 41 } })
    }
    const sellsNothing = async (code: string): Promise<void> => {
      const wallet = await world.wallet(account)
      for (const to of [{}, { key }]) expect(errorOf(await call(name, input, {}, to))).toMatchObject({ code })
      expect((await list()).map((tool) => tool['name'])).not.toContain(name)
      expect(await world.wallet(account)).toEqual(wallet)
    }

    isThere = false
    for (let missing = 0; missing < 3; missing++) await call(name, input, {}, { key })
    expect(await statusOf()).toBe('paused')
    world.service.clock.forward(3_000)
    await answersWhatWasBought()
    await sellsNothing('workflow_unavailable')

    await world.creator.call('DELETE', `/v1/checkouts/${id}`)
    expect(await statusOf()).toBe('expired')
    world.service.clock.forward(3_000)
    await answersWhatWasBought()
    await sellsNothing('checkout_not_found')
  })

  test('of checkouts with one name that are sold no more, the name stays with the one that ended last', async () => {
    const seller = await world.caller(0)
    const { clock, testDatabase } = world.service
    await choose(seller, 'leavers')
    const ids: string[] = []
    for (let place = 0; place < 3; place++) {
      const id = await checkout({ product: { name: 'Audit' }, price: 1 }, seller)
      await seller.call('DELETE', `/v1/checkouts/${id}`)
      clock.forward(60_000)
      ids.unshift(id)
    }
    const [last] = ids
    const store = createCheckoutStore(testDatabase.statements)
    const { owner } = (await store.find(last!))!
    const former = async (limit: number, agoMs: number) => {
      const at = { now: clock.now(), since: new Date(clock.now().getTime() - agoMs) }
      return (await store.listFormer(owner, limit, at)).map(({ id }) => id)
    }
    expect(await former(10, 3_600_000)).toEqual(ids)
    expect(await former(2, 3_600_000)).toEqual(ids.slice(0, 2))
    expect(await former(10, 90_000)).toEqual([last])
    const { rows } = await testDatabase.pool.query<{ 'QUERY PLAN': string }>(`EXPLAIN (GENERIC_PLAN) ${LIST_FORMER}`)
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    expect(plan).toContain('using checkout_former')
    expect(plan).not.toContain('Sort')
    const unsold = await call('audit', { site: 'https://example.com/' }, {}, { handle: 'leavers' })
    expect(errorOf(unsold)).toMatchObject({ code: 'checkout_not_found' })
    // Its own one until a new one takes the name.
    const sold = await checkout({ product: { name: 'Audit' }, price: 2 }, seller)
    expect(await former(10, 90_000)).not.toContain(sold)
    clock.forward(3_000)
    expect(await call('audit', { site: 'https://example.com/' }, {}, { handle: 'leavers' })).toMatchObject({
      structuredContent: { accepts: [{ amount: '2000000' }] },
    })
  })

  test('a key whose payment went back unused buys nothing, and says that nothing was charged', async () => {
    const buyer = await world.caller(10)
    await fundTreasury()
    const named = { 'coinslot/idempotency-key': 'late' }
    const failed = await call('weather-post-broken', {}, named, { key: buyer.key })
    const { paymentId } = (failed['_meta'] as Json)['coinslot/payment'] as Record<string, string>
    await until(async () => {
      world.service.clock.forward(460_000)
      await world.chain.call('evm_setNextBlockTimestamp', Math.floor(world.service.clock.now().getTime() / 1_000))
      await world.chain.mine(2)
      world.service.clock.forward(2_000)
      const { payment } = (await buyer.call('GET', `/v1/pay/${paymentId!}`)).body as { payment: Json }
      return payment['status'] === 'returned'
    })
    const again = await call('weather-post-broken', {}, named, { key: buyer.key })
    expect(errorOf(again)).toMatchObject({
      code: 'not_bought',
      message: expect.stringContaining('nothing was charged') as string,
    })
    expect(await world.wallet(buyer)).toMatchObject({ totalSpent: 0, totalLocked: 0 })
  })
})
