import { usdcOf } from '../facilitator/world.ts'
import { json } from './upstream.ts'
import { openWorld, until, type World } from './world.ts'

const LETTERS = { method: 'POST', path: '/letters', pricing: { model: 'per-request', amount: 0.05 }, settle: 'before' }
const POST = { method: 'POST', body: '{}' }
const CHANGES = [
  ['is paused', { status: 'paused' }, { status: 'active' }, 503, 'paywall_paused'],
  ['has no such route any more', { routes: [{ ...LETTERS, path: '/other' }] }, null, 404, 'route_not_found'],
  ['is in test mode', { testMode: true }, { testMode: false }, 503, 'paywall_paused'],
] as const

/** What is for sale changes between a payment and its answer. */
describe.each(CHANGES)('a call that was paid at a gate which %s', (_, change, back, status, code) => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ chain: true })
  })
  afterAll(() => world.close())

  async function offered() {
    const { gate, id } = await world.sell([LETTERS])
    const payer = await world.chain.payer(1_000_000n)
    const signed = await world.sign(payer, await world.request(`${gate}/letters`, POST))
    const headers = { ...signed, 'x-payment-token': `tok_${'t'.repeat(43)}` }
    const ask = (more: Record<string, string> = headers) => world.request(`${gate}/letters`, { ...POST, headers: more })
    const changed = async (terms: object = change) => {
      expect((await world.seller.call('PATCH', `/v1/paywalls/${id}`, { body: terms })).status).toBe(200)
      world.service.clock.forward(2_000)
    }
    return { gate, payer, headers, ask, changed }
  }

  it('hands over the stored answer to its buyer, and to nobody else', async () => {
    const { gate, payer, headers, ask, changed } = await offered()
    const arrived = new Promise<() => void>((resolve) => {
      world.upstream.on('/letters', (_request, response) => {
        resolve(() => {
          json(response, 201, { letter: 1 })
        })
      })
    })
    const controller = new AbortController()
    const lost = fetch(`${gate}/letters`, { ...POST, headers, signal: controller.signal })
    const answerNow = await arrived
    controller.abort()
    await expect(lost).rejects.toThrow()
    answerNow()
    const id = await until(async () => {
      const [row] = await world.service.database.statements.run<{ id: string }>(
        'SELECT id FROM sale JOIN sale_answer ON sale_id = id WHERE payer = $1 AND lease_until IS NULL',
        [payer.address.toLowerCase()],
      )
      return row?.id ?? null
    })
    await changed()
    expect((await ask({ 'x-payment-id': id })).body).not.toHaveProperty('letter')
    const answer = await ask({ 'x-payment-id': id, 'x-payment-token': headers['x-payment-token'] })
    expect([answer.status, answer.body]).toEqual([201, { letter: 1 }])
    expect(await usdcOf(world.chain, payer.address)).toBe(950_000n)
  })

  it('says that the payment arrived where the answer was never made, and whether it may still be', async () => {
    const { payer, ask, changed } = await offered()
    world.upstream.on('/letters', (_request, response) => json(response, 500, {}))
    expect((await ask()).status).toBe(500)
    const paidBy = world.service.clock.now()
    await changed()
    const times = world.upstream.requests.length
    const answer = await ask()
    expect([answer.status, answer.body.code, answer.body.paid]).toEqual([status, code, true])
    expect(answer.body.error).not.toMatch(/Nothing was charged/)
    expect(world.upstream.requests).toHaveLength(times)
    if (back === null) {
      expect(answer.body).toMatchObject({ deliverable: false })
      expect(answer.body.error).toMatch(
        /The payment arrived, but this can no longer be delivered\. Ask its seller for a refund/,
      )
    } else {
      expect(answer.headers.get('retry-after')).toBe('60')
      expect(answer.body).not.toHaveProperty('deliverable')
      expect(answer.body.error).toMatch(
        /The payment arrived, but the answer has not been delivered yet\. Send the same/,
      )
      const { deliverableUntil: owedUntil } = answer.body as { deliverableUntil: string }
      expect(answer.body.error).toContain(owedUntil)
      const owedMs = Date.parse(owedUntil) - paidBy.getTime()
      expect([owedMs <= 600_000, owedMs > 540_000]).toEqual([true, true])
      await changed(back)
      world.upstream.on('/letters', (_request, response) => json(response, 201, { letter: 2 }))
      expect(await ask()).toMatchObject({ status: 201, body: { letter: 2 } })
    }
    expect(await usdcOf(world.chain, payer.address)).toBe(950_000n)
  })

  it('says after ten minutes that an answer which was never made no longer can be, and who gives the money back', async () => {
    const { ask, changed } = await offered()
    world.upstream.on('/letters', (_request, response) => json(response, 500, {}))
    expect((await ask()).status).toBe(500)
    await changed()
    world.service.clock.forward(600_000)
    const { status: late, body } = await ask()
    expect([late, body]).toMatchObject([410, { code: 'payment_expired', paid: true, deliverable: false }])
    expect(body.error).toMatch(/^The payment arrived, but .* no longer can be\. Ask its seller for a refund/)
    expect(body.error).not.toMatch(/fetched|deleted/)
  })

  it('charges nothing for an authorization that was not used before', async () => {
    const { payer, ask, changed } = await offered()
    await changed()
    const answer = await ask()
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(answer.body).not.toHaveProperty('paid')
    expect(await usdcOf(world.chain, payer.address)).toBe(1_000_000n)
  })
})

describe('a stranger at a paused gate', () => {
  const LIMIT = 3
  let world: World
  beforeAll(async () => {
    world = await openWorld({ environment: { TRUST_PROXY: 'loopback', RATE_GATE_PER_MINUTE: String(LIMIT) } })
  })
  afterAll(() => world.close())

  it.each([
    ['presents a payment', { 'x-payment': 'e30=' }, 429],
    [
      'names a payment',
      { 'x-payment-id': 'pay_01k00000000000000000000000', 'x-payment-token': `tok_${'t'.repeat(43)}` },
      429,
    ],
    ['does neither', {}, 503],
  ])('who %s is counted by address before any sale is looked for', async (what, headers, last) => {
    const { gate, id } = await world.sell([LETTERS])
    expect((await world.seller.call('PATCH', `/v1/paywalls/${id}`, { body: { status: 'paused' } })).status).toBe(200)
    world.service.clock.forward(2_000)
    const answers: number[] = []
    for (let time = 0; time < LIMIT + 1; time++) {
      const from = { 'x-forwarded-for': `203.0.113.${String(what.length)}` }
      answers.push((await world.request(`${gate}/letters`, { ...POST, headers: { ...headers, ...from } })).status)
    }
    expect(answers).not.toContain(500)
    expect([answers[0] === 429, answers.at(-1)]).toEqual([false, last])
  })
})
