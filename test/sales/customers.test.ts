import fc from 'fast-check'
import { newId } from '../../service/kit/ids.ts'
import { testService, type TestPerson, type TestService } from '../harness/service.ts'
import { addSale } from '../refunds/sales.ts'

const WALLETS = ['a', 'b', 'c'].map((letter) => `0x${letter.repeat(40)}`)
const MAILS = [null, 'Ada@Example.com', 'ada@example.com', 'a%b_c@example.com']
const STATES = ['claimed', 'settling', 'paid', 'failed'] as const

/** What the table is to have, counted from the sales. */
const COUNTED = `
SELECT coalesce(lower(details #>> '{receipt,email}'), payer) AS key, count(*) AS payments, sum(amount)::bigint AS paid,
  sum(refunded)::bigint AS refunded, max(id) AS last_id, (array_agg(payer ORDER BY id DESC))[1] AS payer,
  min(created_at) AS first_at, max(created_at) AS last_at
FROM sale WHERE user_id = $1 AND state IN ('paid', 'refunded') AND (environment = 'sandbox' OR NOT simulated AND network = 'base')
GROUP BY 1 ORDER BY 1`
const KEPT = `
SELECT key, payments, paid, refunded, last_id, payer, first_at, last_at FROM sale_customer WHERE user_id = $1 ORDER BY 1`

describe('customers', () => {
  let service: TestService
  beforeAll(async () => {
    service = await testService({ RATE_API_PER_MINUTE: '0' })
  })
  afterAll(() => service.close())

  const run = <Row>(text: string, values: readonly unknown[]) => service.database.statements.run<Row>(text, values)

  test('are those of the sales after every history of payments, refunds and new e-mail addresses', async () => {
    const step = fc.record({
      act: fc.constantFrom('sell', 'sell', 'pay', 'refund', 'rename'),
      wallet: fc.constantFrom(...WALLETS),
      email: fc.constantFrom(...MAILS),
      state: fc.constantFrom(...STATES),
      amount: fc.integer({ min: 1, max: 5_000_000 }),
      simulated: fc.boolean(),
      network: fc.constantFrom('base', 'base-sepolia'),
      which: fc.nat(100),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 25 }),
        fc.constantFrom('sandbox', 'production'),
        async (steps, environment) => {
          const person = await service.person()
          const owner = { caller: { ...person.caller, environment } } as const
          const ids: string[] = []
          for (const { act, wallet, email, state, which, ...terms } of steps) {
            const id = ids[which % Math.max(1, ids.length)]
            const details = email === null ? {} : { receipt: { email, language: 'en' } }
            if (act === 'sell' || id === undefined) {
              service.clock.forward(1)
              ids.push(await addSale(service, owner, { state, ...terms, payer: wallet, details }))
            } else if (act === 'pay') {
              const paid = `UPDATE sale SET state = 'paid', tx_hash = '0x' || $1, ended_at = created_at
              WHERE id = $1 AND state IN ('claimed', 'settling')`
              await run(paid, [id])
            } else if (act === 'refund') {
              await run(`UPDATE sale SET refunded = amount, state = 'refunded' WHERE id = $1 AND state = 'paid'`, [id])
            } else await run('UPDATE sale SET details = $2::json WHERE id = $1', [id, JSON.stringify(details)])
          }
          const [counted, stored] = await Promise.all(
            [COUNTED, KEPT].map((text) =>
              run<{ key: string; last_id: string; payer: string }>(text, [person.caller.user.id]),
            ),
          )
          // After a payment has moved to another e-mail address, the one before may still name it as the last.
          const sums = (rows: typeof counted) =>
            rows?.map(({ last_id: _, payer: __, ...row }) => ({ ...row, last_at: 0, first_at: 0 }))
          expect(sums(stored)).toEqual(sums(counted))
          if (!steps.some(({ act }) => act === 'rename')) expect(stored).toEqual(counted)
        },
      ),
      { numRuns: 40 },
    )
  })

  const list = async (person: TestPerson, input: object = {}): Promise<{ customers: Line[]; next: string | null }> => {
    const query = encodeURIComponent(JSON.stringify(input))
    const { body } = await person.call('GET', `/trpc/payments.customers?input=${query}`)
    return body.result.data as { customers: Line[]; next: string | null }
  }
  interface Line {
    id: string
    paid: number
    byTransfer: boolean
  }

  test('are sorted, searched by their beginning, and shown alone; another account has none of them', async () => {
    const person = await service.person()
    const other = await service.person()
    const sell = (email: string, amount: number) =>
      addSale(service, person, { amount, details: { receipt: { email, language: 'en' } } })
    for (const [email, amount] of [
      ['ada@example.com', 3],
      ['a%b@example.com', 9],
      ['bob@example.com', 5],
      ['Ada@example.com', 1],
    ] as const) {
      service.clock.forward(1)
      await sell(email, amount * 1_000_000)
    }
    const ids = async (input: object) => (await list(person, input)).customers.map(({ id }) => id)
    expect(await ids({})).toEqual(['ada@example.com', 'bob@example.com', 'a%b@example.com'])
    expect(await ids({ order: 'paid' })).toEqual(['a%b@example.com', 'bob@example.com', 'ada@example.com'])
    expect((await ids({ order: 'payments' }))[0]).toBe('ada@example.com')
    expect(await ids({ search: 'A' })).toEqual(['ada@example.com', 'a%b@example.com'])
    expect(await ids({ search: 'a%' })).toEqual(['a%b@example.com'])
    expect(await ids({ search: '%' })).toEqual([])
    for (const order of ['last', 'paid', 'payments']) {
      const listed: string[] = []
      let before: string | null = null
      do {
        const page: { customers: Line[]; next: string | null } = await list(person, {
          order,
          limit: 1,
          ...(before === null ? {} : { before }),
        })
        listed.push(...page.customers.map(({ id }) => id))
        before = page.next
      } while (before !== null && listed.length < 10)
      expect(listed).toEqual(await ids({ order }))
    }
    const one = (of: TestPerson) =>
      of.call('GET', `/trpc/payments.customer?input=${encodeURIComponent(JSON.stringify({ id: 'ADA@example.com' }))}`)
    expect((await one(person)).body.result.data).toMatchObject({
      id: 'ada@example.com',
      payments: 2,
      paid: 4,
      byTransfer: false,
    })
    expect((await one(other)).status).toBe(404)
    expect((await list(other)).customers).toEqual([])
  })

  test("by plain transfer are marked so, with the order's address", async () => {
    const person = await service.person()
    const payer = `0x${'12'.repeat(20)}`
    await run(
      `INSERT INTO payment_address (id, user_id, environment, checkout_id, network, account, address, amount, bought, expires_at, created_at, looked_at)
       VALUES ($1, $2, 'sandbox', 'chk_none', 'base-sepolia', '0x00', decode($3, 'hex'), 1, '{}', now(), now(), now())`,
      [newId('adr', service.clock.now()), person.caller.user.id, '12'.repeat(20)],
    )
    const sale = await addSale(service, person, { payer })
    expect((await list(person)).customers).toMatchObject([{ id: payer, byTransfer: true }])
    const { body } = await person.call(
      'GET',
      `/trpc/payments.get?input=${encodeURIComponent(JSON.stringify({ id: sale }))}`,
    )
    expect(body.result.data).toMatchObject({ byTransfer: true, payer })
  })
})
