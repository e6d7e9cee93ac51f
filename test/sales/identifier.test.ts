import type { TestAccount } from '../harness/chain.ts'
import type { Answer } from '../harness/service.ts'
import type { Payment } from '../harness/wallet.ts'
import { notBusy, payWorld, type PayWorld } from '../tools/calls/pay-world.ts'
import { until } from '../harness/until.ts'
import { openWorld as openGates, type World } from '../paywall/world.ts'

/** The payment as a client of version 2 sends it that supports the extension. */
function identified({ header, value }: Payment, id: unknown): Payment {
  const payload = JSON.parse(Buffer.from(value, 'base64').toString())
  const extensions = { 'payment-identifier': { info: { required: false, id }, schema: {} } }
  return { header, value: Buffer.from(JSON.stringify({ ...payload, extensions })).toString('base64') }
}

function declared(answer: Pick<Answer, 'headers'>): unknown {
  const required = JSON.parse(Buffer.from(answer.headers.get('payment-required') ?? '', 'base64').toString())
  return required.extensions['payment-identifier'].info
}

const SLUG = 'acme-get-anything'
let count = 0
const newId = () => `pay_${String(++count).padStart(32, '0')}`

describe("a payment with an identifier of its client's choice", () => {
  let world: PayWorld
  let payer: TestAccount

  beforeAll(async () => {
    world = await payWorld()
    payer = await world.chain.payer(10_000_000n)
  })
  afterAll(async () => {
    await world.close()
  })
  beforeEach(() => {
    world.upstream.respondWith('/anything', { well: true })
  })

  const signed = async (id: unknown, by = payer) => identified(await world.sign(by, await world.buy(SLUG, {})), id)

  test('the 402 says that an identifier may be sent', async () => {
    expect(declared(await world.buy(SLUG, {}))).toEqual({ required: false })
  })

  test('is refused with another authorization, naming the first sale', async () => {
    const id = newId()
    const first = await world.buy(SLUG, {}, await signed(id))
    expect(first.status).toBe(200)
    const before = await world.usdc(payer.address)
    const again = await world.buy(SLUG, {}, await signed(id))
    expect([again.status, again.body.code, again.body.callId]).toEqual([
      409,
      'payment_identifier_used',
      first.body.callId,
    ])
    expect(again.body).not.toHaveProperty('output')
    expect(again.body).not.toHaveProperty('paymentToken')
    expect(await world.usdc(payer.address)).toBe(before)
  })

  test('continues its sale when repeated, but not under another identifier', async () => {
    world.upstream.respondWith('/anything', { ill: true }, 500)
    const id = newId()
    const payment = await signed(id)
    expect((await world.buy(SLUG, {}, payment)).status).toBe(502)
    world.upstream.respondWith('/anything', { well: true })
    const other = await world.buy(SLUG, {}, identified(payment, newId()))
    expect([other.status, other.body.code]).toEqual([409, 'payment_identifier_used'])
    const purchase = await world.buy(SLUG, {}, payment)
    expect(purchase.status).toBe(200)
    // It is known for the buyer's, and its answer was handed out.
    const replayed = await notBusy(() => world.buy(SLUG, {}, payment))
    expect([replayed.status, replayed.body.code]).toEqual([409, 'answer_given'])
  })

  test('a lost answer goes to the same payment with its identifier, and to no other copy of the authorization', async () => {
    const id = newId()
    const plain = await world.sign(payer, await world.buy(SLUG, {}))
    const payment = identified(plain, id)
    await world.chain.call('evm_setAutomine', false)
    const buying = world.buy(SLUG, {}, payment)
    await until(async () => {
      const rows = await world.service.database.statements.run(
        `SELECT 1 FROM facilitator_settlement WHERE state = 'broadcast'`,
        [],
      )
      return rows.length > 0
    })
    // The buyer waits no longer.
    world.service.clock.forward(20_000)
    const pending = await buying
    await world.chain.call('evm_setAutomine', true)
    await world.chain.mine()
    expect(pending.status).toBe(503)
    // What a reader of the chain has: the authorization, and guesses of the identifier.
    for (const copy of [plain, identified(plain, newId()), identified(plain, 'a-short-identifier')]) {
      const stolen = await world.buy(SLUG, {}, copy)
      expect([stolen.status, stolen.body.code]).toEqual([409, 'payment_submitted'])
    }
    const fetched = await world.buy(SLUG, {}, payment)
    expect([fetched.status, fetched.body.output]).toEqual([200, { well: true }])
  })

  test('an identifier that could be guessed proves nothing once the authorization is public', async () => {
    const payment = await signed(`order-${String(Date.now())}`)
    expect((await world.buy(SLUG, {}, payment)).status).toBe(200)
    const replayed = await world.buy(SLUG, {}, payment)
    expect([replayed.status, replayed.body.code]).toEqual([409, 'payment_submitted'])
  })

  test("may have the identifier of another payer's payment", async () => {
    const id = newId()
    expect((await world.buy(SLUG, {}, await signed(id))).status).toBe(200)
    const other = await world.chain.payer(1_000_000n)
    expect((await world.buy(SLUG, {}, await signed(id, other))).status).toBe(200)
  })

  test("a signature that is not the payer's learns nothing about the payer's identifiers", async () => {
    const id = newId()
    expect((await world.buy(SLUG, {}, await signed(id))).status).toBe(200)
    const thief = await world.chain.payer(1_000_000n)
    const { header, value } = await signed(id, thief)
    const payload = JSON.parse(Buffer.from(value, 'base64').toString())
    payload.payload.authorization.from = payer.address
    const forged = { header, value: Buffer.from(JSON.stringify(payload)).toString('base64') }
    const refused = await world.buy(SLUG, {}, forged)
    expect([refused.status, refused.body.callId]).toEqual([402, undefined])
  })

  test('is sold once for several concurrent ones, and the others keep their authorizations', async () => {
    const id = newId()
    const payments = await Promise.all(Array.from({ length: 6 }, () => signed(id)))
    const answers = await Promise.all(payments.map((payment) => world.buy(SLUG, {}, payment)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409])
    const lost = payments[answers.findIndex(({ status }) => status === 409)]!
    expect((await world.buy(SLUG, {}, identified(lost, newId()))).status).toBe(200)
  })

  test.each([['too-short'], ['a'.repeat(129)], ['with a space in it!'], [17]])(
    '%s is refused as malformed',
    async (id) => {
      const { status, body } = await world.buy(SLUG, {}, await signed(id))
      expect([status, body.code]).toEqual([400, 'invalid_payment'])
      expect(JSON.stringify(body.details)).toMatch(
        /payment-signature.*payment-identifier\.info\.id must have 16 to 128/,
      )
    },
  )
})

describe('a route that requires an identifier', () => {
  let world: World
  beforeAll(async () => {
    world = await openGates({ chain: true })
  })
  afterAll(async () => {
    await world.close()
  })

  test('accepts no payment without one', async () => {
    const pricing = { model: 'per-request', amount: 0.05 }
    const { gate, paywall } = await world.sell([
      { path: '/x', pricing, paymentIdentifier: 'required' },
      { path: '/y', pricing },
    ])
    expect(paywall.routes[0].paymentIdentifier).toBe('required')
    const payer = await world.chain.payer(1_000_000n)
    const unpaid = await world.request(`${gate}/x`)
    expect(declared(unpaid)).toEqual({ required: true })
    // Nothing is offered that could not pay: version 1 and MPP carry no identifier.
    expect(unpaid.body.accepts).toEqual([])
    expect(unpaid.headers.get('www-authenticate')).toBeNull()
    const other = await world.request(`${gate}/y`)
    expect([other.body.accepts.length, other.headers.has('www-authenticate')]).toEqual([1, true])
    for (const version of [1, 2] as const) {
      const terms = version === 1 ? other : unpaid
      const { status, body } = await world.request(`${gate}/x`, { headers: await world.sign(payer, terms, version) })
      expect([status, body.code]).toEqual([400, 'invalid_payment'])
      expect(JSON.stringify(body.details)).toMatch(/is required here/)
    }
    const { 'payment-signature': value = '' } = await world.sign(payer, unpaid)
    const payment = identified({ header: 'PAYMENT-SIGNATURE', value }, newId())
    const purchase = await world.request(`${gate}/x`, { headers: { [payment.header]: payment.value } })
    expect(purchase.status).toBe(200)
  })
})
