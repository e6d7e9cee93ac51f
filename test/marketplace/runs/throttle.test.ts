import { once } from 'node:events'
import { Redis } from 'ioredis'
import type { Id } from '../../../service/kit/ids.ts'
import type { CallTurn } from '../../../service/marketplace/ports/run.ts'
import { createThrottle } from '../../../service/marketplace/store/runs/throttle.ts'
import { TestClock } from '../../harness/clock.ts'
import { testDatabase, type TestDatabase } from '../../harness/database.ts'
import { hasRedis, startRedis } from '../../queue/redis.ts'

describe("a tool's calls a minute", () => {
  let database: TestDatabase
  const clock = new TestClock()
  /** Half of them each. */
  const call = (n: number, name = 'rda_limited') => ({ rdaId: name as Id<'rda'>, userId: `usr_${String(n % 2)}` })

  /** Null where there was room. */
  const waitOf = async (turn: Promise<CallTurn>): Promise<number | null> => {
    const taken = await turn
    return 'waitSeconds' in taken ? taken.waitSeconds : null
  }
  const giveBack = async (turn: CallTurn): Promise<void> => {
    if ('waitSeconds' in turn) throw new Error('no call was counted')
    await turn.giveBack()
  }

  beforeAll(async () => {
    database = await testDatabase()
  })
  afterAll(async () => {
    await database.close()
  })

  test('are limited across any number of processes without Redis', async () => {
    const replicas = Array.from({ length: 4 }, () => createThrottle(database.statements, clock, null))
    const first = await replicas[1]!.take(call(0), 90)
    const rest = Array.from({ length: 399 }, (_, n) => waitOf(replicas[n % 4]!.take(call(n + 1), 90)))
    const waits = [null, ...(await Promise.all(rest))]
    expect(waits.filter((wait) => wait === null)).toHaveLength(90)
    for (const wait of waits) if (wait !== null) expect(wait > 0 && wait <= 60).toBe(true)
    const [one] = replicas
    await giveBack(first)
    const take = (n: number) => waitOf(one!.take(call(n), 90))
    expect([await take(0), await take(0)]).toEqual([null, expect.any(Number)])
    clock.forward(60_000)
    expect(await waitOf(replicas[3]!.take(call(0), 90))).toBeNull()
  })

  test('are given back to their own minute only', async () => {
    const throttle = createThrottle(database.statements, clock, null)
    const take = (n: number) => throttle.take(call(n, 'rda_late'), 2)
    const late = await take(0)
    clock.forward(60_000)
    expect([await waitOf(take(0)), await waitOf(take(1))]).toEqual([null, null])
    await giveBack(late)
    expect(await waitOf(take(0))).toEqual(expect.any(Number))
  })

  test('are shared: one caller gets at most half of them, and what a full tool refused is not counted for the caller', async () => {
    const throttle = createThrottle(database.statements, clock, null)
    const first = await throttle.take(call(0, 'rda_fair'), 5)
    const take = (n: number) => waitOf(throttle.take(call(n, 'rda_fair'), 5))
    const greedy = await Promise.all(Array.from({ length: 20 }, () => take(0)))
    expect(greedy.filter((wait) => wait === null)).toHaveLength(2)
    expect([await take(1), await take(1), await take(1)]).toEqual([null, null, expect.any(Number)])
    await giveBack(first)
    expect([await take(1), await take(1)]).toEqual([null, expect.any(Number)])
  })

  test('are counted for each tool', async () => {
    const throttle = createThrottle(database.statements, clock, null)
    const [a, b] = [call(0, 'rda_a'), call(0, 'rda_b')]
    const waits = await Promise.all([
      waitOf(throttle.take(a, 1)),
      waitOf(throttle.take(b, 1)),
      waitOf(throttle.take(a, 1)),
      waitOf(throttle.take(b, 4)),
    ])
    expect(waits).toEqual([null, null, expect.any(Number), null])
  })

  // The continuous integration has one; a machine without it has nothing to share through.
  if (hasRedis())
    test('hold through Redis, and through the database while Redis is down', async () => {
      const server = await startRedis()
      const connections = [1, 2].map(
        () => new Redis(server.url, { enableOfflineQueue: false, maxRetriesPerRequest: 1 }),
      )
      for (const connection of connections) {
        connection.on('error', () => undefined)
        if (connection.status !== 'ready') await once(connection, 'ready')
      }
      const replicas = connections.map((connection) => createThrottle(database.statements, clock, connection))
      const shared = (n: number) => call(n >> 1, 'rda_shared')
      const one = (n: number, of = n) => waitOf(replicas[of % 2]!.take(shared(n), 20))
      const take = (length: number) => Promise.all(Array.from({ length }, (_, n) => one(n)))
      const first = await replicas[0]!.take(shared(0), 20)
      expect((await take(59)).filter((wait) => wait === null)).toHaveLength(19)
      await giveBack(first)
      expect([await one(0, 1), await one(0, 0)]).toEqual([null, expect.any(Number)])
      await server.kill()
      // Counted anew there, but for all processes together again.
      expect((await take(60)).filter((wait) => wait === null)).toHaveLength(20)
      for (const connection of connections) connection.disconnect()
      await server.close()
    })
})
