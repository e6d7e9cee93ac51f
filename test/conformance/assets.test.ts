import { guestWorld, type GuestWorld } from '../marketplace/runs/guest-world.ts'
import { usdcOf } from '../facilitator/world.ts'
import { startBuyer, type Buyer } from './stock.ts'

describe.each([1, 2] as const)('a stock client of version %i runs a published asset', (version) => {
  let world: GuestWorld
  let buyer: Buyer
  beforeAll(async () => {
    world = await guestWorld()
    buyer = startBuyer(version)
  })
  afterAll(async () => {
    await buyer.stop()
    await world.close()
  })

  it('with the inputs in the body; the same payment sent again buys nothing', async () => {
    const slug = await world.prompt({ slug: 'stock-prompt' })
    const payer = await world.chain.payer(1_000_000n)
    const url = `${world.service.origin}/v1/rda/${slug}/run`
    const body = JSON.stringify({ inputs: { say: 'bought' } })
    const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    const purchase = await buyer.buy({ url, privateKey: payer.privateKey, request })
    expect(purchase).toMatchObject({
      status: 200,
      body: { output: expect.stringMatching(/\n\nbought$/), cost: 0.02, payer: payer.address },
      receipt: {
        success: true,
        transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        network: version === 1 ? world.chain.network.name : world.chain.network.caip2,
        payer: payer.address,
      },
    })
    expect(await usdcOf(world.chain, payer.address)).toBe(980_000n)
    const { name, value } = purchase.header
    const again = await fetch(url, { ...request, headers: { ...request.headers, [name]: value } })
    expect([again.status, await again.json()]).toEqual([409, expect.objectContaining({ code: 'payment_submitted' })])
    expect(await usdcOf(world.chain, payer.address)).toBe(980_000n)
  })
})
