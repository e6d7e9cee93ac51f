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

  const switchTo = async ({ id }: SoldPaywall, network: string): Promise<void> => {
    expect((await world.seller.call('PATCH', `/v1/paywalls/${id}`, { body: { network } })).status).toBe(200)
  }
  const analytics = async (): Promise<object> => {
    const { body } = await world.seller.call('GET', `/v1/paywalls/${gate.id}/analytics`)
    return body.analytics as object
  }
  const events = async (): Promise<string[]> => {
    const rows = await world.service.database.statements.run<{ body: string }>(
      'SELECT body FROM delivery ORDER BY id',
      [],
    )
    const all = rows.map(({ body }) => JSON.parse(body) as { event: string; data: { paywallId: string } })
    return all
      .filter(({ data }) => data.paywallId === gate.id)
      .map(({ event }) => event)
      .sort()
  }

  it('buys calls, and is no revenue and makes no customer', async () => {
    for (let at = 0; at < 2; at++)
      expect((await world.pay(await world.chain.payer(1_000_000n), `${gate.gate}/data`)).status).toBe(200)
    expect(await analytics()).toMatchObject({ revenue: 0, customers: 0, total: { revenue: 0, payments: 0 } })
    expect(await events()).toEqual(['payment.completed', 'payment.completed'])
  })

  it('leads to no tier of real money, nor does real money to one of test money', async () => {
    const tiers = [{ upTo: 1, amount: 0.03 }, { amount: 0.01 }]
    const sold = await world.sell([{ path: '/t', pricing: { model: 'tiered', tiers, window: 'lifetime' } }])
    const url = `${sold.gate}/t`
    const payer = await world.chain.payer(1_000_000n)
    await base.fund(payer.address, 1_000_000n)
    const as = { headers: { 'x-payment-payer': payer.address } }
    const asked = async (): Promise<string> => (await world.request(url, as)).body.amount as string
    expect((await world.pay(payer, url, as)).status).toBe(200)
    expect(await asked()).toBe('0.01')
    await switchTo(sold, 'base')
    expect(await asked()).toBe('0.03')
    expect((await buy({ chain: base, payer }, url, as)).status).toBe(200)
    expect(await asked()).toBe('0.01')
    await switchTo(sold, 'base-sepolia')
    expect(await asked()).toBe('0.03')
    expect((await world.pay(payer, url, as)).status).toBe(200)
    expect(await asked()).toBe('0.01')
  })

  it('buys nothing at the terms of another network, however little time has gone by', async () => {
    const sold = await world.sell([{ path: '/e', pricing: { model: 'per-request', amount: 0.03 } }])
    const url = `${sold.gate}/e`
    const payer = await world.chain.payer(1_000_000n)
    const header = await world.sign(payer, await world.request(url))
    // What was offered before a change of the name stays valid for ten minutes.
    expect((await world.seller.call('PATCH', `/v1/paywalls/${sold.id}`, { body: { name: 'Sun' } })).status).toBe(200)
    await switchTo(sold, 'base')
    expect((await world.request(url, { headers: header })).status).toBe(402)
  })

  it('leaves the first real payment what it is', async () => {
    await switchTo(gate, 'base')
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
