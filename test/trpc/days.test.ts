import type { TestPerson } from '../harness/service.ts'
import { runWorld, type RunWorld } from '../marketplace/runs/world.ts'

/** What the plots of the overview are drawn from. */
describe('days', () => {
  let world: RunWorld
  beforeAll(async () => {
    world = await runWorld()
  })
  afterAll(() => world.close())

  const ask = async (person: TestPerson, name: string, days = 30): Promise<unknown> =>
    (await person.call('GET', `/trpc/${name}?input=${encodeURIComponent(JSON.stringify({ days }))}`)).body.result.data
  const today = () => world.service.clock.now().toISOString().slice(0, 10)

  test('of the wallet: what came in and what left, for payer and creator each', async () => {
    const slug = await world.prompt()
    const caller = await world.caller(10)
    await world.run(caller, slug)
    await world.run(caller, slug)
    expect(await ask(caller, 'wallet.days')).toEqual([{ day: today(), moneyIn: 10, moneyOut: 0.04 }])
    expect(await ask(world.creator, 'wallet.days')).toEqual([{ day: today(), moneyIn: 0.04, moneyOut: 0 }])
  })

  test('of runs: how many of each state, what they cost, and none from before', async () => {
    const slug = await world.prompt()
    const caller = await world.caller(10)
    await world.run(caller, slug)
    const first = today()
    world.service.clock.forward(24 * 3_600_000)
    await world.run(caller, slug)
    await world.run(caller, slug)
    expect(await ask(caller, 'runs.days')).toEqual([
      { day: first, status: 'succeeded', count: 1, cost: 0.02 },
      { day: today(), status: 'succeeded', count: 2, cost: 0.04 },
    ])
    expect(await ask(caller, 'runs.days', 1)).toEqual([{ day: today(), status: 'succeeded', count: 2, cost: 0.04 }])
    expect(await ask(caller, 'wallet.days', 1)).toEqual([{ day: today(), moneyIn: 0, moneyOut: 0.04 }])
  })

  test('of sales: none that was simulated', async () => {
    const seller = await world.service.person()
    const terms = {
      callbackUrl: world.server.on('/flow', () => ({ body: {} })),
      product: { name: 'Audit' },
      price: 5,
      network: 'base-sepolia',
      recipient: `0x${'11'.repeat(20)}`,
      testMode: true,
    }
    const { checkout } = (await seller.call('POST', '/v1/checkouts', { body: terms })).body
    expect((await seller.call('POST', `/v1/checkouts/${String(checkout.id)}/test-payment`)).status).toBe(200)
    expect(await ask(seller, 'checkouts.days')).toEqual([])
    // As if it had been money.
    await world.service.database.pool.query(
      `UPDATE checkout_payment SET simulated = false, digest = sha256('x'), request = '{}', recipient = '0x1'`,
    )
    expect(await ask(seller, 'checkouts.days')).toEqual([{ day: today(), paid: 1, failed: 0, amount: 5 }])
    expect(await ask(world.creator, 'checkouts.days')).toEqual([])
  })

  test('are at most ninety', async () => {
    const { body } = await world.creator.call('GET', `/trpc/runs.days?input=${encodeURIComponent('{"days":91}')}`)
    expect(body.error.data.fields.details).toEqual({ days: 'must be at most 90' })
  })
})
