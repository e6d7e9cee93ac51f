import { startChain, type TestChain } from '../harness/chain.ts'
import { liveSettings } from '../harness/live.ts'
import { buy } from '../harness/wallet.ts'
import { openWorld, type SoldPaywall, type World } from './world.ts'

const EVENTS = ['payment.completed', 'customer.first_payment', 'revenue.milestone']

describe('test money at a gate in production', () => {
  let world: World
  let base: TestChain
  let gate: SoldPaywall
  beforeAll(async () => {
    base = await startChain({ chainId: 8453 })
    world = await openWorld({
      ...{ chain: true, person: 'production' },
      environment: { ...liveSettings(), BASE_RPC_URLS: base.url, ALLOW_HOSTS: '127.0.0.1' },
    })
    await world.seller.call('POST', '/v1/webhook-endpoints', {
      body: { url: `${world.upstream.url}/hook`, events: EVENTS },
    })
    gate = await world.sell([{ path: '/data', pricing: { model: 'per-request', amount: 0.03 } }], {
      milestones: [0.03, 0.05],
    })
  })
  afterAll(async () => {
    await world.close()
    await base.stop()
  })

  const analytics = async (): Promise<object> => {
    const { body } = await world.seller.call('GET', `/v1/paywalls/${gate.id}/analytics`)
    return body.analytics as object
  }
  const events = async (): Promise<string[]> => {
    const rows = await world.service.database.statements.run<{ body: string }>(
      'SELECT body FROM delivery ORDER BY id',
      [],
    )
    return rows.map(({ body }) => (JSON.parse(body) as { event: string }).event).sort()
  }

  it('buys calls, and is no revenue and makes no customer', async () => {
    for (let at = 0; at < 2; at++)
      expect((await world.pay(await world.chain.payer(1_000_000n), `${gate.gate}/data`)).status).toBe(200)
    expect(await analytics()).toMatchObject({ revenue: 0, customers: 0, total: { revenue: 0, payments: 0 } })
    expect(await events()).toEqual(['payment.completed', 'payment.completed'])
  })

  it('leaves the first real payment what it is', async () => {
    const changed = await world.seller.call('PATCH', `/v1/paywalls/${gate.id}`, { body: { network: 'base' } })
    expect(changed.status).toBe(200)
    const payer = await base.payer(1_000_000n)
    expect((await buy({ chain: base, payer }, `${gate.gate}/data`, {})).status).toBe(200)
    expect(await analytics()).toMatchObject({
      ...{ revenue: 0.03, customers: 1 },
      total: { revenue: 0.03, payments: 1 },
    })
    expect(await events()).toEqual([
      'customer.first_payment',
      ...Array(3).fill('payment.completed'),
      'revenue.milestone',
    ])
  })
})
