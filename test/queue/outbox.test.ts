import type { Job } from '../../service/queue/model.ts'
import { createOutbox, outboxRows, type OutboxRows } from '../../service/queue/outbox.ts'
import { range } from './numbers.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'
import { Hands } from './tally.ts'

describe('the rows of the outbox', () => {
  let database: TestDatabase
  let rows: OutboxRows
  let clock: Hands

  beforeAll(async () => {
    database = await testDatabase()
    rows = outboxRows(database.statements)
  })

  beforeEach(async () => {
    await database.pool.query('TRUNCATE outbox RESTART IDENTITY')
    clock = new Hands()
  })

  afterAll(() => database.close())

  it('are leased oldest first, each to one relay, until the lease runs out', async () => {
    await announce('a', 5)
    const first = await lease(['a'], 3)
    expect(first.map(({ id }) => id).sort()).toEqual(['1', '2', '3'])
    expect(await lease(['a'], 3)).toEqual([])
    expect((await lease(['a'], 10)).map(({ id }) => id).sort()).toEqual(['4', '5'])
    clock.turn(2_999)
    expect(await lease(['a'], 10)).toEqual([])
    clock.turn(1)
    expect(await lease(['a'], 10)).toHaveLength(5)
  })

  it('are leased to one of several concurrent relays', async () => {
    await announce('a', 400)
    for (let round = 0; round < 50; round++) {
      const leased = (await Promise.all(range(8).map(() => lease(['a'], 400)))).flat().map(({ id }) => id)
      expect(new Set(leased).size).toBe(leased.length)
      clock.turn(3_000)
    }
  })

  it('are skipped while another relay is leasing them', async () => {
    await announce('a', 3)
    await database.another().transaction(async (transaction) => {
      const slow = await outboxRows(transaction).lease(['a'], leaseOf(2))
      expect(slow).toHaveLength(2)
      expect((await lease(['a'], 3)).map(({ id }) => id)).toEqual(['3'])
    })
  })

  it('are limited per topic, and an unknown topic stays', async () => {
    await announce('a', 50)
    await announce('b', 2)
    await announce('c', 1)
    const topics = (await lease(['a', 'b'], 10)).map(({ topic }) => topic)
    expect(topics.filter((topic) => topic === 'a')).toHaveLength(10)
    expect(topics.filter((topic) => topic === 'b')).toHaveLength(2)
    expect(topics).not.toContain('c')
  })

  it('are leased within milliseconds from a backlog without fresh statistics', async () => {
    await database.pool.query('ANALYZE outbox')
    await announce('a', 40_000)
    const started = performance.now()
    expect(await lease(['a'], 1_000)).toHaveLength(1_000)
    // 10 ms where it was measured; 6 s when each id reads the whole backlog.
    expect(performance.now() - started).toBeLessThan(3_000)
  })

  it('end once: a straggler of an earlier try neither ends nor postpones a later one', async () => {
    await announce('a', 1)
    const [job] = await lease(['a'], 1)
    if (job === undefined) throw new Error('nothing was leased')
    await rows.postpone([{ job, error: 'first', dueAt: clock.now() }], clock.now())
    await rows.acknowledge([job], clock.now())
    await rows.postpone([{ job, error: 'late', dueAt: null }], clock.now())
    expect((await rows.load(['1'])).get('1')).toMatchObject({ attempt: 1, open: true })
    await rows.acknowledge([{ id: '1', attempt: 1 }], clock.now())
    await rows.postpone([{ job: { id: '1', attempt: 1 }, error: 'too late', dueAt: null }], clock.now())
    expect((await rows.load(['1'])).get('1')).toMatchObject({ attempt: 1, open: false })
    expect((await rows.census(clock.now())).dead).toBe(0)
  })

  it('are not leased again by a renewal after their job has ended', async () => {
    await announce('a', 1)
    const [job] = await lease(['a'], 1)
    if (job === undefined) throw new Error('nothing was leased')
    await rows.postpone([{ job, error: 'first', dueAt: clock.now() }], clock.now())
    await renew([job])
    const [second] = await lease(['a'], 1)
    expect(second).toMatchObject({ attempt: 1 })
    if (second === undefined) return
    await rows.giveBack([second])
    await renew([second])
    expect(await lease(['a'], 1)).toEqual([second])
  })

  it('keep their lease when an earlier try renews it or gives it back', async () => {
    await announce('a', 1)
    const [job] = await lease(['a'], 1)
    if (job === undefined) throw new Error('nothing was leased')
    await rows.postpone([{ job, error: 'first', dueAt: clock.now() }], clock.now())
    await lease(['a'], 1)
    await rows.giveBack([job])
    expect(await lease(['a'], 1)).toEqual([])
    clock.turn(2_000)
    await renew([job])
    clock.turn(1_000)
    expect(await lease(['a'], 1)).toHaveLength(1)
  })

  it('keep their payload unchanged, including quotes and braces', async () => {
    const payload = { text: `"}{',\\ \n€ 🪙`, list: [1, null, { deep: true }], number: 0.1 }
    await createOutbox(clock).add(database.statements, [
      { topic: 'a', payload },
      { topic: 'a', payload: {} },
    ])
    const loaded = await rows.load(['1', '2', '3'])
    expect(loaded.get('1')).toEqual({ id: '1', topic: 'a', attempt: 0, payload, announcedAt: clock.now(), open: true })
    expect(loaded.get('2')?.payload).toEqual({})
    expect(loaded.has('3')).toBe(false)
  })

  it('report how late they are, and how many are dead', async () => {
    expect(await rows.census(clock.now())).toEqual({ oldestDue: null, oldestUnleased: null, dead: 0 })
    const first = clock.now()
    await announce('b', 1)
    clock.turn(5_000)
    const second = clock.now()
    await announce('a', 1)
    await createOutbox(clock).add(database.statements, [
      { topic: 'c', payload: {}, dueAt: new Date(clock.now().getTime() + 60_000) },
    ])
    clock.turn(1_000)
    expect(await rows.census(clock.now())).toEqual({ oldestDue: first, oldestUnleased: first, dead: 0 })
    const [job] = await lease(['b'], 1)
    expect(await rows.census(clock.now())).toEqual({ oldestDue: first, oldestUnleased: second, dead: 0 })
    if (job !== undefined) await rows.postpone([{ job, error: 'no', dueAt: null }], clock.now())
    expect(await rows.census(clock.now())).toEqual({ oldestDue: second, oldestUnleased: second, dead: 1 })
  })

  it('are pruned when they have been done for long, the dead and the open ones never', async () => {
    await announce('a', 3)
    const [done, dead] = (await lease(['a'], 2)).sort((a, b) => Number(a.id) - Number(b.id))
    if (done === undefined || dead === undefined) throw new Error('nothing was leased')
    await rows.acknowledge([done], clock.now())
    await rows.postpone([{ job: dead, error: 'no', dueAt: null }], clock.now())
    expect(await rows.prune(clock.now())).toBe(0)
    clock.turn(1)
    expect(await rows.prune(clock.now())).toBe(1)
    expect([...(await rows.load(['1', '2', '3'])).keys()].sort()).toEqual(['2', '3'])
  })

  async function announce(topic: string, count: number): Promise<void> {
    await createOutbox(clock).add(
      database.statements,
      range(count).map((n) => ({ topic, payload: { n } })),
    )
  }

  function renew(jobs: Job[]): Promise<void> {
    return rows.renew(jobs, new Date(clock.now().getTime() + 3_000))
  }

  function leaseOf(window: number) {
    const now = clock.now()
    return { window, now, until: new Date(now.getTime() + 3_000) }
  }

  function lease(topics: string[], window: number) {
    return rows.lease(topics, leaseOf(window))
  }
})
