import type { CheckoutView, PaymentView, QuoteView } from '../../service/checkouts/views.ts'
import type { TestAccount } from '../harness/chain.ts'
import { payFor, sendMcp, type Json } from '../harness/mcp.ts'
import { freePort } from '../harness/ports.ts'
import { usdcOf } from '../facilitator/world.ts'
import { openWorld, signed, until, type World } from './world.ts'

const QUANTITY = { kind: 'quantity', min: 1, max: 5 }
const SIZE = { name: 'size', label: 'Size', type: 'select', options: ['small', 'large'], required: true }
const BY_SIZE = { fields: [SIZE], pricing: { kind: 'byField', field: 'size', prices: { small: 2, large: 7.5 } } }

/** A price that follows from what the buyer chooses, at each way to pay. */
describe('a price that depends', () => {
  let world: World
  let payer: TestAccount

  beforeAll(async () => {
    const environment = { SETTLE_CONFIRMATIONS: '1', PORT: String(await freePort()) }
    world = await openWorld({ chain: true, environment })
    payer = await world.chain.payer(500_000_000n)
  })
  afterAll(() => world.close())

  const quoted = async (chk: string, body: object): Promise<{ status: number; body: QuoteView & Refusal }> =>
    world.call('POST', `/p/${chk}/quote`, { body })
  const sign = async ({ paymentRequirements }: Pick<QuoteView, 'paymentRequirements'>) =>
    signed(payer, world.chain, paymentRequirements!)
  const pay = async (chk: string, body: object): Promise<{ status: number; body: PaymentView & Refusal }> =>
    world.call('POST', `/p/${chk}/pay`, { body })
  const spent = async (act: () => Promise<unknown>): Promise<bigint> => {
    const before = await usdcOf(world.chain, payer.address)
    await act()
    return before - (await usdcOf(world.chain, payer.address))
  }

  test.each([
    ['a quantity', { price: 2, pricing: QUANTITY }, {}, { quantity: 3 }, linesOf(2, 3)],
    ['the least quantity, where none is sent', { price: 2, pricing: { ...QUANTITY, min: 2 } }, {}, {}, linesOf(2, 2)],
    ['an amount', { pricing: { kind: 'choose', min: 1, max: 50 } }, {}, { amount: 12.5 }, linesOf(12.5, 1)],
    [
      'the suggested amount, where none is sent',
      { pricing: { kind: 'choose', min: 1, suggested: 4 } },
      {},
      {},
      linesOf(4, 1),
    ],
    ['an option', BY_SIZE, { size: 'large' }, {}, linesOf(7.5, 1)],
  ])('%s is quoted, paid, delivered and shown', async (...[, terms, input, choice, lines]) => {
    const { id } = await world.sell(terms)
    const { status, body: quote } = await quoted(id, { input, choice })
    expect([status, quote.lines, quote.total]).toEqual([200, lines, lines.total])
    await world.forget()
    const micro = BigInt(Math.round(lines.total * 1e6))
    expect(quote.paymentRequirements?.v2.amount).toBe(String(micro))
    const paymentPayload = await sign(quote)
    const { quoteId } = quote.quote
    let paid: PaymentView | null = null
    expect(await spent(async () => (paid = (await pay(id, { input, choice, quoteId, paymentPayload })).body))).toBe(
      micro,
    )
    expect(paid!.payment).toMatchObject({ status: 'paid', amount: lines.total, lines })
    await until(() => world.workflow.deliveries.length > 0)
    expect(world.workflow.deliveries[0]!.json.metadata.lines).toEqual(lines)
    const { body: listed } = await world.seller.call('GET', `/v1/checkouts/${id}/payments`)
    expect(listed.payments[0].lines).toEqual(lines)
    // What can go back is what was paid, whatever it was for.
    const refund = { body: { amount: lines.total + 0.000001, reason: 'too much' } }
    expect((await world.seller.call('POST', `/v1/payments/${paid!.payment.id}/refund`, refund)).status).toBe(409)
  })

  test.each([
    ['a quantity beyond the most', { pricing: QUANTITY }, {}, { quantity: 6 }, 'choice.quantity', 'must be at most 5'],
    [
      'a quantity of one thing',
      {},
      {},
      { quantity: 2 },
      'choice.quantity',
      'must be absent: this is sold one at a time',
    ],
    ['half a thing', { pricing: QUANTITY }, {}, { quantity: 1.5 }, 'choice.quantity', 'must be a whole number'],
    ['nothing', { pricing: QUANTITY }, {}, { quantity: 0 }, 'choice.quantity', 'must be at least 1'],
    [
      'less than the least',
      { pricing: { kind: 'choose', min: 2 } },
      {},
      { amount: 1.999999 },
      'choice.amount',
      'must be at least 2',
    ],
    [
      'more than the most',
      { pricing: { kind: 'choose', min: 2, max: 3 } },
      {},
      { amount: 3.000001 },
      'choice.amount',
      'must be at most 3',
    ],
    [
      'an amount of its own',
      {},
      {},
      { amount: 0.5 },
      'choice.amount',
      'must be absent: buyers do not choose the price here',
    ],
    ['another member', {}, {}, { discount: 1 }, 'choice.discount', 'is not known'],
  ])('%s is refused by name, at the quote and at the payment', async (...[, terms, input, choice, name, message]) => {
    const { id } = await world.sell({ ...terms, testMode: true })
    for (const at of ['quote', 'pay']) {
      const body = at === 'pay' ? { input, choice, simulate: true } : { input, choice }
      const answer = await world.call('POST', `/p/${id}/${at}`, { body })
      expect([answer.status, answer.body.details]).toEqual([400, { [name]: message }])
    }
  })

  test.each<[string, object, string, string?]>([
    ['no price', { price: undefined }, 'price', 'is required with pricing.kind fixed'],
    ['no price of each', { price: undefined, pricing: QUANTITY }, 'price'],
    ['an unknown kind', { pricing: { kind: 'auction' } }, 'pricing.kind'],
    [
      'more than ten thousand',
      { pricing: { kind: 'quantity', min: 1, max: 10_001 } },
      'pricing.max',
      'must be at most 10000',
    ],
    ['a least of none', { pricing: { kind: 'quantity', min: 0, max: 3 } }, 'pricing.min'],
    [
      'a most below the least',
      { pricing: { kind: 'quantity', min: 3, max: 2 } },
      'pricing.max',
      'must not be less than min',
    ],
    ['a total that no payment can be', { price: 9_000_000, pricing: { kind: 'quantity', max: 10_000 } }, 'pricing.max'],
    ['a choice from 0', { pricing: { kind: 'choose', min: 0 } }, 'pricing.min', 'must be greater than 0'],
    ['a suggestion below the least', { pricing: { kind: 'choose', min: 2, suggested: 1 } }, 'pricing.suggested'],
    ['a suggestion above the most', { pricing: { kind: 'choose', min: 2, max: 3, suggested: 4 } }, 'pricing.suggested'],
    [
      'a field that is not there',
      { ...BY_SIZE, fields: [] },
      'pricing.field',
      'must be the name of a select field of the form',
    ],
    ['a field that may be empty', { ...BY_SIZE, fields: [{ ...SIZE, required: false }] }, 'pricing.field'],
    [
      'an option without a price',
      { ...BY_SIZE, fields: [{ ...SIZE, options: ['small', 'large', 'huge'] }] },
      'pricing.prices.huge',
    ],
    [
      'a price of no option',
      { ...BY_SIZE, fields: [{ ...SIZE, options: ['small'] }] },
      'pricing.prices.large',
      'is not an option of size',
    ],
    [
      'an option for nothing',
      { ...BY_SIZE, pricing: { ...BY_SIZE.pricing, prices: { small: 0, large: 1 } } },
      'pricing.prices.small',
    ],
    [
      'more than may be charged after the work',
      { capture: 'onSuccess', price: 50, pricing: { kind: 'quantity', max: 3 } },
      'pricing.max',
    ],
    [
      'a choice without an end that is charged after the work',
      { capture: 'onSuccess', pricing: { kind: 'choose', min: 1 } },
      'pricing.max',
    ],
  ])('a seller may not offer %s', async (...[, terms, name, message]) => {
    const body = {
      callbackUrl: world.workflow.url,
      product: { name: 'Audit' },
      price: 1,
      network: 'base-sepolia',
      ...terms,
    }
    const answer = await world.seller.call('POST', '/v1/checkouts', { body: { ...body, recipient: world.recipient } })
    expect(answer.status).toBe(400)
    expect(Object.keys(answer.body.details as object)).toContain(name)
    if (message !== undefined) expect(answer.body.details[name]).toBe(message)
  })

  test('a form that loses the field that decides the price is refused', async () => {
    const { id } = await world.sell(BY_SIZE)
    const change = (body: object) => world.seller.call('PATCH', `/v1/checkouts/${id}`, { body })
    expect((await change({ fields: [] })).body.details).toHaveProperty(['pricing.field'])
    expect((await change({ fields: [], pricing: null })).body.checkout).toMatchObject({
      pricing: { kind: 'fixed' },
      price: 2,
    })
  })

  test('a quote buys its own quantity, option and amount only', async () => {
    const many = (await world.sell({ price: 2, pricing: QUANTITY })).id
    const one = (await quoted(many, { choice: { quantity: 1 } })).body
    const five = (await quoted(many, { choice: { quantity: 5 } })).body
    const sized = (await world.sell(BY_SIZE)).id
    const small = (await quoted(sized, { input: { size: 'small' } })).body
    const shown = (await world.call('GET', `/p/${sized}`)).body as CheckoutView
    const free = (await world.sell({ pricing: { kind: 'choose', min: 1 } })).id
    const least = (await quoted(free, { choice: { amount: 1 } })).body
    expect(
      await spent(async () => {
        const tries = [
          await pay(many, {
            input: {},
            choice: { quantity: 5 },
            quoteId: one.quote.quoteId,
            paymentPayload: await sign(one),
          }),
          // With the price of five, signed for one.
          await pay(many, {
            input: {},
            choice: { quantity: 1 },
            quoteId: five.quote.quoteId,
            paymentPayload: await sign(five),
          }),
          await pay(sized, {
            input: { size: 'large' },
            quoteId: small.quote.quoteId,
            paymentPayload: await sign(small),
          }),
          await pay(sized, {
            input: { size: 'large' },
            quoteId: shown.quote.quoteId,
            paymentPayload: await sign(shown),
          }),
          await pay(free, {
            input: {},
            choice: { amount: 3 },
            quoteId: least.quote.quoteId,
            paymentPayload: await sign(least),
          }),
          // Of another checkout.
          await pay(free, {
            input: {},
            choice: { amount: 2 },
            quoteId: one.quote.quoteId,
            paymentPayload: await sign(one),
          }),
        ]
        expect(tries.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400, 400])
        expect(tries.slice(0, 5).map(({ body }) => body.code)).toEqual(Array<string>(5).fill('quote_mismatch'))
        // Without a quote the signature is for another amount.
        const short = { input: {}, choice: { quantity: 5 }, paymentPayload: await sign(one) }
        expect((await pay(many, short)).status).toBe(402)
      }),
    ).toBe(0n)
  })

  test("a choice in the address does not affect the page's own payment call", async () => {
    const { id } = await world.sell({ price: 2, pricing: QUANTITY })
    const quote = (await quoted(id, { choice: { quantity: 4 } })).body
    const body = { input: {}, choice: { quantity: 4 }, quoteId: quote.quote.quoteId, paymentPayload: await sign(quote) }
    const paid = await world.call('POST', `/p/${id}/pay?quantity=1&amount=0.01`, { body })
    expect(paid.body.payment).toMatchObject({ amount: 8, lines: { quantity: 4 } })
    // The same payment again, with another choice, is another purchase.
    const again = await world.call('POST', `/p/${id}/pay`, { body: { ...body, choice: { quantity: 3 } } })
    expect(again.status).toBe(409)
  })

  test('a quote keeps its price when the seller changes it', async () => {
    const { id } = await world.sell(BY_SIZE)
    const large = (await quoted(id, { input: { size: 'large' } })).body
    const pricing = { kind: 'byField', field: 'size', prices: { small: 2, large: 20 } }
    expect((await world.seller.call('PATCH', `/v1/checkouts/${id}`, { body: { pricing } })).body.checkout.version).toBe(
      2,
    )
    const body = { input: { size: 'large' }, quoteId: large.quote.quoteId, paymentPayload: await sign(large) }
    expect((await pay(id, body)).body.payment).toMatchObject({ status: 'paid', amount: 7.5 })
    expect((await quoted(id, { input: { size: 'large' } })).body.total).toBe(20)
  })

  test.each([
    ['in the address', '?quantity=3', {}],
    ['in the body', '', { _choice: { quantity: 3 } }],
  ])('charges an agent that chooses %s for that choice, with the same request', async (...[, query, more]) => {
    const { id } = await world.sell({ price: 2, pricing: QUANTITY, fields: [{ name: 'choice', type: 'text' }] })
    const body = { choice: 'a field of the form', ...more }
    const unpaid = await world.call('POST', `/p/${id}${query}`, { body })
    expect(unpaid.status).toBe(402)
    const [v2] = JSON.parse(Buffer.from(unpaid.headers.get('payment-required')!, 'base64').toString()).accepts
    expect(v2.amount).toBe('6000000')
    const payment = await signed(payer, world.chain, { v1: null, v2 })
    const headers = { 'PAYMENT-SIGNATURE': Buffer.from(JSON.stringify(payment)).toString('base64') }
    // For another quantity it does not pay.
    const other =
      query === '' ? { body: { ...body, _choice: { quantity: 4 } }, path: '' } : { body, path: '?quantity=4' }
    expect((await world.call('POST', `/p/${id}${other.path}`, { body: other.body, headers })).status).toBe(402)
    const paid = await world.call('POST', `/p/${id}${query}`, { body, headers })
    expect([paid.status, paid.body.payment?.lines]).toEqual([200, linesOf(2, 3)])
    const { body: listed } = await world.seller.call('GET', `/v1/checkouts/${id}/payments`)
    expect(listed.payments[0].input).toEqual({ choice: 'a field of the form' })
  })

  test('a choice in both the address and the body is refused', async () => {
    const { id } = await world.sell({ price: 2, pricing: QUANTITY })
    const { status, body } = await world.call('POST', `/p/${id}?quantity=2`, { body: { _choice: { quantity: 3 } } })
    expect([status, Object.keys(body.details as object)]).toEqual([400, ['_choice']])
  })

  test('a model sees the choices, and a guest and an account pay for the chosen one', async () => {
    const { id } = await world.sell({ price: 2, pricing: QUANTITY })
    const rpc = async (method: string, params: Json, key?: string): Promise<Json> => {
      const headers = key === undefined ? {} : { authorization: `Bearer ${key}` }
      return (await sendMcp(`${world.service.origin}/p/${id}/mcp`, { method, params }, headers))['result'] as Json
    }
    const [tool] = (await rpc('tools/list', {}))['tools'] as [
      { description: string; inputSchema: { properties: Json } },
    ]
    expect(tool.description).toContain('Costs 2 USDC each, 1 to 5 of them.')
    expect(tool.inputSchema.properties).toEqual({
      _choice: expect.objectContaining({
        properties: { quantity: expect.objectContaining({ type: 'integer', minimum: 1, maximum: 5, default: 1 }) },
      }),
    })
    const call = (choice: Json, meta: Json = {}, key?: string) =>
      rpc('tools/call', { name: 'seo-audit', arguments: { _choice: choice }, _meta: meta }, key)
    const unpaid = await call({ quantity: 4 })
    expect(unpaid).toMatchObject({ isError: true, structuredContent: { accepts: [{ amount: '8000000' }] } })
    const meta = { 'x402/payment': await payFor(world.chain, payer, unpaid) }
    expect(await call({ quantity: 5 }, meta)).toMatchObject({ isError: true })
    expect(await call({ quantity: 4 }, meta)).toMatchObject({
      structuredContent: { payment: { amount: 8, lines: { quantity: 4 } } },
    })
    const wrong = await call({ quantity: 9 })
    expect(wrong).toMatchObject({
      isError: true,
      structuredContent: { error: { details: { 'choice.quantity': 'must be at most 5' } } },
    })

    await world.chain.fund(world.service.wallets.treasury()!, 100_000_000n)
    await world.chain.mine()
    const buyer = await world.service.person()
    await buyer.call('POST', '/v1/wallet/deposit', { body: { amount: 10 } })
    expect(await call({ quantity: 3 }, {}, buyer.key)).toMatchObject({
      structuredContent: { payment: { amount: 6, lines: { quantity: 3 } } },
      _meta: { 'coinslot/billing': { cost: 6 } },
    })
  })
})

/** Without a code. */
function linesOf(unit: number, quantity: number) {
  const total = unit * quantity
  return { unit, quantity, subtotal: total, coupon: null, discount: 0, total }
}

interface Refusal {
  code?: string
  details?: Readonly<Record<string, string>>
}
