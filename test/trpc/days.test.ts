import type { TestPerson } from '../harness/service.ts'
import { runWorld, type RunWorld } from '../marketplace/runs/world.ts'

/** What the plots of the overview are drawn from. */
describe('days', () => {
  let world: RunWorld
  beforeAll(async () => {
    world = await runWorld()
  })
  afterAll(() => world.close())

  const query = async (person: TestPerson, name: string, days = 30): Promise<unknown> =>
    (await person.call('GET', `/trpc/${name}?input=${encodeURIComponent(JSON.stringify({ days }))}`)).body.result.data
  const today = () => world.service.clock.now().toISOString().slice(0, 10)

  test('of the wallet have the money in and out, for payer and creator', async () => {
    const slug = await world.prompt()
    const caller = await world.caller(10)
    await world.run(caller, slug)
    await world.run(caller, slug)
    expect(await query(caller, 'wallet.days')).toEqual({
      wholeFrom: null,
      days: [{ day: today(), moneyIn: 10, sales: 0, deposits: 10, moneyOut: 0.04 }],
    })
    expect(await query(world.creator, 'wallet.days')).toEqual({
      wholeFrom: null,
      days: [{ day: today(), moneyIn: 0.04, sales: 0.04, deposits: 0, moneyOut: 0 }],
    })
  })

  test('of runs have count and cost by state, within the chosen days only', async () => {
    const slug = await world.prompt()
    const caller = await world.caller(10)
    await world.run(caller, slug)
    const first = today()
    world.service.clock.forward(24 * 3_600_000)
    await world.run(caller, slug)
    await world.run(caller, slug)
    expect(await query(caller, 'runs.days')).toEqual([
      { day: first, status: 'succeeded', count: 1, cost: 0.02 },
      { day: today(), status: 'succeeded', count: 2, cost: 0.04 },
    ])
    expect(await query(caller, 'runs.days', 1)).toEqual([{ day: today(), status: 'succeeded', count: 2, cost: 0.04 }])
    expect(await query(caller, 'wallet.days', 1)).toEqual({
      wholeFrom: null,
      days: [{ day: today(), moneyIn: 0, sales: 0, deposits: 0, moneyOut: 0.04 }],
    })
  })

  test("of the wallet count a checkout's payment that arrived there as a sale, and no deposit", async () => {
    const seller = await world.service.person()
    const hash = `0x${'ab'.repeat(32)}`
    const terms = {
      callbackUrl: world.server.on('/paid', () => ({ body: {} })),
      product: { name: 'Audit' },
      price: 5,
      network: 'base-sepolia',
      recipient: `0x${'11'.repeat(20)}`,
      testMode: true,
    }
    const { checkout } = (await seller.call('POST', '/v1/checkouts', { body: terms })).body
    expect((await seller.call('POST', `/v1/checkouts/${String(checkout.id)}/test-payment`)).status).toBe(200)
    await world.service.database.pool.query(
      `UPDATE sale SET simulated = false, digest = sha256('y'), request = '{}', recipient = '0x1', tx_hash = $2
       WHERE subject = $1`,
      [checkout.id, hash],
    )
    const put = async (person: TestPerson, amount: number, transactionHash: string): Promise<void> => {
      const { status } = await person.call('POST', '/v1/wallet/deposit', { body: { amount, transactionHash } })
      expect(status).toBe(200)
    }
    await put(seller, 5, hash)
    await put(seller, 20, `0x${'cd'.repeat(32)}`)
    expect(await query(seller, 'wallet.days')).toEqual({
      wholeFrom: null,
      days: [{ day: today(), moneyIn: 25, sales: 5, deposits: 20, moneyOut: 0 }],
    })
    const { transactions } = (await seller.call('GET', '/v1/wallet/transactions')).body
    expect((transactions as { type: string; amount: number }[]).map(({ type, amount }) => [type, amount])).toEqual([
      ['deposit', 20],
      ['sale', 5],
    ])
  })

  test('of a wallet with more movements than are read are whole days, and say from which day on', async () => {
    const person = await world.service.person()
    const { clock, database } = world.service
    const deposit = async (): Promise<void> => {
      expect((await person.call('POST', '/v1/wallet/deposit', { body: { amount: 3 } })).status).toBe(200)
    }
    const move = async (count: number): Promise<void> => {
      await database.pool.query(
        `WITH moved AS (
           INSERT INTO ledger_movement (id, kind, input_hash, at)
           SELECT $1::text || nth, 'deposit', sha256('many'), $2::timestamptz FROM generate_series(1, $3::int) AS nth
           RETURNING id
         )
         INSERT INTO ledger_posting (movement_id, account_id, side, kind, available, locked)
         SELECT moved.id, a.id, CASE a.kind WHEN 'wallet' THEN 'receiver' ELSE 'payer' END::ledger_side, 'deposit',
           CASE a.kind WHEN 'wallet' THEN 100 ELSE -100 END, 0
         FROM moved, ledger_account a
         WHERE a.environment = 'sandbox' AND a.stripe = 0
           AND (a.owner = $4 AND a.kind = 'wallet' OR a.owner = 'platform' AND a.kind = 'treasury')`,
        [`many ${clock.now().toISOString()} `, clock.now(), count, person.caller.user.id],
      )
    }
    await deposit()
    clock.forward(24 * 3_600_000)
    await deposit()
    const second = today()
    await move(19_999)
    // All but the first deposit is read.
    expect(await query(person, 'wallet.days')).toEqual({
      wholeFrom: second,
      days: [{ day: second, moneyIn: 4.9999, sales: 0, deposits: 4.9999, moneyOut: 0 }],
    })
    clock.forward(24 * 3_600_000)
    await deposit()
    // Now the deposit of the second day is not read either, so that day is not whole.
    const { days, wholeFrom } = (await query(person, 'wallet.days')) as { days: unknown; wholeFrom: string }
    expect({ days, wholeFrom }).toEqual({
      wholeFrom: today(),
      days: [{ day: today(), moneyIn: 3, sales: 0, deposits: 3, moneyOut: 0 }],
    })
    expect(await query(person, 'wallet.days', 1)).toEqual({ wholeFrom: null, days })
  })

  test('are at most ninety', async () => {
    const { body } = await world.creator.call('GET', `/trpc/runs.days?input=${encodeURIComponent('{"days":91}')}`)
    expect(body.error.data.fields.details).toEqual({ days: 'must be at most 90' })
  })
})
