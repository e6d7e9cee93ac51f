import { request } from 'node:http'
import { startReceiver, type Receiver } from '../deliveries/receiver.ts'
import { testService, type Answer, type TestPerson, type TestService } from '../harness/service.ts'
import { addSale } from '../refunds/sales.ts'

const DAY_MS = 86_400_000
/** What a browser sends that a person leads to a page. */
const READER = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

describe('the summary of sales', () => {
  let service: TestService
  let receiver: Receiver
  beforeAll(async () => {
    receiver = await startReceiver()
    service = await testService({ RATE_API_PER_MINUTE: '0', ALLOW_HOSTS: '127.0.0.1', TRUST_PROXY: '1' })
  })
  afterAll(async () => {
    await service.close()
    await receiver.close()
  })

  const today = (): string => service.clock.now().toISOString().slice(0, 10)
  const query = async (person: TestPerson, name: string, input: object) =>
    await person.call('GET', `/trpc/${name}?input=${encodeURIComponent(JSON.stringify(input))}`)
  const summary = async (person: TestPerson, input: object) => resultOf(await query(person, 'payments.summary', input))

  test('has revenue, customers and failures of a period and of the one before, and nothing of another account', async () => {
    const [person, other] = [await service.person(), await service.person()]
    const sell = (email: string | null, amount: number, over = {}) =>
      addSale(service, person, {
        amount: amount * 1_000_000,
        ...(email === null ? {} : { details: { receipt: { email, language: 'en' } } }),
        ...over,
      })
    const wallet = `0x${'7'.repeat(40)}`
    // Long before: a customer who will return, by e-mail and by wallet.
    await sell('ada@example.com', 50)
    await sell(null, 50, { payer: wallet })
    service.clock.forward(20 * DAY_MS)
    // In the ten days before.
    await sell('ADA@example.com', 1)
    await sell('bob@example.com', 2)
    await sell(null, 3, { payer: wallet })
    await sell('eve@example.com', 4, { state: 'failed' })
    service.clock.forward(10 * DAY_MS)
    const first = today()
    await sell('bob@example.com', 7)
    const half = await sell('carl@example.com', 8)
    await sell('dora@example.com', 9, { state: 'settling' })
    service.clock.forward(9 * DAY_MS)
    await sell('eve@example.com', 10)
    await sell('eve@example.com', 11, { state: 'failed' })
    await service.database.statements.run('UPDATE sale SET refunded = 3000000 WHERE id = $1', [half])
    const last = today()
    const found = await summary(person, { first, last })
    expect(found).toEqual({
      now: { revenue: 22, refunded: 3, payments: 3, failed: 1, newCustomers: 2, returningCustomers: 1 },
      before: { revenue: 6, refunded: 0, payments: 3, failed: 1, newCustomers: 1, returningCustomers: 2 },
      days: [
        { day: first, revenue: 12, refunded: 3, payments: 2, failed: 0 },
        { day: last, revenue: 10, refunded: 0, payments: 1, failed: 1 },
      ],
      failures: [{ reason: "The payer's balance is too low.", count: 1 }],
    })
    const none = { revenue: 0, refunded: 0, payments: 0, failed: 0, newCustomers: 0, returningCustomers: 0 }
    expect(await summary(other, { first, last })).toEqual({ now: none, before: none, days: [], failures: [] })
  })

  test('refuses invalid days, in the wrong order, or too many', async () => {
    const person = await service.person()
    for (const input of [
      { first: '2026-02-30', last: '2026-03-01' },
      { first: '2026-03-02', last: '2026-03-01' },
      { first: '2025-01-01', last: '2026-03-01' },
    ])
      expect((await query(person, 'payments.summary', input)).status).toBe(400)
  })

  test('counts a browser once a day at each checkout, no program, and sets payments on the page beside it', async () => {
    const person = await service.person()
    const terms = { callbackUrl: receiver.url, price: 5, testMode: true, network: 'base-sepolia' }
    const create = async (name: string): Promise<string> =>
      String((await person.call('POST', '/v1/checkouts', { body: { ...terms, product: { name } } })).body.checkout.id)
    const [audit, logo] = [await create('Audit'), await create('Logo')]
    const open = async (id: string, headers: Record<string, string>): Promise<void> => {
      // Node's fetch writes its own Sec-Fetch-Mode.
      const status = await new Promise((done, failed) => {
        request(`${service.origin}/p/${id}`, { headers }, (answer) => done(answer.resume().statusCode))
          .on('error', failed)
          .end()
      })
      expect(status).toBe(200)
    }
    const from = (place: number) => ({ ...READER, 'user-agent': `browser ${String(place)}` })
    await Promise.all([0, 1, 2].map((place) => open(audit, from(place))))
    await open(audit, from(1))
    await open(audit, { accept: 'text/html' })
    await open(audit, { accept: 'application/json' })
    await open(audit, { ...from(4), 'sec-purpose': 'prefetch;prerender' })
    await open(logo, from(0))
    const pay = (id: string) => service.call('POST', `/p/${id}/pay`, { body: { input: {}, simulate: true } })
    expect((await pay(audit)).status).toBe(200)
    // By the owner's test and not on the page.
    expect((await person.call('POST', `/v1/checkouts/${audit}/test-payment`)).status).toBe(200)
    await service.checkouts.openings.flush()
    const days = { first: today(), last: today() }
    const conversion = async (input: object) =>
      resultOf(await query(person, 'checkouts.conversion', input)) as Conversion
    const before = { opened: 0, paid: 0 }
    expect(await conversion(days)).toEqual({
      all: { id: null, name: null, opened: 4, paid: 1, before, checkouts: 2 },
      each: [
        { id: audit, name: 'Audit', opened: 3, paid: 1, before, checkouts: 1 },
        { id: logo, name: 'Logo', opened: 1, paid: 0, before, checkouts: 1 },
      ],
    })
    service.clock.forward(DAY_MS)
    await open(audit, from(1))
    await service.checkouts.openings.flush()
    expect((await conversion({ first: today(), last: today() })).all).toMatchObject({
      opened: 1,
      paid: 0,
      before: { opened: 4, paid: 1 },
    })
    const other = await service.person()
    expect((resultOf(await query(other, 'checkouts.conversion', days)) as Conversion).each).toEqual([])
  })
})

interface Conversion {
  all: object
  each: object[]
}

function resultOf({ body }: Answer): unknown {
  return body.result.data
}
