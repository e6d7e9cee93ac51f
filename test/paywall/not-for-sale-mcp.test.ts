import { usdcOf } from '../facilitator/world.ts'
import { payFor, sendMcp, type Json } from '../harness/mcp.ts'
import { walletKeys } from '../wallet/world.ts'
import { json } from './upstream.ts'
import { openWorld, type World } from './world.ts'

const PRICE = { model: 'per-request', amount: 0.05 }
const CHANGES = [
  ['is paused', { status: 'paused' }, { status: 'active' }, 'paywall_paused', false],
  [
    'has no such route any more',
    { routes: [{ method: 'POST', path: '/other', pricing: PRICE }] },
    null,
    'route_not_found',
    true,
  ],
  ['is in test mode', { testMode: true }, { testMode: false }, 'paywall_paused', false],
] as const

/** The same as `not-for-sale.test.ts`, for clients whose payment is in no header. */
describe.each(CHANGES)('an MCP call that was paid at a gate which %s', (_, change, back, code, isLasting) => {
  let world: World
  let count = 0
  beforeAll(async () => {
    world = await openWorld({ chain: true, environment: await walletKeys() })
  })
  afterAll(async () => {
    expect(await world.service.ledger.differences()).toEqual([])
    await world.close()
  })

  async function offered(settle: 'after' | 'before') {
    const seller = await world.service.person()
    const handle = `seller-${String(++count)}`
    expect((await seller.call('PATCH', '/v1/me', { body: { handle } })).status).toBe(200)
    const path = `/${handle}`
    const { id } = await world.sell(
      [{ method: 'POST', path, pricing: PRICE, settle }],
      { recipient: undefined },
      seller,
    )
    const at = `${world.service.origin}/m/${handle}/mcp`
    const call = async (meta: Json = {}, key: string | null = null): Promise<Json> => {
      const params = { name: `weather-post-${handle}`, arguments: { body: { a: 1 } }, _meta: meta }
      const headers = key === null ? {} : { authorization: `Bearer ${key}` }
      return (await sendMcp(at, { method: 'tools/call', params }, headers))['result'] as Json
    }
    const list = async () => ((await sendMcp(at, { method: 'tools/list', params: {} }))['result'] as Json)['tools']
    const changeTo = async (terms: object) => {
      expect((await seller.call('PATCH', `/v1/paywalls/${id}`, { body: terms })).status).toBe(200)
      // Longer than a list of tools is remembered.
      world.service.clock.forward(3_000)
    }
    const asked = () => world.upstream.requests.filter(({ url }) => url === path).length
    return { path, call, list, changed: () => changeTo(change), changeTo, asked }
  }

  async function account() {
    const person = await world.service.person()
    await person.call('POST', '/v1/wallet/deposit', { body: { amount: 10 } })
    const balance = async () => (await person.call('GET', '/v1/wallet/balance')).body.wallet.balance as number
    return { key: person.key, balance }
  }
  const errorOf = (result: Json): Json => (result['structuredContent'] as Json)['error'] as Json

  it('hands over the stored answer to the guest who paid, and to nobody else', async () => {
    const { path, call, list, changed, asked } = await offered('after')
    world.upstream.on(path, (_request, response) => json(response, 201, { letter: 1 }))
    const payer = await world.chain.payer(1_000_000n)
    const paid = await call({ 'x402/payment': await payFor(world.chain, payer, await call()) })
    expect(paid).toMatchObject({ structuredContent: { letter: 1 } })
    await changed()
    const { 'coinslot/payment': proof } = paid['_meta'] as { 'coinslot/payment': Json }
    expect(await call({ 'coinslot/payment': proof })).toMatchObject({
      structuredContent: { letter: 1 },
      _meta: { 'coinslot/status': 201 },
    })
    expect(errorOf(await call({ 'coinslot/payment': { paymentId: proof['paymentId'] } }))['code']).toBe(
      'invalid_payment',
    )
    expect(errorOf(await call())).toMatchObject({ code })
    expect(errorOf(await call())).not.toHaveProperty('paid')
    expect(await list()).not.toMatchObject([{ name: expect.stringContaining(path.slice(1)) as string }])
    expect(asked()).toBe(1)
    expect(await usdcOf(world.chain, payer.address)).toBe(950_000n)
  })

  it('hands it over to the account that bought it, by its payment or the same key', async () => {
    const { path, call, changed, asked } = await offered('after')
    world.upstream.on(path, (_request, response) => json(response, 201, { letter: 1 }))
    const { key, balance } = await account()
    const named = { 'coinslot/idempotency-key': 'letter-1' }
    const bought = await call(named, key)
    expect(bought).toMatchObject({ structuredContent: { letter: 1 }, _meta: { 'coinslot/billing': { cost: 0.05 } } })
    await changed()
    const { 'coinslot/payment': proof } = bought['_meta'] as Json
    expect(await call({ 'coinslot/payment': proof }, key)).toEqual(bought)
    expect(await call(named, key)).toEqual(bought)
    expect(errorOf(await call({}, key))).toMatchObject({ code })
    expect(asked()).toBe(1)
    expect(await balance()).toBe(9.95)
  })

  it('says that the payment arrived where the answer was never made', async () => {
    const { path, call, changed, changeTo, asked } = await offered('before')
    world.upstream.on(path, (_request, response) => json(response, 500, {}))
    const { key, balance } = await account()
    const { paymentId, paymentToken } = errorOf(await call({}, key))
    await changed()
    const proof = { 'coinslot/payment': { paymentId, paymentToken } }
    for (const by of [key, null]) {
      const owed = errorOf(await call(proof, by))
      expect(owed).toMatchObject({ code, paid: true, paymentId })
      expect(owed['message']).toMatch(/The payment arrived, but /)
      expect(owed['message']).not.toMatch(/Nothing was charged/)
      const until = isLasting ? undefined : expect.stringMatching(/^20.+Z$/)
      expect([owed['deliverable'], owed['deliverableUntil']]).toEqual([isLasting ? false : undefined, until])
    }
    expect(asked()).toBe(1)
    if (back !== null) {
      await changeTo(back)
      world.upstream.on(path, (_request, response) => json(response, 201, { letter: 2 }))
      expect(await call(proof)).toMatchObject({ structuredContent: { letter: 2 } })
    }
    expect(await balance()).toBe(9.95)
  })

  it('charges nothing for a payment that was not used before', async () => {
    const { call, changed, asked } = await offered('after')
    const payer = await world.chain.payer(1_000_000n)
    const payment = await payFor(world.chain, payer, await call())
    await changed()
    expect(errorOf(await call({ 'x402/payment': payment }))).toMatchObject({ code })
    expect(asked()).toBe(0)
    expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n)
  })
})
