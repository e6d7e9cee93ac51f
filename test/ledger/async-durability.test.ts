import { systemClock } from '../../service/kit/clock.ts'
import { usdc } from '../../service/kit/money.ts'
import type { StatementPool, Statements } from '../../service/kit/transaction.ts'
import { createLedger, type Ledger } from '../../service/ledger/service.ts'
import { createLedgerStore } from '../../service/ledger/store/ledger.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'

/** A hold that need not be on disk must not weaken the durability of other writes. */
describe('holds of asynchronous durability', () => {
  const owner = { userId: 'usr_async', environment: 'sandbox' as const }
  let database: TestDatabase
  let ledger: Ledger
  let ran: string[] = []
  beforeAll(async () => {
    database = await testDatabase()
    const noted = (statements: Statements): Statements => ({
      run(text, values, name) {
        if (name?.startsWith('ledger_reserve') === true) ran.push(name)
        return statements.run(text, values, name)
      },
    })
    const { statements } = database
    const pool: StatementPool = {
      ...noted(statements),
      together: (work) => statements.together((inside) => work(noted(inside))),
    }
    ledger = createLedger(createLedgerStore(pool, systemClock), systemClock)
    await ledger.openAccounts(owner.userId)
    await ledger.credit({ id: 'd', kind: 'deposit', owner, amount: usdc(1_000n), reference: null, act: 'test' })
  })
  beforeEach(() => {
    ran = []
  })
  afterAll(() => database.close())

  const lock = (id: string, isAsync: boolean, useCredits = true) => {
    const deadline = new Date(Date.now() + 60_000)
    return {
      id,
      owner,
      amount: usdc(10n),
      useCredits,
      deadline,
      reference: null,
      durability: isAsync ? ('async' as const) : ('sync' as const),
    }
  }
  const capture = (hold: string) =>
    ({ hold, owner, amount: usdc(10n), shares: [], kind: 'capture', reference: null, announcements: [] }) as const

  test('alone, or among their like, they do not wait for the disk; the next statement does again', async () => {
    await Promise.all([ledger.reserve(lock('a', true)), ledger.reserve(lock('b', true))])
    expect(new Set(ran)).toEqual(new Set(['ledger_reserve_async']))
    const settings = await database.statements.run<{ source: string }>(
      `SELECT source FROM pg_settings WHERE name = 'synchronous_commit'`,
      [],
    )
    expect(settings[0]!.source).not.toBe('session')
  })

  test('with a lock that must be on the disk, in one statement or two', async () => {
    await Promise.all([ledger.reserve(lock('c', true)), ledger.reserve(lock('d2', false))])
    await Promise.all([ledger.reserve(lock('e', true)), ledger.reserve(lock('f', false, false))])
    expect(ran).not.toContain('ledger_reserve_async')
  })

  test('are not used beside a capture or inside a transaction', async () => {
    // While the first is under way the other two gather for the next.
    const first = ledger.reserve(lock('g1', false))
    await Promise.all([first, ledger.reserve(lock('g2', true)), ledger.capture(capture('a'))])
    await ledger.actTogether([{ reserve: lock('h', true) }], () => Promise.resolve())
    await database.statements.together((inside) => ledger.reserve(lock('i', true), inside))
    expect(ran).not.toContain('ledger_reserve_async')
    expect(await ledger.differences()).toEqual([])
  })
})
