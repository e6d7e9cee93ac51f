import type { Log } from '../../service/kit/log.ts'
import type { BackendAddress } from '../../service/queue/backends/backend.ts'
import { openBackend } from '../../service/queue/queue.ts'
import { PACE, type Pace, type Sweeper, type Topic } from '../../service/queue/model.ts'
import { createOutbox } from '../../service/queue/outbox.ts'
import { createQueue, type Queue } from '../../service/queue/queue.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'
import { numbers, range, door } from './numbers.ts'
import { hasRedis, startRedis, type RedisServer } from './redis.ts'
import { Hands, Listener, quiet, Tally } from './tally.ts'

const backends = hasRedis() ? (['redis', 'postgres'] as const) : (['postgres'] as const)
if (!hasRedis()) process.stderr.write('redis-server is not installed: the queue is tested on PostgreSQL only\n')

describe.each(backends)('the queue on %s', (kind) => {
  let database: TestDatabase
  let redis: RedisServer | null = null
  let clock: Hands
  let tally: Tally
  const queues: Queue[] = []

  beforeAll(async () => {
    database = await testDatabase()
    if (kind === 'redis') redis = await startRedis()
  })

  beforeEach(async () => {
    await database.pool.query('TRUNCATE outbox, lease')
    clock = new Hands()
    tally = new Tally()
  })

  afterEach(async () => {
    await Promise.all(queues.splice(0).map((queue) => queue.stop(1_000)))
  })

  afterAll(async () => {
    await redis?.close()
    await database.close()
  })

  it('handles each row once', async () => {
    const handled: number[] = []
    const queue = await started([numbers((n) => void handled.push(n))])
    await announce(range(500), queue)
    await tally.reached('done', 500)
    expect(handled.sort((a, b) => a - b)).toEqual(range(500))
    expect(await states()).toEqual({ done: 500 })
  })

  it('handles nothing of a transaction that was rolled back', async () => {
    const handled: number[] = []
    const queue = await started([numbers((n) => void handled.push(n))])
    const change = database.transaction(async (transaction) => {
      await createOutbox(clock).add(transaction, [{ topic: 'numbers', payload: { n: 1 } }])
      throw new Error('changed my mind')
    })
    await expect(change).rejects.toThrow('changed my mind')
    await announce([2], queue)
    await tally.reached('done', 1)
    expect(handled).toEqual([2])
  })

  it('keeps a row until it is due', async () => {
    const handled: number[] = []
    const queue = await started([numbers((n) => void handled.push(n))])
    const dueAt = new Date(clock.now().getTime() + 60_000)
    await createOutbox(clock).add(database.statements, [{ topic: 'numbers', payload: { n: 1 }, dueAt }])
    await announce([2], queue)
    await tally.reached('done', 1)
    expect(handled).toEqual([2])
    clock.turn(60_000)
    queue.wake()
    await tally.reached('done', 2)
    expect(handled).toEqual([2, 1])
  })

  it('tries again what failed, under the same id and by its schedule', async () => {
    const tries: { id: string; attempt: number }[] = []
    const queue = await started([
      numbers(
        (_, context) => {
          tries.push({ id: context.id, attempt: context.attempt })
          if (context.attempt < 2) throw new Error('not yet')
        },
        { retryDelaysMs: [1_000, 10_000] },
      ),
    ])
    await announce([1], queue)
    await tally.reached('retry', 1)
    const [first] = await rows()
    expect(first).toMatchObject({ attempt: 1, last_error: 'not yet', done_at: null })
    expect(waitOf(first)).toBeGreaterThanOrEqual(1_000)
    expect(waitOf(first)).toBeLessThanOrEqual(1_200)

    clock.turn(1_200)
    queue.wake()
    await tally.reached('retry', 2)
    clock.turn(12_000)
    queue.wake()
    await tally.reached('done', 1)
    expect(tries.map(({ attempt }) => attempt)).toEqual([0, 1, 2])
    expect(new Set(tries.map(({ id }) => id)).size).toBe(1)
  })

  it('keeps what failed to the end of its schedule as dead, with its error', async () => {
    const queue = await started([
      numbers(
        () => {
          throw new Error('never')
        },
        { retryDelaysMs: [10] },
      ),
    ])
    await announce([7], queue)
    await tally.reached('retry', 1)
    clock.turn(20)
    queue.wake()
    await tally.reached('dead', 1)
    expect(await rows()).toMatchObject([{ attempt: 2, last_error: 'never', done_at: null, payload: { n: 7 } }])
    expect(await queue.health()).toEqual({ backend: kind, lagSeconds: 0, oldestDueSeconds: 0, dead: 1 })
  })

  it('counts a payload that its topic cannot read, and a handler out of time, as failures', async () => {
    const queue = await started([
      numbers(() => undefined, { retryDelaysMs: [] }),
      numbers(
        (_n, { signal }) =>
          new Promise<void>((resolve) =>
            signal.addEventListener('abort', () => {
              resolve()
            }),
          ),
        {
          topic: 'slow',
          timeoutMs: 20,
          retryDelaysMs: [],
        },
      ),
    ])
    await createOutbox(clock).add(database.statements, [
      { topic: 'numbers', payload: { n: 'one' } },
      { topic: 'slow', payload: { n: 1 } },
    ])
    queue.wake()
    await tally.reached('dead', 2)
    const errors = (await rows()).map(({ last_error }) => last_error)
    expect(errors[0]).toContain('expected number')
    expect(errors[1]).toBe('took longer than 20 ms')
  })

  it('shares the rows between two processes without handling one twice', async () => {
    const handled: number[] = []
    const topics = [numbers((n) => void handled.push(n))]
    const [one] = await Promise.all([started(topics), started(topics)])
    await announce(range(2_000), one)
    await tally.reached('done', 2_000)
    // The clock stands still, so no lease has run out: a job that arrives twice was handed out twice.
    expect(handled.sort((a, b) => a - b)).toEqual(range(2_000))
  })

  it('never exceeds its concurrency, and a busy topic does not delay another', async () => {
    let atWork = 0
    let most = 0
    const gate = door()
    const queue = await started([
      numbers(
        async () => {
          most = Math.max(most, ++atWork)
          tally.look()
          await gate.opened
          atWork--
        },
        { topic: 'slow', concurrency: 3 },
      ),
      numbers(() => undefined),
    ])
    await announce(range(20), queue, 'slow')
    await announce(range(20), queue)
    await tally.reached('done', 20)
    await tally.until(() => atWork === 3)
    gate.open()
    await tally.reached('done', 40)
    expect(most).toBe(3)
  })

  it('loses nothing when the backend is emptied in the middle', async () => {
    const handled = new Set<number>()
    const empties: Promise<void>[] = []
    const queue = await started([
      numbers((n) => {
        handled.add(n)
        if (handled.size === 400 || handled.size === 1_200) empties.push(empty())
      }),
    ])
    await announce(range(2_000), queue)
    await tally.until(() => empties.length === 1)
    await empties[0]
    const second = tally.until(() => empties.length === 2)
    // Jobs that were leased then are lost to the backend, and come again when the lease has run out.
    clock.turn(3_000)
    queue.wake()
    await second
    await empties[1]
    clock.turn(3_000)
    queue.wake()
    await tally.until(() => handled.size === 2_000)
    await queue.stop()
    expect(await states()).toEqual({ done: 2_000 })
  })

  it('pushes after all what its backend refused at the very first push', async () => {
    const log = new Listener()
    const queue = await started([numbers(() => undefined)], [], { log, pace: { commandMs: 500 } })
    const refused = log.waitFor('the queue is down')
    const mend = await fault()
    await announce([1], queue)
    await refused
    await mend()
    clock.turn(3_000)
    queue.wake()
    await tally.reached('done', 1)
  })

  it('stops only when the handlers that run have ended, and starts none meanwhile', async () => {
    const gate = door()
    let begun = 0
    const queue = await started([
      numbers(
        async () => {
          begun++
          tally.look()
          await gate.opened
        },
        { concurrency: 4 },
      ),
    ])
    await announce(range(10), queue)
    await tally.until(() => begun === 4)
    const stopped = queue.stop()
    gate.open()
    await stopped
    expect(begun).toBe(4)
    expect(await states()).toEqual({ done: 4, open: 6 })
  })

  it('returns unfinished rows at the deadline', async () => {
    let begun = false
    const queue = await started([
      numbers(() => {
        begun = true
        tally.look()
        return new Promise(() => undefined)
      }),
    ])
    await announce([1], queue)
    await tally.until(() => begun)
    await queue.stop(50)
    expect(await rows()).toMatchObject([{ attempt: 0, done_at: null, failed_at: null }])
    const next = await started([numbers(() => undefined)])
    next.wake()
    await tally.reached('done', 1)
  })

  if (kind === 'redis') {
    it('recovers by itself after an outage of Redis, and sweeps in the meantime', async () => {
      await redis?.kill()
      const handled: number[] = []
      let sweeps = 0
      const sweeper: Sweeper = {
        name: 'broom',
        everyMs: 1,
        run: async () => {
          sweeps++
          tally.look()
        },
      }
      const queue = await started([numbers((n) => void handled.push(n))], [sweeper])
      await announce(range(50), queue)
      await tally.until(() => sweeps > 0)
      clock.turn(9_000)
      expect(await queue.health()).toEqual({ backend: 'redis', lagSeconds: 9, oldestDueSeconds: 9, dead: 0 })
      await redis?.revive()
      await tally.reached('done', 50)
      expect(handled.length).toBe(50)
    })
  }

  if (kind === 'postgres') {
    it('starts no worker that the server does not answer', async () => {
      const { statements } = database
      const parts = { statements, clock, log: quiet, pace: PACE, onUp: () => undefined }
      const backend = await openBackend({ kind: 'postgres', connectionString: database.url }, parts)
      const mend = await fault()
      await expect(backend.work('numbers', 1, () => Promise.resolve())).rejects.toThrow('bullmq')
      await mend()
      await backend.close()
    })

    it('pauses between queries to a failing server, with work waiting, and continues afterwards', async () => {
      const { statements } = database
      const log = new Listener()
      // Each complaint comes ten seconds after the last, so all are logged.
      const hasty = { now: () => (clock.turn(10_000), clock.now()) }
      const parts = { statements, clock: hasty, log, pace: PACE, onUp: () => undefined }
      const backend = await openBackend({ kind: 'postgres', connectionString: database.url }, parts)
      let handled = 0
      const gate = door()
      await backend.work('numbers', 1, async () => {
        handled++
        tally.look()
        await gate.opened
      })
      const jobs = range(20).map((n) => ({ id: String(n + 1), attempt: 0 }))
      await backend.push('numbers', jobs)
      await tally.until(() => handled === 1)
      const mend = await fault()
      const began = performance.now() // eslint-disable-line house/steady-tests -- See below.
      gate.open()
      await log.waitFor('the backend of the queue reported an error', 8)
      // eslint-disable-next-line house/steady-tests -- At least so long: a slow machine only makes it longer.
      expect(performance.now() - began).toBeGreaterThan(400)
      await mend()
      await tally.until(() => handled >= 20)
      await backend.close()
    })

    it('listens for all topics on one connection, and on the next one when it is cut off', async () => {
      const { statements } = database
      const parts = { statements, clock, log: quiet, pace: PACE, onUp: () => undefined }
      const backend = await openBackend({ kind: 'postgres', connectionString: database.url }, parts)
      const handled: string[] = []
      const topics = range(12).map((n) => `topic-${String(n)}`)
      for (const topic of topics)
        await backend.work(topic, 1, ({ id }) => {
          handled.push(`${topic} ${id}`)
          tally.look()
          return Promise.resolve()
        })
      for (const round of ['1', '2', '3']) {
        handled.length = 0
        await listening(1)
        for (const topic of topics) await backend.push(topic, [{ id: round, attempt: 0 }])
        await tally.until(() => handled.length === topics.length)
        expect(handled.sort()).toEqual(topics.map((topic) => `${topic} ${round}`).sort())
        const cut =
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = $1 AND datname = current_database()'
        await database.pool.query(cut, [LISTEN])
      }
      await backend.close()
      await listening(0)
    })
  }

  async function started(
    topics: readonly Topic[],
    sweepers: readonly Sweeper[] = [],
    { log = quiet, pace = {} }: { log?: Log; pace?: Partial<Pace> } = {},
  ): Promise<Queue> {
    const address: BackendAddress =
      redis === null ? { kind: 'postgres', connectionString: database.url } : { kind: 'redis', url: redis.url }
    const { statements } = database
    const queue = createQueue({ statements, clock, log, pace, backend: address, topics, sweepers, measures: tally })
    queues.push(queue)
    await queue.start()
    return queue
  }

  /** Waits until so many connections listen; BullMQ listens in its own time. */
  async function listening(expected: number): Promise<void> {
    const count = `SELECT count(*)::int AS count FROM pg_stat_activity WHERE query = $1 AND datname = current_database()`
    for (const deadline = Date.now() + 20_000; ;) {
      const { rows } = await database.pool.query<{ count: number }>(count, [LISTEN])
      if (rows[0]?.count === expected) return
      if (Date.now() > deadline) throw new Error(`${String(rows[0]?.count)} connections listen`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  async function announce(list: readonly number[], queue: Queue, topic = 'numbers'): Promise<void> {
    await createOutbox(clock).add(
      database.statements,
      list.map((n) => ({ topic, payload: { n } })),
    )
    queue.wake()
  }

  async function empty(): Promise<void> {
    if (redis === null) await database.pool.query('TRUNCATE bullmq.job CASCADE')
    else await redis.flush()
  }

  /** Stops the backend's responses; the returned function restores them. */
  async function fault(): Promise<() => Promise<void>> {
    if (redis !== null) {
      redis.freeze()
      return async () => redis?.thaw()
    }
    await database.pool.query('ALTER SCHEMA bullmq RENAME TO elsewhere')
    return async () => {
      await database.pool.query('ALTER SCHEMA elsewhere RENAME TO bullmq')
    }
  }

  async function rows(): Promise<Record<string, unknown>[]> {
    return (await database.pool.query<Record<string, unknown>>('SELECT * FROM outbox ORDER BY id')).rows
  }

  async function states(): Promise<Record<string, number>> {
    const counts: Record<string, number> = {}
    for (const row of await rows()) {
      const state = row['done_at'] !== null ? 'done' : row['failed_at'] !== null ? 'dead' : 'open'
      counts[state] = (counts[state] ?? 0) + 1
    }
    return counts
  }

  function waitOf(row: Record<string, unknown> | undefined): number {
    return (row!['due_at'] as Date).getTime() - clock.now().getTime()
  }
})

const LISTEN = 'LISTEN bullmq_jobs;'
