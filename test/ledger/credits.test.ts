import { systemClock } from '../../service/kit/clock.ts'
import { usdc } from '../../service/kit/money.ts'
import { createLedger, type Ledger } from '../../service/ledger/service.ts'
import { createLedgerStore } from '../../service/ledger/store/ledger.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'

describe('a hold that uses credits', () => {
  const owner = { userId: 'usr_payer', environment: 'sandbox' } as const
  let database: TestDatabase
  let ledger: Ledger

  beforeAll(async () => {
    database = await testDatabase({ poolMax: 2 })
    ledger = createLedger(createLedgerStore(database.statements, systemClock), systemClock)
    await ledger.openAccounts(owner.userId)
    await ledger.openAccounts('usr_creator')
  })
  afterAll(async () => {
    await database.close()
  })

  const platform = async (kind: string) => {
    const [row] = await database.statements.run<{ sum: bigint }>(
      `SELECT coalesce(sum(available), 0)::bigint AS sum FROM ledger_account
       WHERE owner = 'platform' AND environment = 'sandbox' AND kind::text = $1`,
      [kind],
    )
    return row?.sum
  }

  test('is captured from them first, and they are neither revenue nor shared', async () => {
    const money = { owner, reference: null, act: 'test' }
    await ledger.credit({ ...money, id: 'deposit', kind: 'deposit', amount: usdc(20n) })
    await ledger.credit({ ...money, id: 'grant', kind: 'grant', amount: usdc(5n) })
    const deadline = new Date('2100-01-01T00:00:00.000Z')
    await ledger.reserve({ id: 'hold', owner, amount: usdc(15n), useCredits: true, deadline, reference: null })
    const shares = [{ to: { userId: 'usr_creator' }, amount: usdc(3n) }]
    const end = { kind: 'capture', reference: null, announcements: [] } as const
    await ledger.capture({ ...end, hold: 'hold', owner, amount: usdc(12n), shares })
    const earned = { revenue: await platform('revenue'), redeemed: await platform('redeemed') }
    expect(earned).toEqual({ revenue: 4n, redeemed: 5n })
    expect((await ledger.wallet(owner))?.funds).toMatchObject({ available: 13n, locked: 0n, spent: 7n })
    expect((await ledger.wallet({ ...owner, userId: 'usr_creator' }))?.funds).toMatchObject({ available: 3n })
    expect(await ledger.differences()).toEqual([])
  })
})
