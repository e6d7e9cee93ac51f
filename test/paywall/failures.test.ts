import { expectLikeItsTest } from '../deliveries/samples.ts'
import { openWorld, type World } from './world.ts'

interface Event {
  event: string
  data: Record<string, unknown>
}

/** Owners are notified of refused authorizations at gates, with the same fields and bounds as at checkouts. */
describe('payment.failed of a paywall', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ chain: true })
    const body = { url: `${world.upstream.url}/hook`, events: ['payment.failed'] }
    expect((await world.seller.call('POST', '/v1/webhook-endpoints', { body })).status).toBe(201)
  })
  afterAll(() => world.close())

  async function sent(paywall: string): Promise<Event[]> {
    const rows = await world.service.database.statements.run<{ body: string }>('SELECT body FROM delivery', [])
    return rows.map(({ body }) => JSON.parse(body) as Event).filter(({ data }) => data['paywallId'] === paywall)
  }

  it.each([
    ['a request', { model: 'per-request', amount: 0.05 }, 0.05],
    ['a measured call', { model: 'per-minute', amount: 6, minimum: 0.01, maximum: 0.1 }, null],
  ])('is sent once for an authorization that is refused, for %s', async (_, pricing, amount) => {
    const { gate, id } = await world.sell([{ path: '/data', pricing }])
    const payer = await world.chain.payer(5n)
    const headers = await world.sign(payer, await world.request(`${gate}/data`))
    for (let time = 0; time < 2; time++) {
      const answer = await world.request(`${gate}/data?secret=1`, { headers })
      expect(answer).toMatchObject({ status: 402, body: { reason: 'invalid_exact_evm_insufficient_balance' } })
    }
    const events = await sent(id)
    expect(events).toEqual([
      {
        event: 'payment.failed',
        data: {
          ...{ id: null, checkoutId: null, paywallId: id, customerId: payer.address.toLowerCase() },
          ...{ amount: amount ?? expect.any(Number), currency: 'USDC', endpoint: 'GET /data', route: 'GET /data' },
          ...{ network: 'base-sepolia', txHash: null, at: expect.any(String) },
          reason: 'invalid_exact_evm_insufficient_balance',
        },
      },
    ])
    events.forEach(expectLikeItsTest)
  })

  it("is not sent for another recipient's authorization, and names no unproven payer", async () => {
    const pricing = { model: 'per-request', amount: 0.05 }
    const one = await world.sell([{ path: '/data', pricing }])
    const other = await world.sell([{ path: '/data', pricing }], { recipient: `0x${'b'.repeat(40)}` })
    const payer = await world.chain.payer(5_000_000n)
    const foreign = await world.sign(payer, await world.request(`${other.gate}/data`))
    expect((await world.request(`${one.gate}/data`, { headers: foreign })).status).toBe(402)
    expect(await sent(one.id)).toEqual([])

    const [name = '', header = ''] =
      Object.entries(await world.sign(payer, await world.request(`${one.gate}/data`)))[0] ?? []
    const forged = JSON.parse(Buffer.from(header, 'base64').toString()) as {
      payload: { authorization: Record<string, string> }
    }
    forged.payload.authorization['from'] = `0x${'5'.repeat(40)}`
    const headers = { [name]: Buffer.from(JSON.stringify(forged)).toString('base64') }
    expect((await world.request(`${one.gate}/data`, { headers })).status).toBe(402)
    expect((await sent(one.id)).map(({ data }) => [data['customerId'], data['reason']])).toEqual([
      [null, 'invalid_exact_evm_signature'],
    ])
  })
})
