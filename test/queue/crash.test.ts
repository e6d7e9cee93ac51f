import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../service/kit/clock.ts'
import type { BackendAddress } from '../../service/queue/backends/backend.ts'
import { createOutbox } from '../../service/queue/outbox.ts'
import { createQueue } from '../../service/queue/queue.ts'
import { numbers, range } from './numbers.ts'
import { testDatabase } from '../harness/database.ts'
import { hasRedis, startRedis } from './redis.ts'
import { quiet, Tally } from './tally.ts'

const backends = hasRedis() ? (['redis', 'postgres'] as const) : (['postgres'] as const)
const PACE = { leaseMs: 500, jobLockMs: 1_000, leaderMs: 1_000 }

describe.each(backends)('a worker that is killed, on %s', (kind) => {
  it('leaves its rows and its lead to another', async () => {
    const database = await testDatabase()
    const redis = kind === 'redis' ? await startRedis() : null
    const { url: connectionString, statements } = database
    const backend: BackendAddress =
      redis === null ? { kind: 'postgres', connectionString } : { kind: 'redis', url: redis.url }
    await createOutbox(systemClock).add(
      statements,
      range(200).map((n) => ({ topic: 'numbers', payload: { n } })),
    )

    const child = fork(fileURLToPath(new URL('./child/worker.ts', import.meta.url)), {
      execArgv: ['--import', fileURLToPath(new URL('../../service/launch/typescript.mjs', import.meta.url))],
    })
    const begun = new Set<number>()
    let swept = false
    const dead = new Promise((resolve) => child.once('exit', resolve))
    child.on('message', (message: { begun?: number; swept?: boolean }) => {
      if (message.begun !== undefined) begun.add(message.begun)
      swept ||= message.swept === true
      if (begun.size >= 70 && swept) child.kill('SIGKILL')
    })
    child.send({ connectionString, backend, pace: PACE })
    await dead
    const { rows } = await database.pool.query('SELECT 1 FROM outbox WHERE done_at IS NOT NULL')
    expect(rows).toHaveLength(50)

    const tally = new Tally()
    const handled: number[] = []
    let led = false
    const queue = createQueue({
      statements,
      clock: systemClock,
      log: quiet,
      backend,
      measures: tally,
      pace: PACE,
      topics: [numbers((n) => void handled.push(n))],
      sweepers: [
        {
          name: 'broom',
          everyMs: 100,
          run: () => {
            led = true
            return Promise.resolve()
          },
        },
      ],
    })
    await queue.start()
    await tally.reached('done', 150)
    await tally.until(() => led)
    await queue.stop()
    expect(new Set([...begun, ...handled]).size).toBe(200)
    expect((await database.pool.query('SELECT 1 FROM outbox WHERE done_at IS NULL')).rows).toEqual([])
    await redis?.close()
    await database.close()
  })
})
