import { randomBytes } from 'node:crypto'
import type { Address } from '../../service/chain/model.ts'
import { usdc } from '../../service/kit/money.ts'
import { createDebits } from '../../service/paywall/store/debits.ts'
import { generator } from '../harness/random.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'

const NOW = new Date('2026-11-21T10:00:00.000Z')
const UNTIL = new Date('2026-11-21T11:00:00.000Z')
const PAYERS = ['a', 'b', 'c'].map((letter): Address => `0x${letter.repeat(40)}`)

describe('balances of prepaid calls', () => {
  let database: TestDatabase

  beforeAll(async () => {
    database = await testDatabase()
    await database.statements.run(
      `INSERT INTO paywall (id, user_id, environment, slug, name, upstream_url, routes, network, recipient, test_mode, status,
         milestones, header_names, headers_sealed, secret_sealed, version, earlier, created_at, updated_at)
       SELECT id, 'usr_1', 'sandbox', id, id, 'http://127.0.0.1', '[]', 'base-sepolia', '0x' || repeat('f', 40), false, 'active',
         '{}', '{}', '', '', 1, '[]', $1, $1
       FROM unnest(ARRAY['pw_0', 'pw_1', 'pw_2', 'pw_3']) AS id`,
      [NOW],
    )
  })
  afterAll(() => database.close())

  async function fill(paywallId: string, amount: bigint): Promise<void> {
    await database.statements.run(
      `INSERT INTO paywall_balance (paywall_id, network, payer, available, held, paid, drawn)
       SELECT $1, 'base-sepolia', payer, $2, 0, $2, 0 FROM unnest($3::text[]) AS payer`,
      [paywallId, amount, PAYERS],
    )
  }

  const holdOf = (call: string, paywallId: string, payer: Address, amount: bigint) => ({
    call,
    paywallId,
    network: 'base-sepolia' as const,
    route: 'POST /chat',
    by: { payer },
    amount: usdc(amount),
    minimum: usdc(1n),
    until: UNTIL,
  })

  test('a request above the balance does not block other requests', async () => {
    await fill('pw_0', 10n)
    const { hold } = createDebits(database.statements)
    const [first, dear, last, none] = await Promise.all([
      hold(holdOf('one', 'pw_0', PAYERS[0]!, 4n)),
      hold(holdOf('two', 'pw_0', PAYERS[0]!, 11n)),
      hold(holdOf('three', 'pw_0', PAYERS[0]!, 6n)),
      hold(holdOf('four', 'pw_0', `0x${'e'.repeat(40)}`, 1n)),
    ])
    expect(first).toMatchObject({ held: true, payer: PAYERS[0] })
    expect(dear).toMatchObject({ held: false })
    expect(last).toEqual({ held: true, payer: PAYERS[0], left: 0n })
    // An unknown payer has a balance of zero; an unknown token belongs to no payer.
    expect(none).toEqual({ held: false, balance: 0n, payer: `0x${'e'.repeat(40)}` })
    expect(await hold({ ...holdOf('five', 'pw_0', PAYERS[0]!, 1n), by: { token: randomBytes(32) } })).toEqual({
      held: false,
      balance: null,
    })
  })

  test('never draw more for a call than its hold', async () => {
    await fill('pw_3', 10n)
    const { hold, draw } = createDebits(database.statements)
    await hold(holdOf('more', 'pw_3', PAYERS[0]!, 4n))
    expect(await draw('more', usdc(9n), NOW)).toBe(6n)
    const [drawn] = await database.statements.run(`SELECT amount FROM paywall_draw WHERE call = 'more'`, [])
    expect(drawn).toEqual({ amount: 4n })
  })

  test('are the sums of what several concurrent processes held and drew', async () => {
    const seed = Number(process.env['SEED'] ?? 20_261_121)
    const random = generator(seed)
    await fill('pw_1', 2_000n)
    await fill('pw_2', 2_000n)
    const processes = [1, 2, 3].map(() => createDebits(database.statements))
    const cost = new Map<string, bigint>()
    let refused = 0
    await Promise.all(
      Array.from({ length: 900 }, async (_, number) => {
        const { hold, draw } = processes[number % 3]!
        const call = `call_${String(number)}`
        const [paywallId, payer] = [`pw_${String((number % 2) + 1)}`, PAYERS[Math.floor(random() * 3)]!]
        const price = BigInt(1 + Math.floor(random() * 40))
        const amount = price + BigInt(Math.floor(random() * 10))
        const held = await hold(holdOf(call, paywallId, payer, amount))
        if (!held.held) {
          refused++
          return
        }
        await draw(call, usdc(price), NOW)
        // A hold ends once: the second end takes nothing.
        await draw(call, usdc(amount), NOW)
        cost.set(`${paywallId} ${payer}`, (cost.get(`${paywallId} ${payer}`) ?? 0n) + price)
      }),
    )
    expect({ seed, some: refused > 0 }).toEqual({ seed, some: true })
    const rows = await database.statements.run<Record<'available' | 'held' | 'drawn' | 'lines' | 'day', bigint> & Key>(
      `SELECT b.paywall_id AS paywall, b.payer, b.available, b.held, b.drawn,
         (SELECT sum(amount) FROM paywall_draw d WHERE d.paywall_id = b.paywall_id AND d.payer = b.payer)::bigint AS lines,
         (SELECT sum(amount) FROM paywall_day d WHERE d.paywall_id = b.paywall_id AND outcome = 'drawn')::bigint AS day
       FROM paywall_balance b WHERE b.paywall_id IN ('pw_1', 'pw_2')`,
      [],
    )
    for (const { paywall, payer, available, held, drawn, lines, day } of rows) {
      const mine = cost.get(`${paywall} ${payer}`) ?? 0n
      expect({ available, held, drawn, lines }).toEqual({
        available: 2_000n - mine,
        held: 0n,
        drawn: mine,
        lines: mine,
      })
      const all = PAYERS.reduce((sum, one) => sum + (cost.get(`${paywall} ${one}`) ?? 0n), 0n)
      expect(day).toBe(all)
    }
    expect(await database.statements.run(`SELECT FROM paywall_hold WHERE paywall_id <> 'pw_0'`, [])).toEqual([])
  })
})

interface Key {
  paywall: string
  payer: string
}
