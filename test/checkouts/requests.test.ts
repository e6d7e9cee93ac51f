import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { assertRequestRoom, requestStatus } from '../../service/checkouts/rules/requests.ts'
import type { PaymentRequest } from '../../service/checkouts/model.ts'
import type { CheckoutView, PaymentView, RequestView } from '../../service/checkouts/views.ts'
import { usdcOf } from '../facilitator/world.ts'
import type { TestPerson } from '../harness/service.ts'
import { openWorld, until, type Delivery, type World } from './world.ts'

describe('a further amount that a seller asks a buyer for', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ chain: true })
  })
  afterAll(() => world.close())
  beforeEach(async () => {
    await world.forget()
  })

  type SellerRequest = RequestView & { of: string; createdAt: string }

  interface Order {
    id: string
    /** Of the payment. */
    path: string
    token: string
  }

  /** A paid order, with the buyer's token. */
  async function ordered(terms: Record<string, unknown> = {}): Promise<Order> {
    const checkout = await world.sell(terms)
    const token = newToken()
    const simulated = terms['testMode'] === true
    const payer = simulated ? null : await world.chain.payer(5_000_000n)
    const how = payer === null ? { simulate: true } : { paymentPayload: await world.sign(payer, checkout.id) }
    const { body } = await world.call('POST', `/p/${checkout.id}/pay`, { body: { input: {}, token, ...how } })
    const path = `/p/${checkout.id}/payments/${String(body.payment.id)}`
    await until(async () => (await look(path, token)).payment.status === 'paid')
    return { id: String(body.payment.id), path, token }
  }

  /** A simulated order whose work may still be under way. */
  async function begun(terms: Record<string, unknown>): Promise<Order> {
    const checkout = await world.sell({ testMode: true, ...terms })
    const token = newToken()
    const { body } = await world.call('POST', `/p/${checkout.id}/pay`, { body: { input: {}, token, simulate: true } })
    return { id: String(body.payment.id), path: `/p/${checkout.id}/payments/${String(body.payment.id)}`, token }
  }

  const look = async (path: string, token: string | null) =>
    (await world.call('GET', path, token === null ? {} : { headers: { 'X-Payment-Token': token } }))
      .body as PaymentView & CheckoutView

  const postRequest = (order: Order, more: Record<string, unknown> = {}, by: TestPerson = world.seller, key?: string) =>
    by.call('POST', `/v1/payments/${order.id}/requests`, {
      body: { amount: 0.5, note: 'Two more pages', callbackUrl: `${world.workflow.url}?n=1`, ...more },
      ...(key === undefined ? {} : { headers: { 'Idempotency-Key': key } }),
    })

  /** Throws where it is refused. */
  async function createRequest(order: Order, more: Record<string, unknown> = {}): Promise<SellerRequest> {
    const { status, body, text } = await postRequest(order, more)
    if (status !== 201) throw new Error(`not asked: ${text}`)
    return body.request as SellerRequest
  }

  const requestOf = async (order: Order) => (await look(order.path, order.token)).requests[0] as SellerRequest

  const refuse = (order: Order, id: string, token: string | null = order.token) =>
    world.call(
      'POST',
      `${order.path}/requests/${id}/refuse`,
      token === null ? {} : { headers: { 'X-Payment-Token': token } },
    )

  const placeOf = ({ url }: { url: string }) => new URL(url).pathname

  /** The message about the end of a request. */
  const deliveryOf = (id: string): Promise<Delivery> =>
    until(() => world.workflow.deliveries.find(({ json }) => json.request?.id === id) ?? null)

  it('is shown to the buyer only, and is a payment of its own: signed, delivered once, refundable', async () => {
    const order = await ordered()
    const request = await createRequest(order, { expiresInSeconds: 600 })
    expect(Date.parse(request.expiresAt) - Date.parse(request.createdAt)).toBe(600_000)
    expect(request).toMatchObject({
      ...{ of: order.id, status: 'open', amount: 0.5, currency: 'USDC', note: 'Two more pages', paymentId: null },
    })
    expect((await look(order.path, order.token)).requests).toEqual([
      expect.objectContaining({ id: request.id, status: 'open', url: request.url }),
    ])
    for (const token of [null, newToken(), (await ordered({ testMode: true })).token]) {
      expect((await look(order.path, token)).requests).toEqual([])
    }

    const place = placeOf(request)
    const page = await look(place, null)
    expect(page.checkout).toMatchObject({ product: { name: 'SEO audit', description: 'Two more pages' }, price: 0.5 })
    const payer = await world.chain.payer(5_000_000n)
    const paymentPayload = await world.sign(payer, place.split('/').at(-1)!)
    const paid = await world.call('POST', `${place}/pay`, { body: { input: {}, paymentPayload } })
    const further = String(paid.body.payment.id)
    await until(async () => (await requestOf(order)).status === 'paid')
    expect(await requestOf(order)).toMatchObject({ paymentId: further })
    expect(await usdcOf(world.chain, payer.address)).toBe(4_500_000n)

    const delivery = await deliveryOf(request.id)
    expect(delivery.json).toEqual({
      request: {
        ...{ id: request.id, status: 'paid', amount: 0.5, currency: 'USDC', note: 'Two more pages' },
        ...{ paymentId: order.id, furtherPaymentId: further, endedAt: expect.any(String) },
      },
    })
    const { secret } = (await world.seller.call('GET', '/v1/signing-secret')).body.signingSecret as { secret: string }
    expect(() => new Webhook(secret).verify(delivery.body, delivery.headers as Record<string, string>)).not.toThrow()
    expect(world.workflow.deliveries.filter(({ json }) => json.request !== undefined)).toHaveLength(1)

    const own = (await world.seller.call('GET', `/v1/payments/${further}`)).body
    expect(own.payment).toMatchObject({ amount: 0.5 })
    const first = await look(order.path, order.token)
    expect(first.payment).toMatchObject({ amount: 1, refunded: 0, status: 'paid' })
    // What it was made for is sold.
    expect((await world.call('GET', place)).status).toBe(404)
  })

  it('is made once per key, and refused to other accounts and for refunded payments', async () => {
    const order = await ordered({ testMode: true })
    const key = randomBytes(8).toString('hex')
    const [one, two] = [
      await postRequest(order, {}, world.seller, key),
      await postRequest(order, {}, world.seller, key),
    ]
    expect(two.body.request).toEqual(one.body.request)
    expect((await world.seller.call('GET', `/v1/payments/${order.id}/requests`)).body.requests).toHaveLength(1)

    const stranger = await world.service.person()
    expect(await postRequest(order, {}, stranger)).toMatchObject({ status: 404, body: { code: 'payment_not_found' } })
    expect((await stranger.call('GET', `/v1/payments/${order.id}/requests`)).status).toBe(404)
    await world.service.database.statements.run(`UPDATE sale SET state = 'refunded' WHERE id = $1`, [order.id])
    expect(await postRequest(order)).toMatchObject({ status: 409, body: { code: 'payment_not_open' } })
  })

  it.each([
    { amount: 0 },
    { amount: 0.0000001 },
    { note: '' },
    { note: 'x'.repeat(201) },
    { expiresInSeconds: 59 },
    { expiresInSeconds: 604_801 },
    { callbackUrl: 'ftp://example.com' },
    { recipient: '0x00000000000000000000000000000000000000a2' },
  ])('is refused with %j', async (more) => {
    const order = await ordered({ testMode: true })
    expect((await postRequest(order, more)).status).toBe(400)
  })

  it('is not asked by a workflow that waits for it, while its last node is to answer the payer', async () => {
    const ask = (order: Order, query: string) =>
      world.seller.call('POST', `/v1/payments/${order.id}/requests${query}`, { body: { amount: 0.5, note: 'More' } })
    const letGo = world.workflow.holds()
    const answering = await begun({ responseMode: 'lastNode', capture: 'onSuccess' })
    await until(async () => world.workflow.deliveries.length === 1)
    expect(await ask(answering, '?waits=true')).toMatchObject({ status: 409, body: { code: 'answer_awaited' } })
    expect((await look(answering.path, answering.token)).requests).toEqual([])
    // One that does not wait for it answers in time.
    expect((await ask(answering, '')).status).toBe(201)
    const started = await begun({ responseMode: 'immediately' })
    expect((await ask(started, '?waits=true')).status).toBe(201)
    letGo()
    await until(async () => (await look(answering.path, answering.token)).delivery?.status === 'delivered')
    expect((await ask(answering, '?waits=true')).status).toBe(201)
  })

  it('is paid once by concurrent payers', async () => {
    const order = await ordered()
    const request = await createRequest(order)
    const place = placeOf(request)
    const payers = await Promise.all([1, 2, 3].map(() => world.chain.payer(5_000_000n)))
    const payloads = await Promise.all(payers.map((payer) => world.sign(payer, place.split('/').at(-1)!)))
    const answers = await Promise.all(
      payloads.map((paymentPayload) => world.call('POST', `${place}/pay`, { body: { input: {}, paymentPayload } })),
    )
    const refused = answers.filter(({ status }) => status !== 200 && status !== 202)
    expect(refused.map(({ body }) => String(body.code))).toEqual(['request_closed', 'request_closed'])
    await until(async () => (await requestOf(order)).status === 'paid')
    const left = await Promise.all(payers.map(({ address }) => usdcOf(world.chain, address)))
    expect(left.sort()).toEqual([4_500_000n, 5_000_000n, 5_000_000n])
  })

  it('is open again when its payment fails', async () => {
    const order = await ordered({ testMode: true })
    const request = await createRequest(order)
    const pay = (outcome: string) =>
      world.call('POST', `${placeOf(request)}/pay`, { body: { input: {}, simulate: true, outcome } })
    expect((await pay('declined')).body.payment.status).toBe('failed')
    expect(await requestOf(order)).toMatchObject({ status: 'open', paymentId: null })
    expect((await pay('paid')).body.payment.status).toBe('paid')
    expect(await requestOf(order)).toMatchObject({ status: 'paid' })
    expect((await deliveryOf(request.id)).json.request.status).toBe('paid')
  })

  it('can be refused by the buyer only, once, and not paid afterwards', async () => {
    const order = await ordered({ testMode: true })
    const other = await ordered({ testMode: true })
    const request = await createRequest(order)
    for (const token of [null, newToken(), other.token]) {
      expect(await refuse(order, request.id, token)).toMatchObject({ status: 404, body: { code: 'payment_not_found' } })
    }
    // A request of another order, with the own token of this buyer.
    expect(await refuse(other, request.id)).toMatchObject({ status: 404, body: { code: 'request_not_found' } })
    expect((await requestOf(order)).status).toBe('open')

    for (let time = 0; time < 2; time++) {
      expect(await refuse(order, request.id)).toMatchObject({ status: 200, body: { request: { status: 'refused' } } })
    }
    expect((await deliveryOf(request.id)).json.request).toMatchObject({ status: 'refused', furtherPaymentId: null })
    const late = await world.call('POST', `${placeOf(request)}/pay`, { body: { input: {}, simulate: true } })
    expect(late.status).toBe(404)
    expect(world.workflow.deliveries.filter(({ json }) => json.request !== undefined)).toHaveLength(1)
  })

  it.each([
    ['was given up', { capture: 'onSuccess', responseMode: 'immediately' }, 'outcome', { status: 'failed' }],
    ['was refunded', {}, 'refund', { reason: 'Out of stock' }],
  ])('ends with its order that %s: it cannot be paid any more', async (_, terms, end, body) => {
    const order = await begun(terms)
    const [request, paid] = [await createRequest(order), await createRequest(order, { note: 'Paid before' })]
    const pay = ({ url }: { url: string }) =>
      world.call('POST', `${placeOf({ url })}/pay`, { body: { input: {}, simulate: true } })
    expect((await pay(paid)).status).toBe(200)
    expect((await world.seller.call('POST', `/v1/payments/${order.id}/${end}`, { body })).status).toBeLessThan(300)
    const seen = (await look(order.path, order.token)).requests.map(({ status }) => status)
    expect(seen).toEqual(['expired', 'paid'])
    const { body: listed } = await world.seller.call('GET', `/v1/payments/${order.id}/requests`)
    expect((listed.requests as RequestView[]).map(({ status }) => status)).toEqual(seen)
    expect(await pay(request)).toMatchObject({ status: 409, body: { code: 'request_closed' } })
    expect(await postRequest(order)).toMatchObject({ status: 409, body: { code: 'payment_not_open' } })
  })

  it('expires: it can be neither paid nor refused, and its seller is notified once', async () => {
    const order = await ordered({ testMode: true })
    const request = await createRequest(order, { expiresInSeconds: 60 })
    world.service.clock.forward(60_001)
    expect((await requestOf(order)).status).toBe('expired')
    expect(await refuse(order, request.id)).toMatchObject({ status: 409, body: { code: 'request_closed' } })
    const late = await world.call('POST', `${placeOf(request)}/pay`, { body: { input: {}, simulate: true } })
    expect(late.status).toBe(404)
    for (let time = 0; time < 2; time++) {
      await world.service.checkouts.sweepers.requests(world.service.clock.now())
    }
    expect((await deliveryOf(request.id)).json.request).toMatchObject({ status: 'expired' })
    expect(world.workflow.deliveries.filter(({ json }) => json.request !== undefined)).toHaveLength(1)
  })

  describe('has a checkout of its own', () => {
    const idOf = (request: { url: string }) => String(placeOf(request).split('/').at(-1))
    const shown = async (request: { url: string }) => (await world.call('GET', placeOf(request))).status
    const remove = async (request: { url: string }, query = '') => {
      expect((await world.seller.call('DELETE', `/v1/checkouts/${idOf(request)}${query}`)).status).toBe(200)
    }
    const sweep = () => world.service.checkouts.sweepers.requests(world.service.clock.now())

    it('which is neither changed nor extended apart from it', async () => {
      const order = await ordered({ testMode: true })
      const request = await createRequest(order, { expiresInSeconds: 3_600 })
      const path = `/v1/checkouts/${idOf(request)}`
      for (const body of [
        { price: 50 },
        { after: { kind: 'link', url: 'https://example.com/' } },
        { embedOrigins: [] },
      ]) {
        const changed = await world.seller.call('PATCH', path, { body })
        expect(changed).toMatchObject({ status: 409, body: { code: 'checkout_of_request' } })
      }
      const extended = await world.seller.call('POST', `${path}/heartbeat`)
      expect(extended).toMatchObject({ status: 409, body: { code: 'checkout_of_request' } })
      const stranger = await world.service.person()
      expect((await stranger.call('POST', `${path}/heartbeat`)).status).toBe(404)
      expect((await stranger.call('DELETE', path)).status).toBe(404)
      world.service.clock.forward(600_000)
      expect(await look(placeOf(request), null)).toMatchObject({ checkout: { price: 0.5 } })
      expect((await requestOf(order)).status).toBe('open')
    })

    it('whose end is the end of the request, which its seller is notified of once', async () => {
      const order = await ordered({ testMode: true })
      const [now, soon] = [await createRequest(order), await createRequest(order, { note: 'Soon' })]
      await remove(now)
      await remove(soon, '?graceSeconds=60')
      expect([await shown(now), await shown(soon)]).toEqual([404, 200])
      const states = async () => (await look(order.path, order.token)).requests.map(({ status }) => status)
      expect(await states()).toEqual(['expired', 'open'])
      await sweep()
      expect((await deliveryOf(now.id)).json.request).toMatchObject({ status: 'expired', furtherPaymentId: null })
      world.service.clock.forward(60_001)
      expect(await states()).toEqual(['expired', 'expired'])
      for (let time = 0; time < 2; time++) await sweep()
      expect((await deliveryOf(soon.id)).json.request).toMatchObject({ status: 'expired' })
      expect(world.workflow.deliveries.filter(({ json }) => json.request !== undefined)).toHaveLength(2)
    })

    it('whose end leaves a payment that is under way as it is', async () => {
      const order = await ordered({ testMode: true })
      const request = await createRequest(order)
      const body = { input: {}, simulate: true, outcome: 'slow' }
      const payment = await world.call('POST', `${placeOf(request)}/pay`, { body })
      await remove(request)
      await sweep()
      expect(await requestOf(order)).toMatchObject({ status: 'paying', paymentId: payment.body.payment.id })
      for (let time = 0; time < 2; time++) {
        world.service.clock.forward(6_000)
        await world.service.sales.sales(world.service.clock.now())
      }
      expect((await requestOf(order)).status).toBe('paid')
      expect((await deliveryOf(request.id)).json.request).toMatchObject({ status: 'paid' })
    })
  })

  it('is limited to three open ones per payment, also for concurrent calls', async () => {
    const order = await ordered({ testMode: true })
    const answers = await Promise.all(Array.from({ length: 6 }, () => postRequest(order)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409, 409])
    expect((await postRequest(order)).body.code).toBe('too_many_requests_open')
    await refuse(order, (answers.find(({ status }) => status === 201)!.body.request as SellerRequest).id)
    expect((await postRequest(order)).status).toBe(201)
  })
})

describe('the number of requests of one payment', () => {
  it('is at most three open ones and twenty in all, after any sequence of steps', () => {
    const step = fc.constantFrom('ask', 'refuse', 'pay', 'fail', 'hour')
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        let now = new Date('2026-11-26T00:00:00Z')
        const all: PaymentRequest[] = []
        for (const one of steps) {
          const open = all.find((request) => requestStatus(request, now) === 'open')
          const paying = all.find((request) => requestStatus(request, now) === 'paying')
          if (one === 'ask') {
            const before = all.filter((request) => ['open', 'paying'].includes(requestStatus(request, now))).length
            const isFull = before === 3 || all.length === 20
            if (isFull) expect(() => assertRequestRoom(all, now)).toThrow()
            else {
              assertRequestRoom(all, now)
              all.push(requestAt(now))
            }
          } else if (one === 'refuse' && open !== undefined) Object.assign(open, { endedAs: 'refused', endedAt: now })
          else if (one === 'pay' && open !== undefined) open.saleId = 'pay_1'
          else if (one === 'fail' && paying !== undefined) paying.saleId = null
          else if (one === 'hour') now = new Date(now.getTime() + 3_600_000)
        }
      }),
    )
  })
})

function requestAt(now: Date): PaymentRequest {
  return {
    id: 'prq_1',
    paymentId: 'pay_1',
    checkoutId: 'chk_1',
    owner: { userId: 'usr_1', environment: 'sandbox' },
    amount: 1n as PaymentRequest['amount'],
    note: 'More',
    callbackUrl: null,
    saleId: null,
    endedAs: null,
    expiresAt: new Date(now.getTime() + 7_200_000),
    createdAt: now,
    endedAt: null,
  }
}

function newToken(): string {
  return `tok_${randomBytes(32).toString('base64url')}`
}
