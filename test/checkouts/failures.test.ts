import { expectLikeItsTest } from '../deliveries/samples.ts'
import { openWorld, until, type World } from './world.ts'

type Event = Parameters<typeof expectLikeItsTest>[0]

/** Sellers are notified of failed payments, also of payments that were refused before they began. */
describe('payment.failed of a checkout', () => {
  let world: World
  let endpoint: string

  beforeAll(async () => {
    world = await openWorld({ chain: true })
    const { body } = await world.seller.call('POST', '/v1/webhook-endpoints', {
      body: { url: world.workflow.url, events: ['payment.failed'] },
    })
    endpoint = body.webhookEndpoint.id as string
  })
  afterAll(() => world.close())
  beforeEach(async () => {
    await world.forget()
  })

  const sent = async (): Promise<number> =>
    (await world.seller.call('GET', `/v1/deliveries?target=${endpoint}`)).body.total as number
  const pay = (id: string, paymentPayload: unknown) =>
    world.call('POST', `/p/${id}/pay`, { body: { input: {}, paymentPayload } })

  it('is sent once for a refused authorization, with its signer and the reason', async () => {
    const { id } = await world.sell()
    const payer = await world.chain.payer(5n)
    const payload = await world.sign(payer, id)
    const before = await sent()
    expect((await pay(id, payload)).status).toBe(402)
    expect((await pay(id, payload)).status).toBe(402)
    const [delivery] = await until(() => world.workflow.deliveries.length > 0 && world.workflow.deliveries)
    expect(delivery!.json).toEqual({
      event: 'payment.failed',
      data: {
        id: null,
        checkoutId: id,
        paywallId: null,
        customerId: payer.address.toLowerCase(),
        amount: 1,
        currency: 'USDC',
        endpoint: expect.stringContaining(`/p/${id}`),
        route: null,
        network: 'base-sepolia',
        txHash: null,
        at: expect.any(String),
        reason: 'invalid_exact_evm_insufficient_balance',
      },
    })
    expectLikeItsTest(delivery!.json as Event)
    expect(delivery!.headers['coinslot-test']).toBeUndefined()
    expect(await sent()).toBe(before + 1)
  })

  it("names no customer where the signature is not the payer's", async () => {
    const { id } = await world.sell()
    const payload = (await world.sign(await world.chain.payer(5_000_000n), id)) as {
      payload: { authorization: Record<string, string> }
    }
    payload.payload.authorization['from'] = `0x${'5'.repeat(40)}`
    expect((await pay(id, payload)).status).toBe(402)
    const [delivery] = await until(() => world.workflow.deliveries.length > 0 && world.workflow.deliveries)
    expect(delivery!.json.data).toMatchObject({ customerId: null, reason: 'invalid_exact_evm_signature' })
  })

  it('is not sent for an authorization to another recipient', async () => {
    const [one, other] = [await world.sell(), await world.sell({ recipient: `0x${'b'.repeat(40)}` })]
    const payload = await world.sign(await world.chain.payer(5_000_000n), other.id)
    const before = await sent()
    expect((await pay(one.id, payload)).status).toBe(402)
    expect(await sent()).toBe(before)
  })

  it('is marked in test mode, where the page simulates a refusal', async () => {
    const { id } = await world.sell({ testMode: true })
    const body = { input: {}, simulate: true, outcome: 'insufficient_funds' }
    const fail = async () =>
      (await world.call('POST', `/p/${id}/pay`, { body })).body.payment as { id: string; reason: { code: string } }
    const payment = await fail()
    const delivery = await until(
      () => world.workflow.deliveries.find(({ json }) => json.data.id === payment.id) ?? null,
    )
    expect(delivery.headers['coinslot-test']).toBe('true')
    expect(delivery.json.data).toMatchObject({ checkoutId: id, test: true, reason: payment.reason.code })

    expectLikeItsTest(delivery.json as Event)

    // A visitor with the link may simulate any number of payments; the seller gets at most thirty events an hour.
    const before = await sent()
    for (let count = 1; count < 33; count++) await fail()
    expect(await sent()).toBe(before + 29)
  })
})
