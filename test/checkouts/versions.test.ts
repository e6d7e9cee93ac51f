import { randomUUID } from 'node:crypto'
import type { CheckoutView, PaymentView } from '../../service/checkouts/views.ts'
import { startReceiver } from '../deliveries/receiver.ts'
import type { TestAccount } from '../harness/chain.ts'
import { usdcOf } from '../facilitator/world.ts'
import { openWorld, until, type World } from './world.ts'

const SITE = { name: 'site', label: 'Website', type: 'url', required: true }
const TOPIC = { name: 'topic', label: 'Topic', type: 'text', required: true }

/** An owner changes a checkout while buyers have it open. */
describe('a checkout that is changed', () => {
  let world: World
  let payer: TestAccount
  let chk: string

  beforeAll(async () => {
    world = await openWorld({ chain: true, environment: { SETTLE_CONFIRMATIONS: '1' } })
    payer = await world.chain.payer(50_000_000n)
  })
  afterAll(() => world.close())
  beforeEach(async () => {
    await world.forget()
    chk = (await world.sell({ fields: [SITE], responseMode: 'lastNode' })).id
    world.workflow.answers({ delivery: { status: 200, body: '{"score":97}' } })
  })

  const change = (body: object, id = chk, by = world.seller) => by.call('PATCH', `/v1/checkouts/${id}`, { body })
  const shown = async (): Promise<CheckoutView> => (await world.call('GET', `/p/${chk}`)).body as CheckoutView
  const pay = async (
    quoteId: string | undefined,
    paymentPayload: unknown,
    input: object,
  ): Promise<{ status: number; body: PaymentView & { code?: string } }> =>
    world.call('POST', `/p/${chk}/pay`, { body: { input, quoteId, paymentPayload } })
  const answered = ({ payment }: PaymentView) =>
    until(async () => {
      const { body } = await world.call('GET', new URL(payment.statusUrl).pathname + new URL(payment.statusUrl).search)
      return (body as PaymentView).delivery?.answer ?? null
    })

  test('changes only the fields sent, with a new version for each change that buyers see', async () => {
    const { checkout: before } = (await world.seller.call('GET', `/v1/checkouts/${chk}`)).body
    const { status, body } = await change({ price: 2, redirectUrl: 'https://example.com/thanks' })
    expect([status, body.checkout]).toEqual([
      200,
      {
        ...before,
        ...{ price: 2, redirectUrl: 'https://example.com/thanks', version: 2, updatedAt: body.checkout.updatedAt },
      },
    ])
    // Buyers see neither of these.
    expect((await change({ preflight: true, onUnconfirmed: 'redeliver' })).body.checkout.version).toBe(2)
    expect((await change({ redirectUrl: null })).body.checkout).toMatchObject({ version: 3, redirectUrl: null })
    expect((await change({ price: 2 })).body.checkout.version).toBe(3)
  })

  test('gives a buyer the version that was shown: its price, form, answer and name', async () => {
    const old = await shown()
    const payment = await world.sign(payer, chk)
    const changed = { price: 3, product: { name: 'New audit' }, fields: [TOPIC], responseMode: 'immediately' }
    expect((await change(changed)).status).toBe(200)
    const before = await usdcOf(world.chain, payer.address)
    const paid = await pay(old.quote.quoteId, payment, { site: 'https://example.com' })
    expect([paid.status, paid.body.payment?.amount]).toEqual([200, 1])
    expect(before - (await usdcOf(world.chain, payer.address))).toBe(1_000_000n)
    expect(await answered(paid.body)).toBe('{"score":97}')
    expect(world.workflow.deliveries[0]!.json.input).toEqual({ site: 'https://example.com' })
    const receipt = new URL(paid.body.payment.receiptUrl!)
    expect((await world.call('GET', receipt.pathname + receipt.search)).body.receipt.name).toBe('SEO audit')

    // Who looks now gets what is offered now.
    const now = await shown()
    expect(now.checkout).toMatchObject({ price: 3, product: { name: 'New audit' } })
    const wrong = await pay(now.quote.quoteId, await world.sign(payer, chk), { site: 'https://example.com' })
    expect([wrong.status, wrong.body.code]).toEqual([400, 'invalid_input'])
    expect((await pay(now.quote.quoteId, await world.sign(payer, chk), { topic: 'Ducks' })).status).toBe(200)
  })

  test('refuses the old terms without the old quote', async () => {
    const old = await world.sign(payer, chk)
    const quote = (await shown()).quote.quoteId
    await change({ price: 3 })
    const before = await usdcOf(world.chain, payer.address)
    expect((await pay(undefined, old, { site: 'https://example.com' })).status).toBe(402)
    world.service.clock.forward(601_000)
    const late = await pay(quote, old, { site: 'https://example.com' })
    expect([late.status, late.body.code]).toEqual([410, 'quote_expired'])
    expect(await usdcOf(world.chain, payer.address)).toBe(before)
  })

  test('returns a finished payment again after the change, and after its price has expired', async () => {
    const old = await shown()
    const payment = await world.sign(payer, chk)
    const token = `tok_${'v'.repeat(43)}`
    const input = { site: 'https://example.com' }
    const body = { input, quoteId: old.quote.quoteId, paymentPayload: payment, token }
    const first = await world.call('POST', `/p/${chk}/pay`, { body })
    await change({ price: 3, fields: [TOPIC] })
    world.service.clock.forward(601_000)
    const again = await world.call('POST', `/p/${chk}/pay`, { body })
    expect([again.status, again.body.payment?.id]).toEqual([200, first.body.payment.id])
  })

  test('uses the current workflow for every version', async () => {
    const old = await shown()
    const payment = await world.sign(payer, chk)
    const next = await startReceiver()
    expect((await change({ callbackUrl: next.url })).body.checkout.version).toBe(1)
    await pay(old.quote.quoteId, payment, { site: 'https://example.com' })
    await until(() => next.calls.length > 0)
    expect(world.workflow.deliveries).toEqual([])
    await next.close()
  })

  test('keeps versions in test mode, too', async () => {
    chk = (await world.sell({ fields: [SITE], testMode: true })).id
    const old = await shown()
    await change({ price: 3, fields: [TOPIC] })
    const simulated = { simulate: true, quoteId: old.quote.quoteId, input: { site: 'https://example.com' } }
    const paid = await world.call('POST', `/p/${chk}/pay`, { body: simulated })
    expect([paid.status, paid.body.payment?.amount]).toEqual([200, 1])
  })

  test('accepts one of several concurrent edits, and answers 409 version_conflict to the others', async () => {
    const answers = await Promise.all([2, 3, 4].map((price) => change({ price, version: 1 })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    const { body } = answers.find(({ status }) => status === 409)!
    expect([body.code, body.version]).toEqual(['version_conflict', 2])
  })

  test("another account's, a node's and an ended one cannot be changed", async () => {
    const stranger = await world.service.person()
    expect((await change({ price: 2 }, chk, stranger)).status).toBe(404)
    const source = { instanceId: randomUUID(), workflowId: 'w', nodeId: 'n' }
    const { id: ofNode } = await world.sell({ source })
    expect((await change({ price: 2 }, ofNode)).body.code).toBe('checkout_of_workflow')
    await world.seller.call('DELETE', `/v1/checkouts/${chk}`)
    expect((await change({ price: 2 })).body.code).toBe('checkout_ended')
  })

  test.each([
    [{ price: 0 }, 'price'],
    [{ source: null }, 'source'],
    [{ recipient: '0x0000000000000000000000000000000000000000' }, 'recipient'],
    [{ callbackUrl: 'ftp://example.com' }, 'callbackUrl'],
    [{ capture: 'onSuccess', refundOnFailure: true }, 'refundOnFailure'],
    [{ network: 'base', testMode: false }, 'network'],
  ])('%j is refused by name, and changes nothing', async (body, field) => {
    const answer = await change(body)
    expect([answer.status, Object.keys(answer.body.details as object)]).toEqual([400, [field]])
    expect((await world.seller.call('GET', `/v1/checkouts/${chk}`)).body.checkout.version).toBe(1)
  })

  test('a node that registers changed terms makes a version as well', async () => {
    const source = { instanceId: randomUUID(), workflowId: 'w', nodeId: 'n' }
    chk = (await world.sell({ source })).id
    const old = await shown()
    const payment = await world.sign(payer, chk)
    expect((await world.sell({ source, price: 2 })).checkout).toMatchObject({ id: chk, version: 2 })
    expect((await world.sell({ source, price: 2 })).checkout.version).toBe(2)
    expect((await pay(old.quote.quoteId, payment, {})).body.payment.amount).toBe(1)
  })
})
