import { expectLikeItsTest } from '../deliveries/samples.ts'
import { usdcOf } from '../facilitator/world.ts'
import type { TestAccount } from '../harness/chain.ts'
import { openWorld, until, type Answer, type World } from './world.ts'

describe('tiers', () => {
  /*
   * Each customer has a tier of their own. Only paid calls lead to the next one, however many arrive at once; and each
   * event is sent once.
   */

  let world: World
  beforeAll(async () => {
    world = await openWorld({ chain: true })
    const created = await world.seller.call('POST', '/v1/webhook-endpoints', {
      body: {
        url: `${world.upstream.url}/hook`,
        events: [
          'payment.completed',
          'payment.failed',
          'customer.first_payment',
          'revenue.milestone',
          'pricing.tier_changed',
        ],
      },
    })
    expect(created.status).toBe(201)
  })
  afterAll(() => world.close())

  /** The deliveries that one paywall's endpoint gets, written in the transactions of the changes themselves. */
  async function eventsOf(paywall: string): Promise<{ event: string; data: Record<string, unknown> }[]> {
    const rows = await world.service.database.statements.run<{ body: string }>(
      'SELECT body FROM delivery ORDER BY id',
      [],
    )
    const events = rows.map(({ body }) => JSON.parse(body) as { event: string; data: Record<string, unknown> })
    return events.filter(({ data }) => data['paywallId'] === paywall)
  }

  /** Pays the price asked, again if the first price belonged to another tier. */
  async function buy(payer: TestAccount, url: string): Promise<Answer> {
    const as = { headers: { 'x-payment-payer': payer.address } }
    for (;;) {
      const answer = await world.pay(payer, url, as)
      if (answer.body?.reason !== 'tier_changed') return answer
    }
  }

  it('sell exactly the calls of each tier under load, and report the change once', async () => {
    const tiers = [{ upTo: 5, amount: 0.03 }, { upTo: 8, amount: 0.02 }, { amount: 0.01 }]
    const { gate, id } = await world.sell([{ path: '/data', pricing: { model: 'tiered', tiers, window: 'day' } }], {
      milestones: [0.1, 0.2, 5],
    })
    const payer = await world.chain.payer(1_000_000n)
    const other = await world.chain.payer(1_000_000n)
    const together = (calls: number, who: TestAccount): Promise<Answer[]> =>
      Promise.all(Array.from({ length: calls }, () => buy(who, `${gate}/data`)))
    const answers = [
      ...(await Promise.all([together(5, payer), together(3, other)])).flat(),
      ...(await together(3, payer)),
      ...(await together(4, payer)),
    ]
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n - 5n * 30_000n - 3n * 20_000n - 4n * 10_000n)
    expect(await usdcOf(world.chain, other.address)).toBe(1_000_000n - 3n * 30_000n)

    const events = await eventsOf(id)
    events.forEach(expectLikeItsTest)
    const count = (name: string): number => events.filter(({ event }) => event === name).length
    expect(count('payment.completed')).toBe(15)
    expect(count('customer.first_payment')).toBe(2)
    expect(events.filter(({ event }) => event === 'revenue.milestone').map(({ data }) => data['milestone'])).toEqual(
      expect.arrayContaining([0.1, 0.2]),
    )
    expect(count('revenue.milestone')).toBe(2)
    const changes = events.filter(({ event }) => event === 'pricing.tier_changed')
    expect(changes.map(({ data }) => [data['customerId'], data['from'], data['to']]).sort()).toEqual([
      [payer.address, 1, 2],
      [payer.address, 2, 3],
    ])
    expect(events[0]!.data).toMatchObject({
      id: expect.stringMatching(/^pay_/),
      paywallId: id,
      customerId: expect.stringMatching(/^0x/),
      amount: expect.any(Number),
      endpoint: 'GET /data',
      network: 'base-sepolia',
      txHash: expect.stringMatching(/^0x/),
      at: expect.any(String),
    })
    // The events do arrive, signed.
    const hook = await until(() => world.upstream.requests.find(({ url }) => url === '/hook') ?? null)
    expect(hook.headers['webhook-signature']).toMatch(/^v1,/)

    // A new day begins at the first price, and that is a change of tier too.
    world.service.clock.forward(86_400_000)
    const unpaid = await world.request(`${gate}/data`, { headers: { 'x-payment-payer': payer.address } })
    expect(unpaid.body.amount).toBe('0.03')
  })

  it('offer the first price to an unknown caller, and refuse the price of another tier', async () => {
    const tiers = [{ upTo: 1, amount: 0.03 }, { amount: 0.01 }]
    const { gate } = await world.sell([{ path: '/t', pricing: { model: 'tiered', tiers, window: 'lifetime' } }])
    const payer = await world.chain.payer(1_000_000n)
    expect((await world.request(`${gate}/t`)).body.amount).toBe('0.03')
    expect((await world.pay(payer, `${gate}/t`)).status).toBe(200)
    const refused = await world.pay(payer, `${gate}/t`)
    expect(refused).toMatchObject({ status: 402, body: { reason: 'tier_changed', amount: '0.01' } })
    const header = await world.sign(payer, refused)
    expect((await world.request(`${gate}/t`, { headers: header })).status).toBe(200)
    expect(await usdcOf(world.chain, payer.address)).toBe(960_000n)
    const wrong = await world.request(`${gate}/t`, { headers: { 'x-payment-payer': 'me' } })
    expect(wrong.status).toBe(400)
  })

  it('do not count a call whose upstream failed', async () => {
    const tiers = [{ upTo: 1, amount: 0.03 }, { amount: 0.01 }]
    const { gate } = await world.sell([{ path: '/f', pricing: { model: 'tiered', tiers, window: 'lifetime' } }])
    world.upstream.on('/f', (_request, response) => {
      response.writeHead(500).end()
    })
    const payer = await world.chain.payer(1_000_000n)
    expect((await world.pay(payer, `${gate}/f`)).status).toBe(500)
    const unpaid = await world.request(`${gate}/f`, { headers: { 'x-payment-payer': payer.address } })
    expect(unpaid.body.amount).toBe('0.03')
  })

  it('sell nothing cheaper while higher-priced calls are pending, nor after those have failed', async () => {
    const tiers = [{ upTo: 2, amount: 0.03 }, { amount: 0.01 }]
    const { gate } = await world.sell([{ path: '/w', pricing: { model: 'tiered', tiers, window: 'lifetime' } }])
    const waiting: (() => void)[] = []
    let fails = true
    world.upstream.on('/w', (_request, response) => {
      if (!fails) return void response.writeHead(200).end('worth it')
      waiting.push(() => response.writeHead(500).end())
    })
    const payer = await world.chain.payer(1_000_000n)
    const payments = [1, 2].map(() => world.pay(payer, `${gate}/w`))
    await until(() => (waiting.length === 2 ? true : null))
    const as = { headers: { 'x-payment-payer': payer.address } }
    expect((await world.request(`${gate}/w`, as)).body.amount).toBe('0.03')
    fails = false
    expect((await world.pay(payer, `${gate}/w`, as)).status).toBe(200)
    for (const giveUp of waiting) giveUp()
    expect((await Promise.all(payments)).map(({ status }) => status)).toEqual([500, 500])
    expect(await usdcOf(world.chain, payer.address)).toBe(970_000n)
    expect((await world.pay(payer, `${gate}/w`, as)).status).toBe(200)
    expect((await world.request(`${gate}/w`, as)).body.amount).toBe('0.01')
    expect(await usdcOf(world.chain, payer.address)).toBe(940_000n)
  })

  it('report a payment that the chain refused once, and return no answer', async () => {
    const { gate, id } = await world.sell([{ path: '/poor', pricing: { model: 'per-request', amount: 0.05 } }])
    const payer = await world.chain.payer(1_000_000n)
    world.upstream.on('/poor', (_request, response) => {
      // The payer's money is moved away after the upstream is called and before the call is paid.
      void world.chain.fund(payer.address, 0n).then(() => response.writeHead(200).end('worth it'))
    })
    const answer = await world.pay(payer, `${gate}/poor`)
    expect(answer).toMatchObject({ status: 402, body: { reason: 'invalid_exact_evm_insufficient_balance' } })
    expect(answer.text).not.toContain('worth it')
    const events = await eventsOf(id)
    expect(events.map(({ event }) => event)).toEqual(['payment.failed'])
    events.forEach(expectLikeItsTest)
    expect(events[0]!.data).toMatchObject({
      reason: 'invalid_exact_evm_insufficient_balance',
      customerId: payer.address,
    })
  })

  it('count revenue, customers, calls and refusals by route and day', async () => {
    const { gate, id } = await world.sell([
      { path: '/paid', pricing: { model: 'per-request', amount: 0.05 } },
      { path: '/free', pricing: { model: 'free' } },
    ])
    const payer = await world.chain.payer(1_000_000n)
    await world.pay(payer, `${gate}/paid`)
    await world.request(`${gate}/paid`)
    await world.request(`${gate}/paid`, { headers: { 'x-payment': '!' } })
    for (let call = 0; call < 3; call++) expect((await world.request(`${gate}/free`)).status).toBe(200)
    await world.service.paywalls.flush()
    const { body } = await world.seller.call('GET', `/v1/paywalls/${id}/analytics`)
    expect(body.analytics).toMatchObject({
      revenue: 0.05,
      customers: 1,
      total: { calls: 4, payments: 1, revenue: 0.05, drawn: 0, refusals: { unpaid: 2, invalid_payment: 1 } },
      routes: [
        { route: 'GET /free', calls: 3, payments: 0 },
        { route: 'GET /paid', calls: 1, payments: 1, revenue: 0.05 },
      ],
      days: [{ day: world.service.clock.now().toISOString().slice(0, 10), calls: 4 }],
    })
  })
})
