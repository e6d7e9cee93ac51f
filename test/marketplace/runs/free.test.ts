import { createFreeRuns } from '../../../service/marketplace/store/runs/free.ts'
import { testDatabase, type TestDatabase } from '../../harness/database.ts'

describe('the daily allowance of free prompts', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await testDatabase()
  })
  afterAll(() => database.close())

  const now = new Date('2031-05-17T23:00:00Z')
  const creator = { userId: 'usr_creator', environment: 'production' as const }

  test('is limited per caller and in total, also for concurrent calls, and flagged once per day', async () => {
    const free = createFreeRuns(database.statements, { perDay: 25, perCaller: 10 })
    const refusals = await Promise.all(
      Array.from({ length: 120 }, (_, n) => free.take({ creator, caller: `usr_${String(n % 4)}`, own: null }, now)),
    )
    expect(refusals.filter((refusal) => refusal === null)).toHaveLength(25)
    const refused = refusals.flatMap((refusal) => (refusal === null ? [] : [refusal]))
    expect(new Set(refused.map(({ resetsAt }) => resetsAt.toISOString()))).toEqual(
      new Set(['2031-05-18T00:00:00.000Z']),
    )
    expect(refused.filter(({ first }) => first)).toHaveLength(1)
    const rows = await database.statements.run<{ used: number }>(`SELECT used FROM run_free WHERE caller <> ''`, [])
    expect(Math.max(...rows.map(({ used }) => used))).toBeLessThanOrEqual(10)
    expect(rows.reduce((sum, { used }) => sum + used, 0)).toBe(25)
    const of = (caller: string) => ({ creator, caller, own: null })
    await free.giveBack(of('usr_0'), now)
    expect(await free.take(of('usr_new'), now)).toBeNull()
    expect(await free.take(of('usr_new'), now)).toMatchObject({ of: 'day', first: false })
    expect(await free.take({ ...of('usr_0'), creator: { ...creator, environment: 'sandbox' } }, now)).toBeNull()
    expect(await free.take(of('usr_0'), new Date('2031-05-18T00:00:00Z'))).toBeNull()
  })

  test('of an asset with its own limit is counted separately, except per caller', async () => {
    const free = createFreeRuns(database.statements, { perDay: 1, perCaller: 4 })
    const day = new Date('2031-06-01T12:00:00Z')
    const of = (caller: string, perDay: number) => ({ creator, caller, own: { rda: 'rda_own' as const, perDay } })
    const refusals = await Promise.all(Array.from({ length: 20 }, (_, n) => free.take(of(`usr_${String(n)}`, 3), day)))
    expect(refusals.filter((refusal) => refusal === null)).toHaveLength(3)
    expect(refusals.filter((refusal) => refusal?.of === 'asset' && refusal.first)).toHaveLength(1)
    const others = { creator, caller: 'usr_0', own: null }
    expect(await free.take(others, day)).toBeNull()
    expect(await free.take(others, day)).toMatchObject({ of: 'day' })
    await free.giveBack(of('usr_0', 3), day)
    expect(await free.take(of('usr_new', 3), day)).toBeNull()
    expect(await free.take(of('usr_new', 3), day)).toMatchObject({ of: 'asset', first: false })
    // With a higher limit there are more free runs; with a limit of zero, there are none.
    expect(await free.take(of('usr_new', 10), day)).toBeNull()
    expect(await free.take(of('usr_other', 0), day)).toMatchObject({ of: 'asset' })
    for (const left of [2, 1]) expect([left, await free.take(of('usr_new', 10), day)]).toEqual([left, null])
    expect(await free.take(of('usr_new', 10), day)).toMatchObject({ of: 'caller' })
  })
})
