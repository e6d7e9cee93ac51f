import { hasRedis } from '../queue/redis.ts'
import { expectAllSent, startMortal } from './mortal.ts'

if (!hasRedis()) process.stderr.write('redis-server is not installed: deliveries are tested on PostgreSQL only\n')

/** `npm run chaos -- deliveries` does it many times over, on both. */
test('with Redis emptied and the worker killed amid deliveries each arrives, under its one webhook-id', async () => {
  const mortal = await startMortal(hasRedis() ? 'redis' : 'postgres')
  const ids = await mortal.write(600)
  mortal.start()
  await mortal.receiver.waitForCalls(100)
  await mortal.redis?.flush()
  await mortal.receiver.waitForCalls(250)
  await mortal.kill()
  // If it was through already, all this proved nothing.
  expect(mortal.receiver.calls.length).toBeLessThan(ids.length)
  mortal.start()
  await mortal.delivered(ids)
  expectAllSent(mortal.receiver, ids)
  await mortal.close()
})
