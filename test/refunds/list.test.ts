import { createOwnSales } from '../../service/sales/store/payments.ts'
import type { SaleFilter } from '../../service/sales/model.ts'
import { SALE_STATES } from '../../service/sales/model.ts'
import type { Statements } from '../../service/kit/transaction.ts'
import { testService, type TestPerson, type TestService } from '../harness/service.ts'
import { addSale, refund, rich } from './sales.ts'

/** The dashboard's list of payments. */
describe('the list of all payments', () => {
  let service: TestService
  beforeAll(async () => {
    service = await testService()
  })
  afterAll(() => service.close())

  async function requestRefund(person: TestPerson, input: object) {
    const query = encodeURIComponent(JSON.stringify(input))
    return await person.call('GET', `/trpc/payments.list?input=${query}`)
  }

  async function list(person: TestPerson, input: object): Promise<{ ids: string[]; next: string | null }> {
    const { body } = await requestRefund(person, input)
    const { payments, next } = body.result.data as { payments: { id: string }[]; next: string | null }
    return { ids: payments.map(({ id }) => id), next }
  }

  test('has each payment once, newest first, page by page, while new ones come', async () => {
    const person = await service.person()
    const ids: string[] = []
    for (let count = 0; count < 5; count++) {
      ids.unshift(await addSale(service, person, { product: count % 2 === 0 ? 'checkout' : 'gate' }))
      service.clock.forward(1_000)
    }
    for (const filter of [{}, { state: 'paid' }]) {
      const first = await list(person, { ...filter, limit: 2 })
      expect(first.ids).toEqual(ids.slice(0, 2))
      ids.unshift(await addSale(service, person))
      service.clock.forward(1_000)
      const rest = ids.slice(3)
      const second = await list(person, { ...filter, limit: 2, before: first.next })
      expect(second.ids).toEqual(rest.slice(0, 2))
      const last = await list(person, { ...filter, limit: 500, before: second.next })
      expect(last).toEqual({ ids: rest.slice(2), next: null })
    }
  })

  test('filters by each field, and shows nothing of another account or environment', async () => {
    const [person, other] = [await rich(service, 10), await service.person()]
    const payer = `0x${'b1'.repeat(20)}`
    const details = { input: { site: 'example.com' }, receipt: { email: 'Ada@Example.com', language: 'en' } }
    await addSale(service, other, { payer, details })
    await addSale(service, person, { environment: 'production', payer, details })
    const audit = await addSale(service, person, { payer, details, amount: 5_000_000 })
    service.clock.forward(60_000)
    const noon = service.clock.now().toISOString()
    const gate = await addSale(service, person, { product: 'gate', payer })
    const failed = await addSale(service, person, { product: 'asset', state: 'failed' })
    const open = await addSale(service, person, { state: 'claimed' })
    await refund(person, audit, { amount: 5 })
    service.clock.forward(60_000)
    const later = service.clock.now().toISOString()
    const cases: readonly (readonly [object, string[]])[] = [
      [{}, [audit, gate, failed, open]],
      [{ product: 'gate' }, [gate]],
      [{ product: 'tool' }, []],
      [{ state: 'paid', product: 'checkout' }, [audit]],
      [{ state: 'created' }, [open]],
      [{ state: 'failed' }, [failed]],
      [{ customer: payer.toUpperCase() }, [audit, gate]],
      [{ customer: ' ada@EXAMPLE.com ' }, [audit]],
      [{ customer: 'ada@example.com', product: 'gate' }, []],
      [{ from: noon }, [gate, failed, open]],
      [{ to: noon, state: 'paid' }, [audit]],
      [{ from: later }, []],
    ]
    for (const [filter, expected] of cases) {
      expect([filter, new Set((await list(person, filter)).ids)]).toEqual([filter, new Set(expected)])
    }
    const { result } = (await person.call('GET', `/trpc/payments.get?input=${JSON.stringify({ id: audit })}`)).body
    expect(result.data).toMatchObject({ email: 'Ada@Example.com', input: { site: 'example.com' }, refunded: 5 })
  })

  test('groups the customers by e-mail address or wallet, the last one who paid first', async () => {
    const [person, other] = [await rich(service, 10), await service.person()]
    const [wallet, another] = [`0x${'c1'.repeat(20)}`, `0x${'c2'.repeat(20)}`]
    const from = (email: string) => ({ details: { receipt: { email, language: 'en' } } })
    const buy = async (of: Parameters<typeof addSale>[2]) => {
      service.clock.forward(1_000)
      return await addSale(service, person, { amount: 2_000_000, ...of })
    }
    await addSale(service, other, { payer: wallet })
    await buy({ payer: wallet, ...from('Ada@example.com') })
    await buy({ payer: wallet, product: 'gate' })
    await buy({ payer: wallet, product: 'gate' })
    await buy({ payer: another, ...from('ada@example.com') })
    await buy({ payer: wallet, state: 'failed' })
    await refund(person, await buy({ payer: another }), { amount: 1.5 })
    const customers = async (input: object) => {
      const query = encodeURIComponent(JSON.stringify(input))
      return (await person.call('GET', `/trpc/payments.customers?input=${query}`)).body.result.data as {
        customers: object[]
        next: string | null
      }
    }
    const [third, first, second] = [
      { id: another, email: null, payer: another, payments: 1, paid: 2, refunded: 1.5 },
      { id: 'ada@example.com', email: 'ada@example.com', payer: another, payments: 2, paid: 4, refunded: 0 },
      { id: wallet, email: null, payer: wallet, payments: 2, paid: 4, refunded: 0 },
    ].map((row) => ({
      ...row,
      byTransfer: false,
      sentFrom: [],
      firstAt: expect.any(String),
      lastAt: expect.any(String),
    }))
    expect(await customers({})).toEqual({ customers: [third, first, second], next: null })
    const page = await customers({ limit: 2 })
    expect(page.customers).toEqual([third, first])
    expect(await customers({ limit: 2, before: page.next })).toEqual({ customers: [second], next: null })
  })

  test('refuses by name a filter that can mean nothing', async () => {
    const person = await service.person()
    const refused = { customer: 'ada', product: 'book', state: 'gone', from: 'yesterday', before: 'run_1', limit: 501 }
    for (const [field, value] of Object.entries(refused)) {
      const { status, body } = await requestRefund(person, { [field]: value })
      expect([field, status, Object.keys(body.error.data.fields.details as object)]).toEqual([field, 400, [field]])
    }
  })

  test('reads a page’s rows and no others, however many payments there are', async () => {
    const { caller } = await service.person()
    const owner = { userId: caller.user.id, environment: caller.environment }
    const { statements } = service.database
    await statements.run(MANY, [owner.userId, owner.environment])
    await statements.run('ANALYZE sale', [])
    const queries: { text: string; values: readonly unknown[] }[] = []
    const run: Statements['run'] = async (text, values, name) => {
      queries.push({ text, values })
      return await statements.run(text, values, name)
    }
    const { olderOwn } = createOwnSales({ ...statements, run })
    const all: SaleFilter = {
      product: null,
      states: null,
      payer: null,
      email: null,
      from: null,
      to: null,
      refunded: null,
    }
    const filters: readonly Partial<SaleFilter>[] = [
      {},
      { product: 'gate' },
      { states: ['failed'] },
      { product: 'asset', states: ['claimed', 'held'] },
      { payer: `0x${'0'.repeat(39)}7` },
      { email: 'buyer7@example.com' },
    ]
    for (const filter of filters) {
      const before = `pay_${'19999'.padStart(26, '0')}`
      const found = await olderOwn(owner, { ...all, ...filter }, { limit: 20, before })
      const { text, values } = queries.pop()!
      const [row] = await statements.run<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
        `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
        values,
      )
      const read = rowsOf(row!['QUERY PLAN'][0].Plan)
      expect({ filter, found: found.length > 0, isBounded: read.rows <= 20 * 4 * SALE_STATES.length }).toEqual({
        ...{ filter, found: true, isBounded: true },
      })
      expect({ filter, scans: read.scans }).toEqual({ filter, scans: [] })
    }
  })
})

interface Plan {
  'Node Type': string
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: readonly Plan[]
}

/** How many sales a plan has read, also those that it threw away, and where it read a whole table. */
function rowsOf(plan: Plan): { rows: number; scans: string[] } {
  const { 'Relation Name': table, 'Actual Rows': rows, 'Actual Loops': loops, Plans = [] } = plan
  const own = table === 'sale' ? (rows + (plan['Rows Removed by Filter'] ?? 0)) * loops : 0
  const scans = plan['Node Type'] === 'Seq Scan' && table === 'sale' ? [table] : []
  const below = Plans.map(rowsOf)
  return {
    rows: own + below.reduce((sum, each) => sum + each.rows, 0),
    scans: [...scans, ...below.flatMap((each) => each.scans)],
  }
}

/** Twenty thousand sales of a hundred buyers: what a filter looks for is among the older ones, and there is much of it. */
const MANY = `
INSERT INTO sale (id, product, subject, user_id, environment, state, amount, network, recipient, payer, simulated,
  input_hash, details, created_at, ended_at, tx_hash, reason)
SELECT 'pay_' || lpad(i::text, 26, '0'),
  (CASE WHEN i <= 4000 THEN 'gate' WHEN i <= 8000 THEN 'asset' ELSE 'checkout' END)::sale_product, 'chk_none', $1,
  $2::environment, (CASE WHEN i <= 4000 THEN 'paid' WHEN i <= 8000 THEN 'claimed' WHEN i <= 12000 THEN 'failed' ELSE 'paid' END)::sale_state,
  1000000, 'base-sepolia', NULL, '0x' || lpad((i % 100)::text, 40, '0'), true, sha256('x'),
  json_build_object('receipt', json_build_object('email', 'Buyer' || i % 100 || '@example.com', 'language', 'en')), now(),
  CASE WHEN i BETWEEN 4001 AND 8000 THEN NULL ELSE now() END,
  CASE WHEN i BETWEEN 4001 AND 12000 THEN NULL ELSE 'simulated:' || i END,
  CASE WHEN i BETWEEN 8001 AND 12000 THEN 'x' END
FROM generate_series(1, 20000) AS i`
