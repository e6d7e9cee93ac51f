import fc from 'fast-check'
import { createLedger, type Ledger } from '../../service/ledger/service.ts'
import { createLedgerStore } from '../../service/ledger/store/ledger.ts'
import { systemClock } from '../../service/kit/clock.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'
import { generator } from '../harness/random.ts'
import { crashing } from './crashes.ts'
import { history, type Step } from './history.ts'
import { Person } from './perform.ts'

/** `npm run prove -- histories` has ten thousand of them. */
const HISTORIES = Number(process.env['HISTORIES'] ?? 1_000)
const TOGETHER = 200
const CRASH_RATE = 0.03

describe('any history of deposits, locks, captures, releases, transfers and crashes', () => {
  let database: TestDatabase
  let ledger: Ledger
  let statements: ReturnType<typeof crashing>
  let people = 0
  const random = generator(Number(process.env['SEED'] ?? 20_261_120))

  beforeAll(async () => {
    database = await testDatabase()
    statements = crashing(database.pool, CRASH_RATE, random)
    ledger = createLedger(createLedgerStore(statements, systemClock), systemClock)
  })

  afterAll(async () => {
    await database.close()
  })

  test('leaves every figure as acknowledged, and equal to the sum of its postings', async () => {
    await fc.assert(fc.asyncProperty(fc.array(history, { minLength: TOGETHER, maxLength: TOGETHER }), actTogether), {
      numRuns: HISTORIES / TOGETHER,
      endOnFailure: true,
      seed: Number(process.env['SEED'] ?? 20_261_120),
    })
    expect(people).toBe(HISTORIES)
    expect(statements.crashes).toBeGreaterThan(HISTORIES / 10)
    const calm = createLedgerStore(database.statements, systemClock)
    expect(await calm.differences()).toEqual([])
  }, 240_000)

  /** Two hundred people at once, so that their commands share statements and their crashes hit each other. */
  async function actTogether(histories: Step[][]): Promise<void> {
    const calm = createLedger(createLedgerStore(database.statements, systemClock), systemClock)
    await Promise.all(
      histories.map(async (steps) => {
        const userId = `usr_p${String(people++)}`
        await calm.openAccounts(userId)
        await calm.openAccounts(`${userId}r`)
        const owner = { userId, environment: 'sandbox' as const }
        const person = new Person(ledger, owner, `${userId}r`, (ids) => expireNow(database, ids))
        await person.act(steps)
        expect(person.problems).toEqual([])
        const { funds, locks } = (await calm.wallet(owner)) ?? fail()
        expect(funds).toEqual(person.oracle.wallet)
        expect(await calm.credits(owner)).toEqual(person.oracle.credits)
        const open = person.oracle.locks.filter((lock) => lock.open)
        expect(locks).toEqual(
          open.map(({ id, amount, fromCredits }) => ({ id, amount: amount - fromCredits })).sort(byId),
        )
      }),
    )
  }
})

/** Lets the deadline of just these locks pass, then sweeps as the worker does. */
async function expireNow(database: TestDatabase, ids: readonly string[]): Promise<void> {
  const past = new Date('2000-01-01T00:00:00.000Z')
  await database.statements.run('UPDATE ledger_hold SET deadline = $2 WHERE id = ANY ($1::text[])', [ids, past])
  const store = createLedgerStore(database.statements, systemClock)
  while ((await store.expire(new Date('2001-01-01T00:00:00.000Z'), 500)).length > 0);
  // Another person's sweep may hold some of these rows just now; it ends them all the same.
  const left = () =>
    database.statements.run("SELECT 1 FROM ledger_hold WHERE id = ANY ($1::text[]) AND state = 'open' FOR UPDATE", [
      ids,
    ])
  while ((await left()).length > 0) await store.expire(new Date('2001-01-01T00:00:00.000Z'), 500)
}

function byId(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : 1
}

function fail(): never {
  throw new Error('the wallet is gone')
}
