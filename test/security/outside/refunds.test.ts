import { json } from '../../paywall/upstream.ts'
import { openWorld, until, type World } from '../../paywall/world.ts'
import { askBack } from './buyer.ts'

describe('a buyer who wants both the answer and its money', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ chain: true, environment: { SETTLE_CONFIRMATIONS: '1' } })
    await world.seller.call('POST', '/v1/wallet/deposit', { body: { amount: 50 } })
    await world.seller.call('PATCH', '/v1/refund-policy', { body: { agents: 'automatic' } })
  })
  afterAll(() => world.close())

  const init = { method: 'POST', body: '{}' }
  const token = { 'x-payment-token': `tok_${'t'.repeat(43)}` }

  /** Pays for an answer that its server works on until `finish` is called. */
  async function order(path: string) {
    const pricing = { model: 'per-request', amount: 0.5 }
    const { gate } = await world.sell([{ method: 'POST', path, pricing, settle: 'before' }])
    let finish: ((status: number) => void) | null = null
    world.upstream.on(path, (_request, response) => {
      finish = (status) => json(response, status, { letter: 'the text' })
    })
    const payer = await world.chain.payer(1_000_000n)
    const offer = await world.request(gate + path, init)
    const headers = { ...(await world.sign(payer, offer)), ...token }
    const controller = new AbortController()
    const answer = fetch(gate + path, { ...init, headers, signal: controller.signal }).then(
      (response) => response.text(),
      () => null,
    )
    const work = await until(() => finish)
    const { payments } = (await world.seller.call('GET', '/v1/payments')).body
    const { id, txHash } = payments[0] as { id: string; txHash: string }
    const required = offer.headers.get('payment-required') ?? ''
    const purchase = { payer, required, txHash, network: world.chain.network.caip2, amount: 500_000n }
    return {
      askBack: async (reason?: string) => (await askBack(world.service, purchase, reason)).status,
      refunds: async () =>
        ((await world.seller.call('GET', `/v1/payments/${id}`)).body.payment.refunds as { state: string }[]).map(
          ({ state }) => state,
        ),
      again: () => world.request(gate + path, { ...init, headers }),
      answer,
      work,
      hangUp: () => controller.abort(),
    }
  }

  it('is refunded nothing by itself while the answer is made', async () => {
    const { askBack, refunds, answer, work } = await order('/made')
    expect(await askBack()).toBe('pending')
    work(201)
    expect([await answer, await refunds()]).toEqual(['{"letter":"the text"}', []])
  })

  it('is refunded nothing by itself as not delivered while the answer waits for it', async () => {
    const { askBack, refunds, answer, work, hangUp, again } = await order('/waits')
    hangUp()
    expect(await answer).toBeNull()
    work(201)
    await until(async () => (await world.service.database.statements.run('SELECT FROM sale_answer', [])).length > 0)
    // Longer than the process that made it keeps it for itself.
    world.service.clock.forward(300_000)
    expect([await askBack(), await refunds()]).toEqual(['pending', []])
    expect(await again()).toMatchObject({ status: 201, body: { letter: 'the text' } })
  })

  it('gets no answer once the refund is under way', async () => {
    const { askBack, refunds, answer, work, again } = await order('/back')
    work(503)
    await answer
    expect([await askBack(), await refunds()]).toEqual(['pending', ['funded']])
    const refused = await again()
    expect([refused.status, refused.body]).toMatchObject([409, { code: 'payment_refunded' }])
  })
})
