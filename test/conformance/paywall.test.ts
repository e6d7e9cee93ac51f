import { json } from '../paywall/upstream.ts'
import { openWorld, type World } from '../paywall/world.ts'
import { usdcOf } from '../facilitator/world.ts'
import { startBuyer, type Buyer } from './stock.ts'

/** More than a tenth of a dollar and the older client asks its owner. */
describe.each([1, 2, 'axios'] as const)('a stock client (%s) at a gate', (version) => {
  let world: World
  let buyer: Buyer
  beforeAll(async () => {
    world = await openWorld({ chain: true })
    buyer = startBuyer(version)
    world.upstream.on('/chat', (_request, response) => {
      json(response, 200, { text: 'hello', usage: { prompt_tokens: 1_000, completion_tokens: 2_000 } })
    })
  })
  afterAll(async () => {
    await buyer.stop()
    await world.close()
  })

  it('pays for a request, and gets its answer once', async () => {
    const { gate } = await world.sell([
      { method: 'POST', path: '/translate', pricing: { model: 'per-request', amount: 0.05 } },
    ])
    const payer = await world.chain.payer(1_000_000n)
    const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"text":"hallo"}' }
    const purchase = await buyer.buy({ url: `${gate}/translate`, privateKey: payer.privateKey, request })
    expect(purchase).toMatchObject({
      status: 200,
      body: { method: 'POST', body: '{"text":"hallo"}' },
      receipt: {
        success: true,
        transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        network: version === 1 ? world.chain.network.name : world.chain.network.caip2,
        payer: payer.address,
      },
    })
    expect(await usdcOf(world.chain, payer.address)).toBe(950_000n)
    const { name, value } = purchase.header
    const again = await fetch(`${gate}/translate`, { ...request, headers: { ...request.headers, [name]: value } })
    expect(again.status).toBe(409)
    expect(await usdcOf(world.chain, payer.address)).toBe(950_000n)
  })

  it('pays the price of its own tier when it names its payer', async () => {
    const tiers = [{ upTo: 1, amount: 0.05 }, { amount: 0.02 }]
    const { gate } = await world.sell([{ path: '/data', pricing: { model: 'tiered', tiers, window: 'lifetime' } }])
    const payer = await world.chain.payer(1_000_000n)
    const buy = (): ReturnType<Buyer['buy']> =>
      buyer.buy({
        url: `${gate}/data`,
        privateKey: payer.privateKey,
        request: { headers: { 'x-payment-payer': payer.address } },
      })
    expect((await buy()).status).toBe(200)
    expect(await usdcOf(world.chain, payer.address)).toBe(950_000n)
    expect((await buy()).status).toBe(200)
    expect(await usdcOf(world.chain, payer.address)).toBe(930_000n)
  })

  it('pays the maximum of a metered call once, and draws its next calls from the rest', async () => {
    const pricing = { model: 'per-token', input: 0.001, output: 0.002, minimum: 0.001, maximum: 0.02 }
    const { gate } = await world.sell([{ method: 'POST', path: '/chat', pricing }])
    const payer = await world.chain.payer(1_000_000n)
    const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"prompt":"hi"}' }
    const buy = (): ReturnType<Buyer['buy']> =>
      buyer.buy({ url: `${gate}/chat`, privateKey: payer.privateKey, request })
    expect(await buy()).toMatchObject({ status: 200, receipt: { success: true } })
    expect(await usdcOf(world.chain, payer.address)).toBe(980_000n)
    // 0.015 is left, less than the most: it pays again, and then has enough for three.
    expect(await buy()).toMatchObject({ status: 200, receipt: { success: true } })
    expect(await usdcOf(world.chain, payer.address)).toBe(960_000n)
    for (let call = 0; call < 2; call++) expect((await buy()).status).toBe(200)
    expect(await usdcOf(world.chain, payer.address)).toBe(960_000n)
    await world.service.paywalls.flush()
  })

  it('pays only the missing amount once it sends a token, and uses up its balance', async () => {
    const pricing = { model: 'per-token', input: 0.001, output: 0.002, minimum: 0.001, maximum: 0.02 }
    const { gate } = await world.sell([{ method: 'POST', path: '/chat', pricing }])
    const payer = await world.chain.payer(1_000_000n)
    const headers = { 'content-type': 'application/json', 'x-payment-token': `tok_${'s'.repeat(43)}` }
    const request = { method: 'POST', headers, body: '{"prompt":"hi"}' }
    for (const left of [980_000n, 975_000n, 970_000n]) {
      const purchase = await buyer.buy({ url: `${gate}/chat`, privateKey: payer.privateKey, request })
      expect(purchase).toMatchObject({ status: 200, receipt: { success: true } })
      expect(await usdcOf(world.chain, payer.address)).toBe(left)
    }
  })

  it('pays for the time that its call takes', async () => {
    const pricing = { model: 'per-minute', amount: 0.06, minimum: 0.001, maximum: 0.02 }
    const { gate } = await world.sell([{ path: '/render', pricing }])
    world.upstream.on('/render', (_request, response) => {
      world.service.clock.forward(6_500)
      json(response, 200, { done: true })
    })
    const payer = await world.chain.payer(1_000_000n)
    expect(await buyer.buy({ url: `${gate}/render`, privateKey: payer.privateKey })).toMatchObject({ status: 200 })
    expect(await usdcOf(world.chain, payer.address)).toBe(980_000n)
    const rows = await world.service.database.statements.run<{ drawn: bigint }>(
      'SELECT drawn FROM paywall_balance WHERE payer = $1',
      [payer.address],
    )
    // Seven seconds have begun.
    expect(rows).toEqual([{ drawn: 7_000n }])
  })

  it('pays nothing with too little money, and gets a 402 with the reason', async () => {
    const { gate } = await world.sell([{ path: '/data', pricing: { model: 'per-request', amount: 0.05 } }])
    const poor = await world.chain.payer(49_999n)
    const purchase = await buyer.buy({ url: `${gate}/data`, privateKey: poor.privateKey })
    expect(purchase).toMatchObject({ status: 402, body: { reason: 'invalid_exact_evm_insufficient_balance' } })
    expect(await usdcOf(world.chain, poor.address)).toBe(49_999n)
  })
})
