import { randomBytes } from 'node:crypto'
import { request, usdcOf } from '../facilitator/world.ts'
import { openWorld, signed, until, type World } from './world.ts'

describe('one authorization buys one thing', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ chain: true, environment: { RATE_SETTLE_PER_MINUTE: '0' } })
  })
  afterAll(() => world.close())

  const pay = (id: string, paymentPayload: unknown, input: object = {}, token?: string) =>
    world.call('POST', `/p/${id}/pay`, { body: { input, paymentPayload, token } })
  const chosen = () => `tok_${randomBytes(32).toString('base64url')}`
  const paidTo = () => usdcOf(world.chain, world.recipient)
  const FIELDS = [{ name: 'note', type: 'text' }]

  it('posted thirty times at once, it makes one payment, one transfer and one delivery', async () => {
    const { id } = await world.sell()
    const payer = await world.chain.payer(50_000_000n)
    const before = await paidTo()
    const paymentPayload = await world.sign(payer, id)
    const token = chosen()
    const answers = await Promise.all(Array.from({ length: 30 }, () => pay(id, paymentPayload, {}, token)))
    expect(new Set(answers.map(({ body }) => body.payment.id as string)).size).toBe(1)
    expect(new Set(answers.map(({ body }) => body.payment.status as string))).toEqual(new Set(['paid']))
    expect(await paidTo()).toBe(before + 1_000_000n)
    const deliveries = await until(() => world.workflow.deliveries.length > 0 && world.workflow.deliveries)
    expect(deliveries).toHaveLength(1)
  })

  it('raced for by two inputs and two checkouts, one gets it and the others answer 409', async () => {
    const [one, other] = await Promise.all([world.sell({ fields: FIELDS }), world.sell({ fields: FIELDS })])
    const before = await paidTo()
    const paymentPayload = await world.sign(await world.chain.payer(50_000_000n), one.id)
    const answers = await Promise.all([
      pay(one.id, paymentPayload, { note: 'a' }),
      pay(one.id, paymentPayload, { note: 'b' }),
      pay(other.id, paymentPayload, { note: 'a' }),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    for (const { status, body } of answers)
      if (status === 409) expect(body.code).toMatch(/^(authorization_used|payment_submitted)$/)
    expect(await paidTo()).toBe(before + 1_000_000n)
    // The authorization stays used after the payment has ended, at either checkout.
    const won = answers.findIndex(({ status }) => status === 200)
    expect((await pay(won === 2 ? one.id : other.id, paymentPayload, { note: 'c' })).status).toBe(409)
  })

  it('settled through the public facilitator, it buys nothing here', async () => {
    const { id } = await world.sell()
    const payer = await world.chain.payer(50_000_000n)
    const authorization = await payer.authorize(world.chain.network, world.recipient)
    const body = request(world.chain, 2, authorization)
    const settled = await world.call('POST', '/facilitator/settle', { body })
    expect(settled.body).toMatchObject({ success: true })
    expect(await pay(id, body.paymentPayload)).toMatchObject({ status: 409, body: { code: 'authorization_used' } })
    expect((await world.seller.call('GET', `/v1/checkouts/${id}/payments`)).body.total).toBe(0)
  })

  it('used here, its success goes to no other caller of the public facilitator', async () => {
    const { id } = await world.sell()
    const payer = await world.chain.payer(50_000_000n)
    const paymentPayload = await world.sign(payer, id)
    const { body } = await world.call('GET', `/p/${id}`)
    const stranger = { x402Version: 2, paymentPayload, paymentRequirements: body.paymentRequirements.v2 }
    const [paid, ...others] = await Promise.all([
      pay(id, paymentPayload),
      ...Array.from({ length: 5 }, async (_, turn) => {
        // Starts once the payment is visible.
        await until(async () => (await world.seller.call('GET', `/v1/checkouts/${id}/payments`)).body.total === 1)
        return await world.call('POST', '/facilitator/settle', { body: stranger, headers: { 'x-turn': String(turn) } })
      }),
    ])
    expect(paid.body.payment.status).toBe('paid')
    for (const other of others) expect(other.body.success).toBe(false)
  })

  it('is found again where the checkout has changed or ended since', async () => {
    const source = { instanceId: 'n8n', workflowId: 'changing', nodeId: 'trigger' }
    const { id } = await world.sell({ source })
    const paymentPayload = await world.sign(await world.chain.payer(50_000_000n), id)
    const first = await pay(id, paymentPayload)
    const token = String(first.body.payment.token)
    await world.sell({ source, price: 9, fields: [{ name: 'now', type: 'text', required: true }] })
    expect((await pay(id, paymentPayload, {}, token)).body.payment.id).toBe(first.body.payment.id)
    await world.seller.call('DELETE', `/v1/checkouts/${id}`)
    const again = await pay(id, paymentPayload, {}, token)
    expect(again).toMatchObject({ status: 200, body: { payment: { id: first.body.payment.id, status: 'paid' } } })
  })

  it('charges the payer once under any Idempotency-Keys', async () => {
    const { id } = await world.sell()
    const payer = await world.chain.payer(50_000_000n)
    const before = await paidTo()
    const body = { input: {}, paymentPayload: await world.sign(payer, id), token: chosen() }
    const keyed = (key: string) => world.call('POST', `/p/${id}/pay`, { body, headers: { 'Idempotency-Key': key } })
    const answers = [await keyed('one'), await keyed('one'), await keyed('two')]
    expect(new Set(answers.map(({ body: { payment } }) => payment.id as string)).size).toBe(1)
    // The seller's rule decides each time; no response to a payment is stored under a key that could be guessed.
    const bare = { ...body, token: undefined }
    const guessed = await world.call('POST', `/p/${id}/pay`, { body: bare, headers: { 'Idempotency-Key': 'three' } })
    expect([guessed.status, guessed.body.code]).toEqual([409, 'payment_submitted'])
    expect(await paidTo()).toBe(before + 1_000_000n)
  })

  it('is accepted at the quoted price for ten minutes, even when the price has changed', async () => {
    const source = { instanceId: 'n8n', workflowId: 'quoted', nodeId: 'trigger' }
    const { id } = await world.sell({ source })
    const payer = await world.chain.payer(50_000_000n)
    const { body: view } = await world.call('GET', `/p/${id}`)
    const paymentPayload = await signed(payer, world.chain, view.paymentRequirements as Parameters<typeof signed>[2])
    const { quoteId } = view.quote as { quoteId: string }
    await world.sell({ source, price: 2 })
    const quoted = (body: object) =>
      world.call('POST', `/p/${id}/pay`, { body: { input: {}, paymentPayload, ...body } })

    const today = await quoted({})
    expect(today).toMatchObject({
      status: 402,
      body: { code: 'payment_refused', reason: 'invalid_exact_evm_payload_authorization_value_mismatch' },
    })
    const other = await world.sell()
    const elsewhere = await world.call('POST', `/p/${other.id}/pay`, { body: { input: {}, paymentPayload, quoteId } })
    expect(elsewhere).toMatchObject({ status: 400, body: { details: { quoteId: expect.any(String) } } })
    const forged = `${Buffer.from('1|base-sepolia||99999999999999').toString('base64url')}.${quoteId.split('.')[1]!}`
    expect((await quoted({ quoteId: forged })).status).toBe(400)
    expect(await quoted({ quoteId })).toMatchObject({ status: 200, body: { payment: { status: 'paid', amount: 1 } } })

    const late = { input: {}, paymentPayload: await world.sign(payer, id), quoteId }
    world.service.clock.forward(600_001)
    expect(await world.call('POST', `/p/${id}/pay`, { body: late })).toMatchObject({
      status: 410,
      body: { code: 'quote_expired' },
    })
  })
})
