import { createOutbox, outboxRows, type OutboxRows } from '../../service/queue/outbox.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'
import { Hands } from './tally.ts'

/** A topic without a limit for a target. */
const MAILS = { topic: 'mails', turns: { perAccount: 1 } }

describe('accounts take turns in a topic', () => {
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

  const announce = (account: string, count: number, target = '', topic = 'runs') =>
    createOutbox(clock).add(
      database.statements,
      Array.from({ length: count }, () => ({ topic, payload: { account }, turn: { account, target } })),
    )
  const lease = async (window = 1_000, perAccount = 8, perTarget = 16) => {
    const until = new Date(clock.now().getTime() + 3_000)
    const topics = [{ topic: 'runs', turns: { perAccount, perTarget } }, MAILS]
    const jobs = await rows.leaseInTurns(topics, { window, now: clock.now(), until })
    const loaded = await rows.load(jobs.map(({ id }) => id))
    return jobs.map((job) => ({ ...job, account: loaded.get(job.id)?.payload['account'] as string }))
  }
  const tally = (jobs: readonly { account: string }[]) => {
    const counts: Record<string, number> = {}
    for (const { account } of jobs) counts[account] = (counts[account] ?? 0) + 1
    return counts
  }

  it('so that 200 hanging runs of one leave the first turn to a later account', async () => {
    await announce('hostile', 200)
    await announce('honest', 3)
    const first = await lease()
    expect(tally(first)).toEqual({ hostile: 8, honest: 3 })
    expect(await lease()).toEqual([])
    // When one of the hostile account's runs ends, only its own next run takes that slot, no other account's.
    await rows.acknowledge(first.filter(({ account }) => account === 'hostile').slice(0, 1), clock.now())
    await announce('late', 20)
    expect(tally(await lease())).toEqual({ hostile: 1, late: 8 })
  })

  it('and what waits for its own account, its target or the window is no lag of the queue', async () => {
    const since = clock.now()
    const lag = async () => (await rows.census(clock.now())).oldestUnleased
    await announce('slow', 9)
    await announce('payer', 1, 'busy creator')
    expect(await lag()).toEqual(since)
    await lease()
    await announce('other payer', 1, 'busy creator')
    await announce('', 1_001, '', 'plain')
    const until = new Date(since.getTime() + 3_000)
    expect(await rows.lease(['plain'], { window: 1_000, now: clock.now(), until })).toHaveLength(1_000)
    clock.turn(1_000)
    expect(await lag()).toBeNull()
    const later = clock.now()
    await announce('other', 1)
    expect(await lag()).toEqual(later)
    // Nobody renews: the relay and its workers are gone.
    clock.turn(5_000)
    expect(await lag()).toEqual(since)
  })

  it('and what waits behind more rows of one account than a lease considers is a lag of the queue', async () => {
    const lag = async () => (await rows.census(clock.now())).oldestUnleased
    await announce('busy', 1_100)
    await announce('busy', 1_100, '', MAILS.topic)
    await lease()
    clock.turn(1_000)
    expect(await lag()).toBeNull()
    const later = clock.now()
    await announce('other', 1)
    expect(await lag()).toEqual(later)
    await lease()
    clock.turn(1_000)
    expect(await lag()).toBeNull()
    const last = clock.now()
    await announce('zealous', 1, '', MAILS.topic)
    expect(await lag()).toEqual(last)
  })

  it('and what waits while as many accounts as fit have their turn is none', async () => {
    for (let n = 0; n < 1_010; n++) await announce(`payer ${String(n)}`, 1)
    expect(await lease()).toHaveLength(1_000)
    clock.turn(1_000)
    expect((await rows.census(clock.now())).oldestUnleased).toBeNull()
  })

  it('also where there is room for fewer than wait', async () => {
    await announce('hostile', 50)
    for (const account of ['a', 'b', 'c']) await announce(account, 2)
    expect(tally(await lease(4))).toEqual({ hostile: 1, a: 1, b: 1, c: 1 })
  })

  it('each topic by its own limits, also where the same accounts wait in both', async () => {
    for (const account of ['hostile', 'honest']) {
      await announce(account, 20)
      await announce(account, 20, '', MAILS.topic)
    }
    const jobs = await lease(12)
    const of = (topic: string) => tally(jobs.filter((job) => job.topic === topic))
    expect([of('runs'), of(MAILS.topic)]).toEqual([
      { hostile: 6, honest: 6 },
      { hostile: 1, honest: 1 },
    ])
    await announce('late', 20)
    await announce('late', 20, '', MAILS.topic)
    expect((await lease(12)).map(({ topic, account }) => [topic, account])).toEqual([[MAILS.topic, 'late']])
  })

  it('and many accounts do not fill one target, nor one account another target', async () => {
    for (let n = 0; n < 10; n++) await announce(`payer ${String(n)}`, 8, 'busy creator')
    await announce('honest', 8, 'quiet creator')
    const jobs = await lease()
    expect(jobs).toHaveLength(16 + 8)
    expect(tally(jobs)['honest']).toBe(8)
    expect(Math.max(...Object.values(tally(jobs.filter(({ account }) => account !== 'honest'))))).toBeLessThanOrEqual(2)
  })

  it('and concurrent relays do not exceed an account’s slots', async () => {
    await announce('one', 100)
    await announce('two', 100)
    const leased = (await Promise.all(Array.from({ length: 12 }, () => lease()))).flat()
    expect(tally(leased)).toEqual({ one: 8, two: 8 })
    expect(new Set(leased.map(({ id }) => id)).size).toBe(16)
  })

  describe('where thousands of accounts wait for later', () => {
    /** How many pages a statement reads. */
    async function pagesRead(ask: (explained: OutboxRows) => Promise<unknown>): Promise<number> {
      let pages = 0
      const explained = outboxRows({
        async run<Row>(text: string, values: readonly unknown[]): Promise<Row[]> {
          const explain = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`
          const { rows: plans } = await database.pool.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(explain, [...values])
          const [{ Plan: plan }] = plans[0]!['QUERY PLAN']
          pages = plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
          return []
        },
      })
      await ask(explained)
      return pages
    }
    const leasing = (window: number) => (explained: OutboxRows) =>
      explained.leaseInTurns([MAILS], { window, now: clock.now(), until: new Date(clock.now().getTime() + 3_000) })

    beforeEach(async () => {
      const later = new Date(clock.now().getTime() + 60_000)
      await database.pool.query(
        `INSERT INTO outbox (topic, payload, due_at, created_at, account)
         SELECT 'mails', '{}', $1, $2, 'seller ' || account FROM generate_series(1, 10000) AS account`,
        [later, clock.now()],
      )
      await database.pool.query('ANALYZE outbox')
    })

    it('a lease reads only what is due', async () => {
      await announce('seller 7', 3, '', MAILS.topic)
      await announce('seller 8', 3, '', MAILS.topic)
      expect(await pagesRead(leasing(1_000))).toBeLessThan(100)
    })

    it('a lease looks once at each account where more is due than fits into it', async () => {
      await announce('seller 7', 20, '', MAILS.topic)
      await announce('seller 8', 3, '', MAILS.topic)
      expect(await pagesRead(leasing(10))).toBeLessThan(4 * 10_000)
    })

    it('the lag is read from the first rows of each account', async () => {
      await database.pool.query(
        `INSERT INTO outbox (topic, payload, due_at, created_at, account, leased_until)
         SELECT 'mails', '{}', $1, $1, 'busy', CASE WHEN n = 1 THEN $2::timestamptz END FROM generate_series(1, 30000) AS n`,
        [clock.now(), new Date(clock.now().getTime() + 3_000)],
      )
      const census = (explained: OutboxRows) => explained.census(clock.now())
      expect(await pagesRead(census)).toBeLessThan(8 * 10_000)
      expect((await rows.census(clock.now())).oldestUnleased).toBeNull()
    })
  })

  it('a lease that ran out is taken again, before anything newer', async () => {
    await announce('one', 20)
    const first = (await lease()).map(({ id }) => id).sort()
    clock.turn(3_000)
    expect((await lease()).map(({ id }) => id).sort()).toEqual(first)
  })
})

interface Plan {
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
}
