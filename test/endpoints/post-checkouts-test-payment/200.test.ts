import { openWorld, until, type World } from '../../checkouts/world.ts'

describe('POST /v1/checkouts/{id}/test-payment: 200', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld()
  })
  afterAll(() => world.close())

  const FIELDS = [
    { name: 'site', type: 'url', required: true },
    { name: 'size', type: 'select', options: ['small', 'large'], required: true },
    { name: 'count', type: 'number', min: 3, required: true },
    { name: 'sure', type: 'boolean', required: true },
    { name: 'mail', type: 'email', required: true },
    { name: 'data', type: 'json', required: true },
    { name: 'words', type: 'textarea', min: 12, required: true },
    { name: 'paper', type: 'file', required: true },
  ]

  it('delivers the sent input and lists the payment', async () => {
    const { id } = await world.sell({ testMode: true, fields: [{ name: 'site', type: 'url', required: true }] })
    const input = { site: 'https://example.com/' }
    const paid = await world.seller.call('POST', `/v1/checkouts/${id}/test-payment`, { body: { input } })
    expect(paid.status).toBe(200)
    expect(paid.body.payment).toMatchObject({
      status: 'paid',
      testMode: true,
      txHash: `simulated:${String(paid.body.payment.id)}`,
    })
    const delivery = await until(
      () => world.workflow.deliveries.find(({ json }) => json.metadata.checkoutId === id) ?? null,
    )
    expect(delivery.json.input).toEqual(input)
    const listed = await world.seller.call('GET', `/v1/checkouts/${id}/payments`)
    expect(listed.body).toMatchObject({
      total: 1,
      limit: 20,
      offset: 0,
      payments: [{ id: paid.body.payment.id, status: 'paid', input, delivery: { id: expect.stringMatching(/^dlv_/) } }],
    })
  })

  it('without one, with values that fit every type of field', async () => {
    const { id } = await world.sell({ testMode: true, fields: FIELDS })
    const paid = await world.seller.call('POST', `/v1/checkouts/${id}/test-payment`)
    expect(paid.status).toBe(200)
    const delivery = await until(
      () => world.workflow.deliveries.find(({ json }) => json.metadata.checkoutId === id) ?? null,
    )
    expect(Object.keys(delivery.json.input as object)).toEqual(FIELDS.map(({ name }) => name))
  })

  it('once for each Idempotency-Key', async () => {
    const { id } = await world.sell({ testMode: true })
    const test = () =>
      world.seller.call('POST', `/v1/checkouts/${id}/test-payment`, { headers: { 'Idempotency-Key': 'once' } })
    const answers = await Promise.all([test(), test(), test()])
    expect(new Set(answers.map(({ body }) => body.payment.id as string)).size).toBe(1)
    expect((await world.seller.call('GET', `/v1/checkouts/${id}/payments`)).body.total).toBe(1)
  })

  it('400 where the checkout is not in test mode', async () => {
    const { id } = await world.sell()
    const answer = await world.seller.call('POST', `/v1/checkouts/${id}/test-payment`)
    expect(answer).toMatchObject({ status: 400, body: { code: 'not_test_mode' } })
    expect((await world.seller.call('GET', `/v1/checkouts/${id}/payments`)).body.total).toBe(0)
  })
})
