import { openWorld, until, type World } from '../checkouts/world.ts'
import { usdcOf } from '../facilitator/world.ts'
import { startBuyer, type Buyer } from './stock.ts'

describe.each([1, 2] as const)('a stock client of version %i at a checkout', (version) => {
  let world: World
  let buyer: Buyer
  beforeAll(async () => {
    world = await openWorld({ chain: true })
    buyer = startBuyer(version)
  })
  afterAll(async () => {
    await buyer.stop()
    await world.close()
  })

  it('pays its x402 address unchanged, with the input in the body, and the workflow runs once', async () => {
    // For more than a tenth of a dollar the older client asks its owner.
    const { id } = await world.sell({ price: 0.05, fields: [{ name: 'site', type: 'url', required: true }] })
    const payer = await world.chain.payer(1_000_000n)
    const url = `${world.service.origin}/p/${id}`
    const input = { site: 'https://example.com/' }
    const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(input) }
    const purchase = await buyer.buy({ url, privateKey: payer.privateKey, request })
    expect(purchase).toMatchObject({
      status: 200,
      body: { payment: { status: 'paid', amount: 0.05, payer: payer.address } },
      receipt: {
        success: true,
        transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        network: version === 1 ? world.chain.network.name : world.chain.network.caip2,
        payer: payer.address,
      },
    })
    expect(await usdcOf(world.chain, payer.address)).toBe(950_000n)
    const [delivery] = await until(() => world.workflow.deliveries.length > 0 && world.workflow.deliveries)
    expect(delivery!.json).toMatchObject({ payment: { txHash: purchase.receipt!.transaction }, input })

    const { name, value } = purchase.header
    const again = await fetch(url, { ...request, headers: { ...request.headers, [name]: value } })
    // The authorization is public on chain by now: it proves nothing any more.
    expect([again.status, await again.json()]).toEqual([409, expect.objectContaining({ code: 'payment_submitted' })])
    expect(await usdcOf(world.chain, payer.address)).toBe(950_000n)
    expect(world.workflow.deliveries).toHaveLength(1)
  })

  it('pays nothing for an invalid input (400), nor with too little money (402 with the reason)', async () => {
    const { id } = await world.sell({ price: 0.05, fields: [{ name: 'site', type: 'url', required: true }] })
    const url = `${world.service.origin}/p/${id}`
    const payer = await world.chain.payer(49_999n)
    const post = (input: object) => ({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(input),
    })
    const wrong = await buyer.buy({ url, privateKey: payer.privateKey, request: post({ site: 'nowhere' }) })
    expect(wrong).toMatchObject({ status: 400, body: { details: { site: expect.any(String) } }, receipt: null })
    const poor = await buyer.buy({ url, privateKey: payer.privateKey, request: post({ site: 'https://example.com' }) })
    expect(poor).toMatchObject({ status: 402, body: { reason: 'invalid_exact_evm_insufficient_balance' } })
    expect(await usdcOf(world.chain, payer.address)).toBe(49_999n)
  })
})

describe('the stock client at a checkout whose payments wait in the escrow', () => {
  let world: World
  let buyer: Buyer
  beforeAll(async () => {
    world = await openWorld({ chain: true })
    buyer = startBuyer(2)
  })
  afterAll(async () => {
    await buyer.stop()
    await world.close()
  })

  it.each([
    { status: 200, ends: 'captured', left: 500_000n },
    { status: 410, ends: 'voided', left: 1_000_000n },
  ])('pays it unchanged, and the workflow decides: $ends', async ({ status, ends, left }) => {
    world.workflow.answers({ delivery: { status, body: '{"score":97}' } })
    const { id } = await world.sell({ price: 0.5, capture: 'escrow', responseMode: 'lastNode' })
    const payer = await world.chain.payer(1_000_000n)
    const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
    const url = `${world.service.origin}/p/${id}`
    const purchase = await buyer.buy({ url, privateKey: payer.privateKey, request })
    expect(purchase).toMatchObject({
      status: status === 200 ? 200 : 402,
      body: { payment: { escrow: { state: ends } } },
      receipt: { success: status === 200 },
    })
    expect(JSON.stringify(purchase.body).includes('score')).toBe(status === 200)
    expect(await usdcOf(world.chain, payer.address)).toBe(left)
  })
})
