import { usdcOf } from '../facilitator/world.ts'
import { freePort } from '../harness/ports.ts'
import { openWorld, type World } from '../paywall/world.ts'
import { startBuyer, type Buyer } from './stock.ts'

/** The stock client of `sign-in-with-x`, around the stock client of x402. */
describe('a stock client that signs in', () => {
  let world: World
  let buyer: Buyer
  beforeAll(async () => {
    // The client signs only for the very origin that it asked.
    const port = String(await freePort())
    world = await openWorld({
      chain: true,
      environment: { PORT: port, PUBLIC_GATE_URL: `http://127.0.0.1:${port}/gate` },
    })
    buyer = startBuyer(2)
  })
  afterAll(async () => {
    await buyer.stop()
    await world.close()
  })

  it("pays once, returns free of charge for the seller's period, and pays again afterwards", async () => {
    const signIn = { seconds: 120 }
    const pricing = { model: 'per-request', amount: 0.05 }
    const { gate } = await world.sell([
      { path: '/data', pricing, signIn },
      { path: '/other', pricing, signIn },
    ])
    const [payer, stranger] = [await world.chain.payer(1_000_000n), await world.chain.payer(1_000_000n)]
    const visit = (by: typeof payer, path: string) =>
      buyer.buy({ url: `${gate}${path}`, privateKey: by.privateKey, signsIn: true })
    const left = () => usdcOf(world.chain, payer.address)

    expect(await visit(payer, '/data')).toMatchObject({ status: 200, receipt: { success: true } })
    expect(await left()).toBe(950_000n)
    for (const query of ['', '?page=2']) {
      const returned = await visit(payer, `/data${query}`)
      expect([returned.status, returned.receipt, returned.header.value]).toEqual([200, null, null])
    }
    expect(await left()).toBe(950_000n)
    // Neither another path nor another wallet was paid for: the same client pays there.
    expect(await visit(payer, '/other')).toMatchObject({ status: 200, receipt: { success: true } })
    expect(await visit(stranger, '/data')).toMatchObject({ status: 200, receipt: { payer: stranger.address } })
    expect(await left()).toBe(900_000n)

    // The client's own clock does not move, and what it signs is valid for five minutes.
    world.service.clock.forward(121_000)
    expect(await visit(payer, '/data')).toMatchObject({ status: 200, receipt: { success: true } })
    expect(await left()).toBe(850_000n)
  })
})
