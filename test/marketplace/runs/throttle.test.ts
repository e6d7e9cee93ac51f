import { once } from 'node:events'
import { Redis } from 'ioredis'
import type { Id } from '../../../service/kit/ids.ts'
import { createThrottle } from '../../../service/marketplace/store/runs/throttle.ts'
import { TestClock } from '../../harness/clock.ts'
import { testDatabase, type TestDatabase } from '../../harness/database.ts'
import { hasRedis, startRedis } from '../../queue/redis.ts'

describe("a tool's calls a minute", () => {
  let database: TestDatabase
  const clock = new TestClock()
  const rda = 'rda_limited' as Id<'rda'>

  beforeAll(async () => {
    database = await testDatabase()
  })
  afterAll(async () => {
    await database.close()
  })

  test('are limited across any number of processes without Redis', async () => {
    const replicas = Array.from({ length: 4 }, () => createThrottle(database.statements, clock, null))
    const waits = await Promise.all(Array.from({ length: 400 }, (_, n) => replicas[n % 4]!.take(rda, 90)))
    expect(waits.filter((wait) => wait === null)).toHaveLength(90)
    for (const wait of waits) if (wait !== null) expect(wait > 0 && wait <= 60).toBe(true)
    const [one] = replicas
    await one!.giveBack(rda)
    expect([await one!.take(rda, 90), await one!.take(rda, 90)]).toEqual([null, expect.any(Number)])
    clock.forward(60_000)
    expect(await replicas[3]!.take(rda, 90)).toBeNull()
  })

  test('are counted for each tool', async () => {
    const throttle = createThrottle(database.statements, clock, null)
    const [a, b] = ['rda_a' as Id<'rda'>, 'rda_b' as Id<'rda'>]
    const waits = await Promise.all([
      throttle.take(a, 1),
      throttle.take(b, 1),
      throttle.take(a, 1),
      throttle.take(b, 2),
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
      const name = 'rda_shared' as Id<'rda'>
      const take = () => Promise.all(Array.from({ length: 60 }, (_, n) => replicas[n % 2]!.take(name, 20)))
      expect((await take()).filter((wait) => wait === null)).toHaveLength(20)
      await replicas[0]!.giveBack(name)
      expect([await replicas[1]!.take(name, 20), await replicas[0]!.take(name, 20)]).toEqual([null, expect.any(Number)])
      await server.kill()
      // Counted anew there, but for all processes together again.
      expect((await take()).filter((wait) => wait === null)).toHaveLength(20)
      for (const connection of connections) connection.disconnect()
      await server.close()
    })
})
