import { createHmac } from 'node:crypto'
import type { IHttpRequestOptions, IWebhookResponseData } from 'n8n-workflow'
import { PAY_TO_RUN } from '../../nodes/PayToRunTrigger/checkout.ts'
import { receive as receiveIn } from '../../nodes/PayToRunTrigger/delivery.ts'
import { deliveryOf } from '../../service/checkouts/rules/lifecycle.ts'
import { linesOfTotal } from '../../service/checkouts/rules/price.ts'
import { usdc } from '../../service/kit/money.ts'
import { SECRET, webhook, type Played, type Request, type ServiceAnswer, type Webhook } from './n8n.ts'

const PAID = {
  payment: {
    txHash: '0xabc',
    amount: 5,
    currency: 'USDC',
    payer: '0x71C7656EC7ab88b098defB751B7401B5f6d8976F',
    network: 'base',
    timestamp: 1_800_000_000,
  },
  input: { website: 'https://example.com', Ünï: null },
  metadata: { checkoutId: 'chk_1', receivedAt: '2027-01-15T08:00:00.000Z' },
}

describe('an empty body', () => {
  it.each([undefined, '', '{}', ' {\n} '])("%j is answered with the form's address, and runs nothing", async (body) => {
    for (const testMode of [true, false]) {
      const { result, calls } = await receive({ ...(body !== undefined && { body }) }, { parameters: { testMode } })
      expect(result.workflowData).toBeUndefined()
      expect(result.webhookResponse).toEqual({
        message: expect.any(String),
        form_url: 'https://pay.example/p/chk_1',
        test_mode: testMode,
      })
      // Whether it could claim the delivery (readiness.test.ts).
      expect(calls.filter(({ method }) => method !== 'GET')).toEqual([])
    }
  })
})

describe('a browser', () => {
  it('is shown a page with the link, safely', async () => {
    const parameters = { productName: '<script>alert(1)</script> "Audit"' }
    const { result, response } = await receive({ name: 'setup' }, { parameters })
    expect(result).toEqual({ noWebhookResponse: true })
    expect(response.status).toBe(200)
    expect(response.headers['content-type']).toMatch('text/html')
    expect(response.headers['content-security-policy']).toMatch("default-src 'none'")
    expect(response.body).toContain('href="https://pay.example/p/chk_1"')
    expect(response.body).toContain('Test mode')
    expect(response.body).not.toContain('<script>')
    const live = await receive({ name: 'setup' }, { parameters: { testMode: false } })
    expect(live.response.body).not.toContain('Test mode')
    expect(live.response.body).toContain('Send your customers this link')
    // What models and programs buy it by.
    expect(live.response.body).toContain('<code>https://pay.example/p/chk_1/mcp</code>')
    expect(live.response.body).toContain("<code>curl -H 'Accept: application/json' https://pay.example/p/chk_1</code>")
  })

  it('is redirected to the form while the author listens', async () => {
    const { result, response } = await receive({ name: 'setup' }, { mode: 'manual' })
    expect(result).toEqual({ noWebhookResponse: true })
    expect(response.status).toBe(302)
    expect(response.headers).toMatchObject({ location: 'https://pay.example/p/chk_1', 'cache-control': 'no-store' })
  })
})

describe.each([true, false])('a delivery of the service, with test mode %s', (testMode) => {
  const played: Played = { parameters: { testMode } }

  it('runs the workflow with exactly the delivered data', async () => {
    const { result, calls } = await receive(delivered(), { ...played, service: claimed(true) })
    expect(result.workflowData).toEqual([[{ json: PAID }]])
    expect(result.webhookResponse).toEqual({ received: true })
    expect(calls.map(({ method, url }) => [method, url])).toEqual([
      ['POST', 'http://localhost:4020/v1/deliveries/dlv_1/claim'],
    ])
    expect(calls[0]?.timeout).toBeLessThanOrEqual(7_000)
  })

  it('runs it at the output of the product that was chosen', async () => {
    const values = [
      { value: 'Short', price: 2 },
      { value: 'Long', price: 5 },
    ]
    const customerFields = { fields: [{ label: 'Size', type: 'select', choices: { values } }] }
    const parameters = { ...played.parameters, pricing: 'byField', outputPerChoice: true, customerFields }
    const bought = { ...PAID, input: { size: 'Long' } }
    const { result } = await receive(delivered(JSON.stringify(bought)), { parameters, service: claimed(true) })
    expect(result.workflowData).toEqual([[], [{ json: bought }]])
  })

  it('accepts new fields in the metadata of a newer service, and refuses any other addition', async () => {
    const more = { ...PAID, metadata: { ...PAID.metadata, unheardOf: true } }
    const { result } = await receive(delivered(JSON.stringify(more)), { ...played, service: claimed(true) })
    expect(result.workflowData).toEqual([[{ json: more }]])
    const { response } = await receive(delivered(JSON.stringify({ ...PAID, more: 1 })), played)
    expect(response).toMatchObject({ status: 400, body: { details: { more: expect.any(String) } } })
  })

  it('that was already claimed is a duplicate and runs nothing', async () => {
    const { result } = await receive(delivered(), { ...played, service: claimed(false) })
    expect(result).toEqual({ webhookResponse: { duplicate: true } })
  })

  it.each<[string, ServiceAnswer]>([
    ['does not answer', new Error('connect ECONNREFUSED')],
    ['is broken', { status: 500, body: { error: 'x', code: 'internal' } }],
    ['refuses the key', { status: 401, body: { error: 'x', code: 'unauthenticated' } }],
    ['does not know the delivery', { status: 404, body: { error: 'x', code: 'delivery_not_found' } }],
    ['answers something else', { status: 200, body: { claimed: 'yes' } }],
    ['answers a page', { status: 200, body: '<html>' }],
  ])('is left for a retry, and runs nothing, while the service %s', async (_, answer) => {
    const { result, response } = await receive(delivered(), { ...played, service: () => answer })
    expect(result).toEqual({ noWebhookResponse: true })
    expect(response.status).toBe(503)
    expect(response.body).toMatchObject({ code: 'claim_unavailable' })
  })

  it('retries the claim under the same key when its answer was lost', async () => {
    const answers: ServiceAnswer[] = [new Error('socket hang up'), { status: 200, body: { claimed: true } }]
    const { result, calls } = await receive(delivered(), { ...played, service: () => answers.shift()! })
    expect(result.workflowData).toEqual([[{ json: PAID }]])
    const keys = calls.map(({ headers }) => headers?.['idempotency-key'])
    expect(keys).toEqual([expect.any(String), keys[0]])
  })

  it('uses another key for another request, since a retry of the service is not this one', async () => {
    const one = await receive(delivered(), { ...played, service: claimed(true) })
    const two = await receive(delivered(), { ...played, service: claimed(true) })
    expect(one.calls[0]?.headers?.['idempotency-key']).not.toBe(two.calls[0]?.headers?.['idempotency-key'])
  })

  it('is verified by its raw bytes, not by the parsed JSON', async () => {
    const body = `{ "payment":${JSON.stringify(PAID.payment)}, "input":{"a":"\\u00e9","a":1}, "metadata":${JSON.stringify(PAID.metadata)}}\n`
    const { result } = await receive(delivered(body), { ...played, service: claimed(true) })
    expect(result.workflowData).toEqual([[{ json: { ...PAID, input: { a: 1 } } }]])
  })
})

describe('in production', () => {
  const played: Played = { parameters: { testMode: false }, service: () => new Error('must not be asked') }

  it.each([
    [
      'unsigned',
      { body: JSON.stringify(PAID) },
      /not signed: webhook-id, webhook-timestamp, webhook-signature missing/,
    ],
    [
      'signed by another secret',
      delivered(undefined, { secret: 'whsec_b3RoZXJvdGhlcm90aGVyb3RoZXI=' }),
      /does not match/,
    ],
    ['changed on its way', { ...delivered(), body: JSON.stringify({ ...PAID, input: {} }) }, /does not match/],
    // Well beyond the bound, which signature.test.ts holds to the second: here the clock goes on.
    ['old', delivered(undefined, { ageSeconds: 400 }), /more than five minutes old/],
    ['ahead of its time', delivered(undefined, { ageSeconds: -400 }), /more than five minutes ahead/],
    ['empty but signed wrongly', { body: '', headers: { 'webhook-signature': 'v1,AAAA' } }, /not signed/],
  ])('a body that is %s is refused with the reason and runs nothing', async (_, request, reason) => {
    // Asked for a newer secret a moment ago: see below.
    const memory = { ...KEPT, askedAt: Date.now() }
    const { result, response, calls } = await receive(request, { ...played, memory })
    expect(result).toEqual({ noWebhookResponse: true })
    expect(response.status).toBe(401)
    expect(response.body).toEqual({ error: expect.stringMatching(reason), code: 'signature_refused' })
    expect(calls).toEqual([])
  })

  it('a genuine delivery of a payment that was only simulated is refused for good', async () => {
    const body = JSON.stringify({ ...PAID, payment: { ...PAID.payment, txHash: 'simulated:pay_1' } })
    const { result, response } = await receive(delivered(body), played)
    expect(result).toEqual({ noWebhookResponse: true })
    expect(response.status).toBe(410)
  })
})

describe('in test mode', () => {
  it('accepts the unsigned shape of a plain sale, as nodes of earlier releases do', async () => {
    const { body } = sold(1)
    const { result } = await receive({ body })
    expect(result.workflowData).toEqual([[{ json: JSON.parse(body) as unknown }]])
    expect(body).not.toContain('"lines"')
  })

  it('an unsigned body in the shape of a payment simulates one', async () => {
    const { result, calls } = await receive({ body: JSON.stringify(PAID) })
    expect(result.workflowData).toEqual([[{ json: PAID }]])
    expect(calls).toEqual([])
  })

  it.each<[string, unknown]>([
    ['payment', without('payment')],
    ['payment', { ...PAID, payment: [] }],
    ['payment.txHash', { ...PAID, payment: { ...PAID.payment, txHash: 1 } }],
    ['payment.txHash', { ...PAID, payment: { ...PAID.payment, txHash: '' } }],
    ['payment.amount', { ...PAID, payment: { ...PAID.payment, amount: '5' } }],
    ['payment.amount', { ...PAID, payment: { ...PAID.payment, amount: -1 } }],
    ['payment.timestamp', { ...PAID, payment: { ...PAID.payment, timestamp: '2026-01-01' } }],
    ['payment.timestamp', { ...PAID, payment: { ...PAID.payment, timestamp: 1.5 } }],
    ['payment.memo', { ...PAID, payment: { ...PAID.payment, memo: 'x' } }],
    ['input', { ...PAID, input: 'x' }],
    ['input', { ...PAID, input: null }],
    ['input', { ...without('input'), inputs: {} }],
    ['metadata', without('metadata')],
    ['metadata.checkoutId', { ...PAID, metadata: { receivedAt: PAID.metadata.receivedAt } }],
    ['metadata.receivedAt', { ...PAID, metadata: { ...PAID.metadata, receivedAt: 'yesterday' } }],
    ['metadata.receivedAt', { ...PAID, metadata: { ...PAID.metadata, receivedAt: '2026-13-01T00:00:00Z' } }],
    ['metadata.extra', { ...PAID, metadata: { ...PAID.metadata, extra: 1 } }],
    ['extra', { ...PAID, extra: 1 }],
    ['body', [PAID]],
    ['body', 'payment'],
    ['body', null],
  ])('a body of another shape is refused by the name of its first wrong field: %s', async (field, body) => {
    const { result, response } = await receive({ body: JSON.stringify(body) })
    expect(result).toEqual({ noWebhookResponse: true })
    expect(response.status).toBe(400)
    expect(response.body).toMatchObject({ code: 'invalid_input', details: { [field]: expect.any(String) } })
    expect((response.body as { error: string }).error).toMatch(`${field} `)
  })

  it.each(['payment=1', '{"payment":', '"', Buffer.from([0x22, 0xff, 0x22])])(
    'a body that is no JSON is refused',
    async (body) => {
      const { response } = await receive({ body })
      expect(response.status).toBe(400)
      expect(response.body).toMatchObject({ details: { body: 'must be JSON' } })
    },
  )

  it.each([{ plan: 'ten-reports' }, { free: 'trial' }, {}])(
    'an item of the service simulates a payment again: one of three pieces with %j',
    async (more) => {
      const { metadata, ...rest } = JSON.parse(sold(3).body) as typeof PAID
      const again = { ...rest, metadata: { ...metadata, ...more } }
      const { result } = await receive({ body: JSON.stringify(again) })
      expect(result.workflowData).toEqual([[{ json: again }]])
    },
  )

  it('a prototype is nothing but a name', async () => {
    const body = JSON.stringify(PAID).replace('"input":{', '"input":{"__proto__":{"admin":true},')
    const { result } = await receive({ body })
    const input = result.workflowData?.[0]?.[0]?.json['input'] as { admin?: boolean }
    expect(input.admin).toBeUndefined()
  })
})

describe('a secret that was rotated', () => {
  const LIVE: Played = { parameters: { testMode: false } }
  const renewed = 'whsec_bmV3bmV3bmV3bmV3bmV3bmV3bmV3bmV3'
  const serviceWith =
    (id = 'chk_1', status = 'active') =>
    (call: IHttpRequestOptions): ServiceAnswer => {
      if (call.url.endsWith('/claim')) return { status: 200, body: { claimed: true } }
      return { status: 200, body: { checkout: { id, url: 'https://x', status }, secret: renewed } }
    }
  /** An earlier service gives the secret only where a checkout is registered. */
  const earlierService =
    (status: string) =>
    (call: IHttpRequestOptions): ServiceAnswer => {
      const answer = serviceWith('chk_1', status)(call)
      return call.method === 'GET'
        ? { status: 200, body: { checkout: { id: 'chk_1', url: 'https://x', status } } }
        : answer
    }

  it('is genuine by either signature while both are sent', async () => {
    const { headers = {}, body } = delivered()
    const other = delivered(undefined, { secret: renewed }).headers?.['webhook-signature']
    const both = { ...headers, 'webhook-signature': `${String(other)} ${String(headers['webhook-signature'])}` }
    const { result, calls } = await receive({ body, headers: both }, { service: claimed(true) })
    expect(result.workflowData).toBeDefined()
    expect(calls).toHaveLength(1)
  })

  it('is fetched when only the new one signs, and stored', async () => {
    const request = delivered(undefined, { secret: renewed })
    const { result, memory } = await receive(request, { parameters: { testMode: false }, service: serviceWith() })
    expect(result.workflowData).toEqual([[{ json: PAID }]])
    expect(memory).toMatchObject({ secret: renewed, checkoutId: 'chk_1' })
    const again = await receive(request, { parameters: { testMode: false }, memory, service: claimed(true) })
    expect(again.result.workflowData).toBeDefined()
    expect(again.calls).toHaveLength(1)
  })

  it('is fetched at most once a minute, also for forged requests', async () => {
    const forged = delivered(undefined, { secret: 'whsec_Zm9yZ2VkZm9yZ2VkZm9yZ2VkZm9yZ2Vk' })
    const first = await receive(forged, { parameters: { testMode: false }, service: serviceWith() })
    expect(first.response.status).toBe(401)
    expect(first.calls).toHaveLength(1)
    const second = await receive(forged, {
      parameters: { testMode: false },
      memory: first.memory,
      service: serviceWith(),
    })
    expect(second.response.status).toBe(401)
    expect(second.calls).toEqual([])
  })

  it.each(['active', 'paused', 'expired'])('is read without a change to the checkout, which is %s', async (status) => {
    const request = delivered(undefined, { secret: renewed })
    const { result, calls } = await receive(request, { ...LIVE, service: serviceWith('chk_1', status) })
    expect(result.workflowData).toEqual([[{ json: PAID }]])
    expect(calls.map(({ method, url, qs }) => [method, url.replace(/^.+v1/, ''), qs])).toEqual([
      ['GET', '/checkouts/chk_1', { secret: true }],
      ['POST', '/deliveries/dlv_1/claim', undefined],
    ])
  })

  it('is fetched from an earlier service too, which shows it only where a checkout is registered', async () => {
    const request = delivered(undefined, { secret: renewed })
    const { result, memory } = await receive(request, { ...LIVE, service: earlierService('active') })
    expect(result.workflowData).toEqual([[{ json: PAID }]])
    expect(memory).toMatchObject({ secret: renewed })
  })

  it('is not fetched by registering a checkout that has expired, which would open it again', async () => {
    const forged = delivered(undefined, { secret: 'whsec_Zm9yZ2VkZm9yZ2VkZm9yZ2VkZm9yZ2Vk' })
    const { response, calls } = await receive(forged, { ...LIVE, service: earlierService('expired') })
    expect(response.status).toBe(401)
    expect(calls.map(({ method }) => method)).toEqual(['GET'])
  })

  it('is taken for no other checkout', async () => {
    const request = delivered(undefined, { secret: renewed })
    const { response, memory } = await receive(request, {
      parameters: { testMode: false },
      service: serviceWith('chk_2'),
    })
    expect(response.status).toBe(401)
    expect(memory).toMatchObject({ secret: SECRET })
  })
})

describe('a workflow without a checkout', () => {
  it.each(['default', 'setup'] as const)('answers 503 (%s)', async (name) => {
    const { result, response } = await receive({ ...delivered(), name }, { memory: {} })
    expect(result).toEqual({ noWebhookResponse: true })
    expect(response.status).toBe(503)
    expect(response.body).toMatchObject({ code: 'no_checkout' })
  })
})

const KEPT = {
  checkoutId: 'chk_1',
  secret: SECRET,
  formUrl: 'https://pay.example/p/chk_1',
  lifetime: 'persistent',
  fingerprint: 'x',
}

type Received = Webhook & { result: IWebhookResponseData }

async function receive(request: Request, played: Played = {}): Promise<Received> {
  const sent = webhook(request, { memory: { ...KEPT }, ...played })
  const result = await receiveIn(sent.context, PAY_TO_RUN, { pausesMs: [0] })
  return { ...sent, result }
}

function delivered(body = JSON.stringify(PAID), { secret = SECRET, ageSeconds = 0 } = {}): Request {
  const timestamp = String(Math.floor(Date.now() / 1000) - ageSeconds)
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const mac = createHmac('sha256', key).update(`dlv_1.${timestamp}.${body}`).digest('base64')
  return {
    body,
    headers: { 'webhook-id': 'dlv_1', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${mac}` },
  }
}

/** What the service sends for so many of one thing. */
function sold(quantity: number): { body: string } {
  const unit = usdc(2_000_000n)
  const total = usdc(unit * BigInt(quantity))
  const payment = {
    ...PAID.payment,
    id: 'pay_1',
    checkoutId: 'chk_1',
    amount: total,
    lines: linesOfTotal(total, { unit, quantity, coupon: null }),
    input: {},
    simulated: true,
    deadline: null,
    right: null,
    plan: null,
  } as unknown as Parameters<typeof deliveryOf>[0]
  const checkout = {
    responseMode: 'immediately',
    onUnconfirmed: 'hold',
    pricing: { kind: 'fixed' },
  } as Parameters<typeof deliveryOf>[1]
  return deliveryOf(payment, checkout, { paidAt: new Date(0), receiptUrl: 'https://coinslot.example/receipts/pay_1' })
}

function claimed(claimed: boolean): () => ServiceAnswer {
  return () => ({ status: 200, body: { claimed } })
}

function without(name: keyof typeof PAID): object {
  return Object.fromEntries(Object.entries(PAID).filter(([key]) => key !== name))
}
