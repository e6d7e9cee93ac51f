import { systemClock } from '../../service/kit/clock.ts'
import { usdc } from '../../service/kit/money.ts'
import { createLedger } from '../../service/ledger/service.ts'
import { recount } from '../../service/ledger/store/recount.ts'
import { createLedgerStore } from '../../service/ledger/store/ledger.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'

/*
 * The check finds what cannot happen. To plant it, the database's own guards are taken off, as only the
 * owner of the tables can.
 */
describe('the check that recomputes everything', () => {
  let database: TestDatabase

  beforeEach(async () => {
    database = await testDatabase({ poolMax: 2 })
    const ledger = createLedger(createLedgerStore(database.statements, systemClock), systemClock)
    const owner = { userId: 'usr_x', environment: 'sandbox' as const }
    const deadline = new Date('2100-01-01T00:00:00.000Z')
    await ledger.openAccounts(owner.userId)
    await ledger.credit({ id: 'd', kind: 'deposit', owner, amount: usdc(100n), reference: null, act: 'd' })
    const lock = (id: string) =>
      ledger.reserve({ id, owner, amount: usdc(10n), useCredits: false, deadline, reference: null })
    await lock('open')
    await lock('taken')
    await ledger.capture({
      hold: 'taken',
      owner,
      amount: usdc(7n),
      shares: [],
      kind: 'capture',
      reference: null,
      announcements: [],
    })
    expect(await ledger.differences()).toEqual([])
  })
  afterEach(async () => {
    await database.close()
  })

  const wrongs: [string, string, { figure: string; recorded: string; recomputed: string }][] = [
    [
      'a balance that was changed',
      "UPDATE ledger_account SET available = available + 1 WHERE owner = 'usr_x' AND environment = 'sandbox' AND kind = 'wallet'",
      { figure: 'available', recorded: '84', recomputed: '83' },
    ],
    [
      'a lifetime sum that was changed',
      "UPDATE ledger_account SET spent = 0 WHERE owner = 'usr_x' AND environment = 'sandbox' AND kind = 'wallet'",
      { figure: 'spent', recorded: '0', recomputed: '7' },
    ],
    [
      'a posting that is gone',
      "DELETE FROM ledger_posting WHERE movement_id = 'd' AND side = 'payer'",
      { figure: 'sum', recorded: '0', recomputed: '100' },
    ],
    [
      'a movement that is gone',
      "DELETE FROM ledger_movement WHERE id = 'd'",
      { figure: 'kind', recorded: 'none', recomputed: 'deposit' },
    ],
    [
      'an open lock that is gone',
      "DELETE FROM ledger_hold WHERE id = 'open'",
      { figure: 'open locks', recorded: '10', recomputed: '0' },
    ],
    [
      'a lock that ended without a movement',
      "UPDATE ledger_hold SET state = 'released' WHERE id = 'open'",
      { figure: 'movements', recorded: 'reserve, end', recomputed: 'reserve' },
    ],
    [
      'a capture that took another amount',
      "UPDATE ledger_hold SET captured = 10 WHERE id = 'taken'",
      { figure: 'captured', recorded: '10', recomputed: '7' },
    ],
  ]
  test.each(wrongs)('finds %s', async (_, plant, expected) => {
    const tables = ['ledger_account', 'ledger_posting', 'ledger_movement', 'ledger_hold']
    for (const table of tables) await database.pool.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`)
    await database.pool.query(
      'GRANT ALL ON ledger_account, ledger_posting, ledger_movement, ledger_hold TO CURRENT_USER',
    )
    await database.pool.query(plant)
    const found = await createLedgerStore(database.statements, systemClock).differences()
    expect(found).toContainEqual(expect.objectContaining(expected))
    if (!['available', 'spent', 'sum'].includes(expected.figure)) return
    for (const pageSize of [1, 2, 3, 5_000]) {
      const { complete, differences } = await recount(database.statements, { pageSize, hasTime: () => true })
      expect([complete, differences]).toEqual([true, expect.arrayContaining([expect.objectContaining(expected)])])
    }
  })

  test('adding it up in steps reads each posting and each account once, and stops when the time is over', async () => {
    const [counts] = await database.statements.run<{ postings: number; accounts: number }>(
      `SELECT (SELECT count(*)::int FROM ledger_posting) AS postings, (SELECT count(*)::int FROM ledger_account) AS accounts`,
      [],
    )
    const whole = await recount(database.statements, { hasTime: () => true })
    expect(whole).toEqual({ ...counts, movements: 4, steps: 2, complete: true, differences: [] })
    for (const pageSize of [1, 2, 3]) {
      const inSteps = await recount(database.statements, { pageSize, hasTime: () => true })
      expect(inSteps).toEqual({ ...whole, steps: inSteps.steps })
      expect(inSteps.steps).toBe(Math.floor(whole.postings / pageSize) + Math.floor(whole.accounts / pageSize) + 2)
    }
    let steps = 0
    const stopped = await recount(database.statements, { pageSize: 2, hasTime: () => steps++ < 2 })
    expect(stopped).toMatchObject({ postings: 4, accounts: 0, steps: 2, complete: false, differences: [] })
  })
})
