import { hasRedis } from '../../queue/redis.ts'
import { expectAllSent, startMortal } from '../../deliveries/mortal.ts'

const KILLS = Number(process.env['CHAOS_KILLS'] ?? 50)
const backends = hasRedis() ? (['redis', 'postgres'] as const) : (['postgres'] as const)

/** The worker is killed repeatedly during its work, and Redis is emptied in between: each delivery still arrives. */
test.each(backends)(
  `${String(KILLS)} kills on %s lose no delivery`,
  async (backend) => {
    const mortal = await startMortal(backend)
    const ids: string[] = []
    for (let kill = 0; kill < KILLS; kill++) {
      ids.push(...(await mortal.write(200)))
      const before = mortal.receiver.calls.length
      mortal.start()
      await mortal.receiver.waitForCalls(before + 20 + Math.floor(Math.random() * 150))
      await mortal.kill()
      if (kill % 5 === 4) await mortal.redis?.flush()
    }
    mortal.start()
    await mortal.delivered(ids)
    expectAllSent(mortal.receiver, ids)
    const sent = mortal.receiver.calls.length
    process.stdout.write(
      `${backend}: ${String(ids.length)} deliveries, ${String(sent)} calls, ${String(KILLS)} kills\n`,
    )
    await mortal.close()
  },
  1_800_000,
)
