import { newId } from '../../service/kit/ids.ts'
import { systemClock } from '../../service/kit/clock.ts'
import { usdc } from '../../service/kit/money.ts'
import { createLedger } from '../../service/ledger/service.ts'
import { createLedgerStore } from '../../service/ledger/store/ledger.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'

describe('the database itself', () => {
  let database: TestDatabase
  let wallet: bigint
  let treasury: bigint
  let production: bigint

  beforeAll(async () => {
    database = await testDatabase()
    const ledger = createLedger(createLedgerStore(database.statements, systemClock), systemClock)
    await ledger.openAccounts('usr_p')
    const owner = { userId: 'usr_p', environment: 'sandbox' as const }
    await ledger.credit({ id: 'd', kind: 'deposit', owner, amount: usdc(5_000_000n), reference: null, act: 'd' })
    const deadline = new Date('2100-01-01T00:00:00.000Z')
    await ledger.reserve({ id: 'h', owner, amount: usdc(1_000_000n), useCredits: false, deadline, reference: null })
    await ledger.release({ hold: 'h', owner, announcements: [] })
    wallet = await accountOf('usr_p', 'wallet', 'sandbox')
    production = await accountOf('usr_p', 'wallet', 'production')
    treasury = await accountOf('platform', 'treasury', 'sandbox')
  })
  afterAll(async () => {
    const store = createLedgerStore(database.statements, systemClock)
    expect(await store.differences()).toEqual([])
    await database.close()
  })

  const forbidden: [string, string][] = [
    ['change a posting', 'UPDATE ledger_posting SET available = available + 1'],
    ['delete a posting', 'DELETE FROM ledger_posting'],
    ['empty the postings', 'TRUNCATE ledger_posting'],
    ['change a movement', "UPDATE ledger_movement SET reference = 'x'"],
    ['delete a movement', 'DELETE FROM ledger_movement'],
    ['change a balance', "UPDATE ledger_account SET available = available + 1 WHERE owner = 'usr_p'"],
    ['change a lifetime sum', "UPDATE ledger_account SET deposited = 0 WHERE owner = 'usr_p'"],
    ['delete an account', "DELETE FROM ledger_account WHERE owner = 'usr_p'"],
    [
      'make an account with money in it',
      "INSERT INTO ledger_account (environment, owner, kind, available) VALUES ('sandbox', 'usr_q', 'wallet', 1)",
    ],
    ['reopen a lock', "UPDATE ledger_hold SET state = 'open' WHERE id = 'h'"],
    ['delete a lock', 'DELETE FROM ledger_hold'],
  ]
  test.each(forbidden)('does not allow to %s', async (_, text) => {
    await expect(database.statements.run(text, [])).rejects.toThrow(/not allowed|permission denied/)
  })

  test('refuses postings that do not sum to zero', async () => {
    await expect(post([wallet, 100n], [treasury, -99n])).rejects.toThrow('does not balance')
  })

  test('refuses postings across environments', async () => {
    await expect(post([wallet, -100n], [production, 100n])).rejects.toThrow('does not balance within one environment')
  })

  test('refuses postings to unknown accounts', async () => {
    await expect(post([wallet, -100n], [999_999_999n, 100n])).rejects.toThrow('does not balance')
  })

  test('does not let a wallet go below zero', async () => {
    await expect(post([wallet, -5_000_001n], [treasury, 5_000_001n])).rejects.toThrow('ledger_account_solvent')
  })

  async function accountOf(owner: string, kind: string, environment: string): Promise<bigint> {
    const [row] = await database.statements.run<{ id: bigint }>(
      `SELECT id FROM ledger_account
       WHERE owner = $1 AND kind = $2::ledger_account_kind AND environment = $3::environment AND stripe = 0`,
      [owner, kind, environment],
    )
    return row?.id ?? -1n
  }

  async function post(...postings: [bigint, bigint][]): Promise<void> {
    const movement = newId('op', new Date())
    await database.statements.run(
      `INSERT INTO ledger_posting (movement_id, account_id, side, kind, available, locked)
       SELECT $1, account, CASE WHEN amount < 0 THEN 'payer' ELSE 'receiver' END::ledger_side, 'transfer', amount, 0
       FROM unnest($2::bigint[], $3::bigint[]) AS t(account, amount)`,
      [movement, postings.map(([account]) => account), postings.map(([, amount]) => amount)],
    )
  }
})
