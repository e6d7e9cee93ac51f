import { PACE, type Job } from '../../service/queue/model.ts'
import { createOutbox, outboxRows } from '../../service/queue/outbox.ts'
import { createRelay, type Relay } from '../../service/queue/relay.ts'
import { createRunner, type Runner } from '../../service/queue/runner.ts'
import { door, numbers } from './numbers.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'
import { Hands, quiet, Tally } from './tally.ts'

/** One relay, tick by tick, over a backend that the test plays: it may accept a job, lose it or be unavailable. */
describe('the relay', () => {
  let database: TestDatabase
  let clock: Hands
  let pushed: Job[]
  let up: boolean
  let looks: number
  let gate: { opened: Promise<void>; open: () => void }
  let calls: number
  let tally: Tally
  let runner: Runner
  let relay: Relay

  beforeAll(async () => {
    database = await testDatabase()
  })

  beforeEach(async () => {
    await database.pool.query('TRUNCATE outbox')
    clock = new Hands()
    pushed = []
    up = true
    looks = 0
    gate = door()
    calls = 0
    tally = new Tally()
    const parts = { rows: outboxRows(database.statements), clock, log: quiet, measures: tally }
    const slow = numbers(async () => {
      calls++
      await gate.opened
    })
    runner = createRunner({ ...parts, topics: [slow], onEnd: () => undefined })
    relay = createRelay({
      ...parts,
      topics: [{ topic: 'numbers', turns: null }],
      // So long that what is found by the poll alone fails its test.
      pace: { ...PACE, pollMs: 3_600_000 },
      running: () => runner.running(),
      backend: {
        kind: 'redis',
        up: () => {
          looks++
          tally.look()
          return up
        },
        push: (_topic, jobs) => {
          pushed.push(...jobs)
          return Promise.resolve()
        },
      },
    })
    await createOutbox(clock).add(database.statements, [{ topic: 'numbers', payload: { n: 1 } }])
  })

  afterAll(() => database.close())

  it('pushes a row again under the same name when it was not ended in time', async () => {
    expect(await relay.tick()).toBe(1)
    expect(await relay.tick()).toBe(0)
    clock.turn(PACE.leaseMs)
    expect(await relay.tick()).toBe(1)
    expect(pushed[1]).toEqual(pushed[0])
  })

  it('renews the lease of a running handler, however long it takes', async () => {
    await relay.tick()
    const handled = runner.handle(started())
    for (let turn = 0; turn < 5; turn++) {
      clock.turn(2_000)
      expect(await relay.tick()).toBe(0)
    }
    gate.open()
    await handled
    clock.turn(60_000)
    expect(await relay.tick()).toBe(0)
  })

  it('does not renew for a handler that ended with its process', async () => {
    await relay.tick()
    void runner.handle(started())
    clock.turn(2_000)
    await relay.tick()
    runner.running = () => []
    clock.turn(PACE.leaseMs)
    expect(await relay.tick()).toBe(1)
    gate.open()
  })

  it('leases nothing while the backend is away', async () => {
    up = false
    await expect(relay.tick()).rejects.toThrow('does not answer')
    up = true
    expect(await relay.tick()).toBe(1)
  })

  it('leases nothing after it was retired', async () => {
    relay.retire()
    expect(await relay.tick()).toBe(0)
    expect(pushed).toEqual([])
  })

  it('runs one job twice at the same time only once', async () => {
    await relay.tick()
    const both = [runner.handle(started()), runner.handle(started())]
    gate.open()
    await Promise.all(both)
    await runner.handle(started())
    expect(calls).toBe(1)
  })

  it('counts a row that keeps taking its process down as failed', async () => {
    await relay.tick()
    await runner.handle({ ...started(), crashes: 3 })
    expect(calls).toBe(0)
    const { rows } = await database.pool.query<{ attempt: number; last_error: string }>(
      'SELECT attempt, last_error FROM outbox',
    )
    expect(rows).toEqual([{ attempt: 1, last_error: '3 processes ended while handling it' }])
  })

  it('returns a row at once that arrives after the runner began to drain', async () => {
    await relay.tick()
    await runner.drain()
    await runner.handle(started())
    expect(calls).toBe(0)
    expect(await relay.tick()).toBe(1)
  })

  it('finds without a poll a row announced before its commit', async () => {
    relay.start()
    await tally.until(() => pushed.length === 1)
    const outbox = createOutbox(clock, () => {
      relay.expect()
    })
    await database.transaction(async (transaction) => {
      await outbox.add(transaction, [{ topic: 'numbers', payload: { n: 2 } }])
      const looked = looks
      // The second one begins when the first has found nothing.
      await tally.until(() => looks >= looked + 2)
    })
    await tally.until(() => pushed.length === 2)
    await relay.stop()
  })

  it('does not look for rows that are not due yet', async () => {
    let wakes = 0
    const outbox = createOutbox(clock, () => wakes++)
    const dueAt = new Date(clock.now().getTime() + 1)
    await outbox.add(database.statements, [{ topic: 'numbers', payload: { n: 2 }, dueAt }])
    expect(wakes).toBe(0)
    await outbox.add(database.statements, [
      { topic: 'numbers', payload: { n: 3 }, dueAt },
      { topic: 'numbers', payload: { n: 4 } },
    ])
    expect(wakes).toBe(1)
  })

  function started() {
    const [job] = pushed
    if (job === undefined) throw new Error('nothing was pushed')
    return { ...job, crashes: 0 }
  }
})
