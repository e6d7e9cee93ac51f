import { createHmac } from 'node:crypto'
import type { Hex } from '../../service/chain/model.ts'
import type { CheckoutView, PaymentView } from '../../service/checkouts/model.ts'
import { openEditor } from './editor.ts'
import { asJson, credentialData, openWorld, until, type Workflow, type World } from './world.ts'
import type { Answer } from './n8n.ts'

/** What somebody who sells a workflow and somebody who buys it go through, in one generation of n8n. */
export function story(version: string): void {
  describe(`n8n ${version}`, () => {
    let world: World
    beforeAll(async () => {
      world = await openWorld(version)
    })
    afterAll(() => world.close())

    describe('the credential', () => {
      it.each<[string, (world: World) => Record<string, unknown>, { status: string; message: RegExp }]>([
        ['works', () => ({}), { status: 'OK', message: /successful/ }],
        [
          'works with a slash at the end',
          (w) => ({ sandboxUrl: `${w.apiUrl}/` }),
          { status: 'OK', message: /successful/ },
        ],
        [
          'says that the key is of no use',
          () => ({ apiKey: 'csk_test_nobody' }),
          { status: 'Error', message: /does not accept this API key/ },
        ],
        [
          'says that the key is of the other environment',
          () => ({ environment: 'production' }),
          { status: 'Error', message: /belongs to the other environment/ },
        ],
        [
          'says that no service is at the address',
          (w) => ({ sandboxUrl: `${w.apiUrl}/nowhere` }),
          { status: 'Error', message: /No Coinslot service answered at this address/ },
        ],
        [
          'says that nobody listens',
          () => ({ sandboxUrl: 'http://127.0.0.1:1/v1' }),
          { status: 'Error', message: /refused/i },
        ],
      ])('%s', async (_, data, expected) => {
        const { id, name } = world.credential
        const credentials = { id, name, type: 'coinslotApi', data: credentialData(world.apiUrl, data(world)) }
        const { status, message } = await world.n8n.ask('POST', '/rest/credentials/test', { credentials })
        expect({ status, message }).toEqual({
          status: expected.status,
          message: expect.stringMatching(expected.message),
        })
      })
    })

    describe('listening for a test event', () => {
      it('makes a temporary form, whose link both addresses show', async () => {
        const workflow = await world.makeWorkflow()
        await workflow.listen()
        const told: { status: number; body: Told } = await asJson(workflow.address('webhook-test'), 'POST')
        expect(told).toEqual({
          status: 200,
          body: { message: expect.any(String), form_url: expect.stringMatching(/\/p\/chk_\w+$/), test_mode: true },
        })
        const page = await fetch(workflow.address('webhook-test'))
        expect(page.headers.get('content-type')).toMatch('text/html')
        expect(await page.text()).toContain(`href="${told.body.form_url}"`)
        expect((await asJson(told.body.form_url)).body.checkout).toMatchObject({
          lifetime: 'temporary',
          status: 'active',
        })
        await workflow.stopListening()
      })

      it('runs the workflow with what a customer filled in and simulated, and the form is gone afterwards', async () => {
        const workflow = await world.makeWorkflow()
        await workflow.listen()
        const form = await formOf(workflow, 'webhook-test')
        const payment = await simulate(form, { website: 'https://example.com', pages: 7 })
        const [run] = await workflow.runs(1)
        expect(run).toEqual({ mode: 'manual', data: outputOf(payment, { website: 'https://example.com', pages: 7 }) })
        await gone(form)
      })

      it('runs it with an unsigned body of the shape of a payment, and refuses one of another shape', async () => {
        const workflow = await world.makeWorkflow()
        await workflow.listen()
        const wrong = await asJson(workflow.address('webhook-test'), 'POST', { ...BODY, input: 'x' })
        expect(wrong).toMatchObject({ status: 400, body: { details: { input: 'must be an object' } } })
        expect((await asJson(workflow.address('webhook-test'), 'POST', BODY)).status).toBe(200)
        expect(await workflow.runs(1)).toEqual([{ mode: 'manual', data: BODY }])
      })

      it('ends with the form, when nobody paid', async () => {
        const workflow = await world.makeWorkflow()
        await workflow.listen()
        const form = await formOf(workflow, 'webhook-test')
        await workflow.stopListening()
        await gone(form)
      })

      it('leaves the link to those who have it when the workflow is published meanwhile', async () => {
        const workflow = await world.makeWorkflow()
        await workflow.listen()
        const form = await formOf(workflow, 'webhook-test')
        await workflow.publish()
        expect(await formOf(workflow)).toBe(form)
        await workflow.stopListening()
        // The hook that ends listening has run by the time that the address is gone.
        await until(async () => (await fetch(workflow.address('webhook-test'))).status === 404)
        expect((await asJson(form)).body.checkout).toMatchObject({ lifetime: 'persistent', status: 'active' })
        await workflow.unpublish()
      })
    })

    describe('a published workflow', () => {
      it('runs for a simulated payment, with exactly the specified data, and its delivery is confirmed', async () => {
        const workflow = await published()
        const payment = await simulate(await formOf(workflow), { website: 'https://example.com', report: 'long' })
        const [run] = await workflow.runs(1)
        expect(run).toEqual({
          mode: 'webhook',
          data: outputOf(payment, { website: 'https://example.com', report: 'long' }),
        })
        await until(async () => (await paymentAt(payment)).delivery?.status === 'delivered')
      })

      it('runs for a payment by a wallet on the chain, once the recipient has the money', async () => {
        const { network } = world.chain
        const recipient = `0x${'5e'.repeat(20)}` as const
        const workflow = await published({
          ...{ testMode: false, network: 'base-sepolia', price: 0.25 },
          ...{ recipient: 'address', recipientAddress: recipient },
        })
        const form = await formOf(workflow)
        const buyer = await world.chain.payer(1_000_000n)
        const { v2 } = ((await asJson(form)).body as CheckoutView).paymentRequirements!
        const { signature, ...terms } = await buyer.authorize(network, v2.payTo as Hex, {
          value: BigInt(v2.amount),
        })
        const authorization = Object.fromEntries(Object.entries(terms).map(([name, value]) => [name, String(value)]))
        const { body }: { body: PaymentView } = await asJson(`${form}/pay`, 'POST', {
          input: { website: 'https://example.com' },
          paymentPayload: { x402Version: 2, accepted: v2, payload: { signature, authorization } },
        })
        await until(async () => {
          // Nothing else happens on this chain, and a payment is final some blocks later.
          await world.chain.mine()
          return (await paymentAt(body.payment)).payment.status === 'paid'
        })
        const { payment } = await paymentAt(body.payment)
        const [run] = await workflow.runs(1)
        expect(run).toEqual({ mode: 'webhook', data: outputOf(payment, { website: 'https://example.com' }) })
        expect(payment).toMatchObject({ payer: buyer.address, amount: 0.25, network: 'base-sepolia' })
        const receipt = (await world.chain.call('eth_getTransactionReceipt', payment.txHash)) as Answer
        expect(receipt.status).toBe('0x1')
        const read = { to: network.usdc.address, data: `0x70a08231${recipient.slice(2).padStart(64, '0')}` }
        expect(BigInt((await world.chain.call('eth_call', read, 'latest')) as string)).toBe(250_000n)
      })

      it('shows the customer what its last node gave, where that was asked for', async () => {
        const workflow = await published({ options: { respond: 'lastNode' } })
        const payment = await simulate(await formOf(workflow), { website: 'https://example.com' })
        await until(async () => (await paymentAt(payment)).delivery?.answer !== null)
        const { delivery } = await paymentAt(payment)
        expect(JSON.parse(delivery?.answer ?? '')).toEqual({ report: 'Audit of https://example.com' })
      })

      it('keeps its link when n8n restarts, when it is edited, and when it is published again', async () => {
        const workflow = await published()
        const form = await formOf(workflow)
        await world.n8n.restart()
        await until(async () => (await fetch(workflow.address('webhook'))).status === 200)
        expect(await formOf(workflow)).toBe(form)

        await workflow.edit({ price: 7, productName: 'Larger audit' })
        await workflow.publish()
        await until(async () => (await asJson(form)).body.checkout?.price === 7)
        expect(await formOf(workflow)).toBe(form)

        await workflow.unpublish()
        await gone(form)
        await workflow.publish()
        expect(await formOf(workflow)).toBe(form)
        const payment = await simulate(form, { website: 'https://example.com' })
        expect(await workflow.runs(1)).toMatchObject([{ data: { payment: { txHash: payment.txHash, amount: 7 } } }])
      })

      it('runs once for one payment, however often it is delivered', async () => {
        const workflow = await published()
        const payment = await simulate(await formOf(workflow), { website: 'https://example.com' })
        await workflow.runs(1)
        const again = await redelivered(workflow, payment)
        for (let time = 0; time < 3; time++) {
          expect(await deliver(workflow, again)).toEqual({ status: 200, body: { duplicate: true } })
        }
        await world.n8n.restart()
        await until(async () => (await fetch(workflow.address('webhook'))).status === 200)
        expect(await deliver(workflow, again)).toEqual({ status: 200, body: { duplicate: true } })
        expect(await workflow.runs()).toHaveLength(1)
      })

      it('runs for no delivery that is unsigned, forged or stale', async () => {
        const workflow = await published({ testMode: false, network: 'base-sepolia', ...ANYBODY })
        const secret = (await workflow.kept()).secret!
        const body = JSON.stringify(BODY)
        const now = Math.floor(Date.now() / 1000)
        expect(await asJson(workflow.address('webhook'), 'POST', BODY)).toMatchObject({
          status: 401,
          body: { error: expect.stringMatching('not signed') },
        })
        const wrong: [SignedBody, string][] = [
          [sign('whsec_Zm9yZ2VkZm9yZ2VkZm9yZ2VkZm9yZ2Vk', body, now), 'does not match'],
          [{ ...sign(secret, body, now), body: body.replace('5', '6') }, 'does not match'],
          [sign(secret, body, now - 301), 'five minutes old'],
        ]
        for (const [delivery, reason] of wrong) {
          expect(await deliver(workflow, delivery)).toMatchObject({
            status: 401,
            body: { error: expect.stringMatching(reason) },
          })
        }
        expect(await workflow.runs()).toEqual([])
      })

      it('leaves a genuine delivery for later while the service cannot be asked', async () => {
        const workflow = await published()
        const payment = await simulate(await formOf(workflow), { website: 'https://example.com' })
        await workflow.runs(1)
        const again = await redelivered(workflow, payment)
        await world.outage(async () => {
          expect(await deliver(workflow, again)).toMatchObject({ status: 503, body: { code: 'claim_unavailable' } })
        })
        expect(await workflow.runs()).toHaveLength(1)
      })

      it('takes its form down with it, as a page and for a program', async () => {
        const workflow = await published()
        const form = await formOf(workflow)
        await workflow.unpublish()
        await gone(form)
        const page = await fetch(form, { headers: { accept: 'text/html' } })
        expect(page.status).toBe(404)
        expect(page.headers.get('content-type')).toMatch('text/html')
      })
    })

    describe('publishing fails with a sentence that says what to do', () => {
      it.each<[string, Record<string, unknown>, Record<string, unknown>, RegExp]>([
        [
          'when nobody listens at the address',
          {},
          { sandboxUrl: 'http://127.0.0.1:1/v1' },
          /cannot be reached at http:\/\/127\.0\.0\.1:1\/v1.*Check the service address/,
        ],
        ['when the key is of no use', {}, { apiKey: 'csk_test_nobody' }, /does not accept the API key.*Make a new key/],
        ['when the key is of the other environment', {}, { environment: 'production' }, /csk_test_ are for Sandbox/],
        [
          'when real money is asked of a sandbox',
          { testMode: false, network: 'base', recipient: 'address', recipientAddress: `0x${'5e'.repeat(20)}` },
          {},
          /Network: must be base-sepolia/,
        ],
        [
          'when a field has no name',
          { customerFields: { fields: [{ label: '日本', type: 'text' }] } },
          {},
          /Customer Fields #1 name: must begin with a letter/,
        ],
      ])('%s', async (_, parameters, data, sentence) => {
        const workflow = await world.makeWorkflow(parameters, await world.makeCredential(data))
        await expect(workflow.publish()).rejects.toThrow(sentence)
        await expect(workflow.kept()).resolves.not.toHaveProperty('secret')
      })
    })

    it('unpublishes and forgets also while the service is away', async () => {
      const workflow = await published()
      await world.outage(() => workflow.unpublish())
      expect(await workflow.kept()).toEqual({})
    })

    it('has an editor in which somebody listens, pays and sees the payment', async () => {
      const workflow = await world.makeWorkflow(SHOWN)
      const editor = await openEditor(world.n8n, version)
      try {
        await editor.walk(workflow)
      } finally {
        await editor.close()
      }
      expect(await workflow.runs(1)).toMatchObject([
        { mode: 'manual', data: { input: { your_website: expect.any(String) } } },
      ])
    })

    async function published(parameters?: Record<string, unknown>): Promise<Workflow> {
      const workflow = await world.makeWorkflow(parameters)
      await workflow.publish()
      return workflow
    }

    /** The delivery of a payment as anybody could have recorded it, signed anew. */
    async function redelivered(workflow: Workflow, payment: Payment): Promise<SignedBody> {
      const { deliveries } = (await world.get(`/deliveries?subject=${payment.id}`)) as { deliveries: [{ id: string }] }
      const { id } = deliveries[0]
      const { delivery } = (await world.get(`/deliveries/${id}`)) as { delivery: { body: string } }
      return sign((await workflow.kept()).secret!, delivery.body, Math.floor(Date.now() / 1000), id)
    }
  })
}

type Payment = PaymentView['payment']

/** What an empty body is answered. */
interface Told {
  message: string
  form_url: string
  test_mode: boolean
}

const BODY = {
  payment: {
    txHash: `0x${'ab'.repeat(32)}`,
    amount: 5,
    currency: 'USDC',
    payer: `0x${'cd'.repeat(20)}`,
    network: 'base',
    timestamp: 1_790_000_000,
  },
  input: { website: 'https://example.com' },
  metadata: { checkoutId: 'chk_0', receivedAt: '2026-09-21T12:53:20.000Z' },
}

const ANYBODY = { recipient: 'address', recipientAddress: `0x${'5e'.repeat(20)}` }

/** As it is in the pictures. */
const SHOWN = {
  productName: 'SEO audit of your website',
  productDescription: 'Send us your address and read the report ten minutes later.',
  price: 5,
  customerFields: {
    fields: [
      { label: 'Your website', type: 'url', required: true, placeholder: 'https://example.com' },
      { label: 'Your e-mail', type: 'email', required: true },
    ],
  },
}

/** What the workflow must get for a payment, made from what the payer was told about it. */
function outputOf(payment: Payment, input: Record<string, unknown>): unknown {
  const { txHash, amount, payer, network, checkoutId, paidAt } = payment
  return {
    payment: { txHash, amount, currency: 'USDC', payer, network, timestamp: Math.floor(Date.parse(paidAt!) / 1000) },
    input,
    metadata: { checkoutId, receivedAt: paidAt },
  }
}

async function formOf(workflow: Workflow, kind: 'webhook' | 'webhook-test' = 'webhook'): Promise<string> {
  return ((await asJson(workflow.address(kind), 'POST')).body as Told).form_url
}

async function simulate(form: string, input: Record<string, unknown>): Promise<Payment> {
  const told = await asJson(`${form}/pay`, 'POST', { input, simulate: true })
  if (told.status !== 200) throw new Error(`paying answered ${told.status}: ${JSON.stringify(told.body)}`)
  return (told.body as PaymentView).payment
}

async function paymentAt(payment: Payment): Promise<PaymentView> {
  return (await asJson(payment.statusUrl)).body as PaymentView
}

async function gone(form: string): Promise<void> {
  await until(async () => {
    const { status, body } = await asJson(form)
    return status === 404 && body.code === 'checkout_not_found'
  })
}

interface SignedBody {
  headers: Record<string, string>
  body: string
}

function sign(secret: string, body: string, timestamp: number, id = 'dlv_forged'): SignedBody {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const mac = createHmac('sha256', key)
    .update(`${id}.${String(timestamp)}.${body}`)
    .digest('base64')
  return {
    body,
    headers: { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': `v1,${mac}` },
  }
}

async function deliver(workflow: Workflow, { headers, body }: SignedBody): Promise<Answer> {
  const response = await fetch(workflow.address('webhook'), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  return { status: response.status, body: await response.json() }
}
