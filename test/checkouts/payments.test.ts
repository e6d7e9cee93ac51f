import { Webhook } from 'standardwebhooks'
import { usdcOf } from '../facilitator/world.ts'
import { openWorld, until, type World } from './world.ts'

describe('a payment', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ chain: true })
  })
  afterAll(() => world.close())
  beforeEach(async () => {
    await world.forget()
    world.workflow.answers({})
  })

  it('simulated in test mode is delivered as the specification shows it, signed, and marked', async () => {
    const { id, secret } = await world.sell({ testMode: true, fields: [{ name: 'site', type: 'url', required: true }] })
    const paid = await world.call('POST', `/p/${id}/pay`, {
      body: { input: { site: 'https://example.com' }, simulate: true },
    })
    expect(paid.status).toBe(200)
    expect(paid.body.payment).toMatchObject({ status: 'paid', testMode: true, payer: `0x${'0'.repeat(40)}` })
    const [delivery] = await until(() => world.workflow.deliveries.length > 0 && world.workflow.deliveries)
    expect(delivery!.headers['coinslot-test']).toBe('true')
    const event = new Webhook(secret).verify(delivery!.body, delivery!.headers as Record<string, string>)
    const pay: string = paid.body.payment.id
    expect(event).toEqual({
      payment: {
        txHash: `simulated:${pay}`,
        amount: 1,
        currency: 'USDC',
        payer: `0x${'0'.repeat(40)}`,
        network: 'base-sepolia',
        timestamp: expect.any(Number),
      },
      input: { site: 'https://example.com' },
      metadata: {
        checkoutId: id,
        receivedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        paymentId: pay,
        test: true,
        receiptUrl: paid.body.payment.receiptUrl,
      },
    })
    expect(delivery!.headers['webhook-id']).toBe(pay.replace('pay_', 'dlv_'))
  })

  it.each([1, 2] as const)(
    'by an authorization of version %i moves the money once and starts the workflow',
    async (version) => {
      const { id, secret } = await world.sell()
      const payer = await world.chain.payer(5_000_000n)
      const before = await usdcOf(world.chain, world.recipient)
      const paymentPayload = await world.sign(payer, id, version)
      const pay = (token?: string) => world.call('POST', `/p/${id}/pay`, { body: { input: {}, paymentPayload, token } })
      const paid = await pay()
      expect(paid.body.payment).toMatchObject({ status: 'paid', amount: 1, payer: payer.address, testMode: false })
      expect(paid.status).toBe(200)
      expect(await usdcOf(world.chain, world.recipient)).toBe(before + 1_000_000n)
      const [webhook] = await until(() => world.workflow.deliveries.length > 0 && world.workflow.deliveries)
      expect(webhook!.headers['coinslot-test']).toBeUndefined()
      new Webhook(secret).verify(webhook!.body, webhook!.headers as Record<string, string>)
      expect(webhook!.json.payment.txHash).toBe(paid.body.payment.txHash)

      const again = await pay(String(paid.body.payment.token))
      expect(again.body.payment.id).toBe(paid.body.payment.id)
      expect(await usdcOf(world.chain, world.recipient)).toBe(before + 1_000_000n)
      const { pathname, search } = new URL(String(again.body.payment.statusUrl))
      const { delivery } = await until(async () => {
        const { body } = await world.call('GET', pathname + search)
        return body.delivery?.status === 'delivered' && (body as { delivery: unknown })
      })
      // Who pays with money is shown nothing of the seller's server.
      expect(delivery).toMatchObject({ history: null, lastError: null })
      expect(world.workflow.deliveries).toHaveLength(1)
    },
  )
})
