import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openDatabase } from '../../service/database/client.ts'
import { startEmbedded } from '../../service/database/embedded/database.ts'
import { migrate } from '../../service/database/migrate.ts'
import { systemClock } from '../../service/kit/clock.ts'
import type { BackendAddress } from '../../service/queue/backends/backend.ts'
import { createOutbox } from '../../service/queue/outbox.ts'
import { createQueue } from '../../service/queue/queue.ts'
import { numbers, range } from '../queue/numbers.ts'
import { hasRedis, startRedis } from '../queue/redis.ts'
import { quiet, Tally } from '../queue/tally.ts'

/**
 * Rows a second from the first announcement to the last acknowledgement, in one process with one database,
 * and how long a lone row takes from commit to its handler.
 */
const TOPICS = ['one', 'two', 'three', 'four']
const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-bench-'))
const embedded = await startEmbedded({ dataDir: folder })
await migrate(embedded.url)
const database = openDatabase({ url: embedded.url, poolMax: 16 })
const redis = hasRedis() ? await startRedis() : null
const postgres: BackendAddress = { kind: 'postgres', connectionString: embedded.url }
const rounds = [
  ...(redis === null ? [] : [{ backend: { kind: 'redis', url: redis.url } as BackendAddress, count: 20_000 }]),
  { backend: postgres, count: 8_000 },
]
console.log('| backend | topics | rows/s end to end | rows/s added meanwhile | lone row p50 ms | p99 ms |')
console.log('| --- | ---: | ---: | ---: | ---: | ---: |')
for (const { backend, count } of rounds) {
  for (const topics of [1, 4]) {
    const report = await measure(backend, TOPICS.slice(0, topics), count)
    console.log(['', backend.kind, String(topics), ...report, ''].join(' | ').trim())
  }
}
await redis?.close()
await database.close()
await embedded.stop()
rmSync(folder, { recursive: true })

async function measure(backend: BackendAddress, names: string[], count: number): Promise<string[]> {
  const tally = new Tally()
  const outbox = createOutbox(systemClock)
  let arrivedAt = 0
  const queue = createQueue({
    statements: database.statements,
    clock: systemClock,
    log: quiet,
    backend,
    sweepers: [],
    measures: tally,
    topics: names.map((topic) => numbers(() => (arrivedAt = performance.now()), { topic, concurrency: 100 })),
  })
  await queue.start()
  const started = performance.now()
  for (let from = 0; from < count; from += 100) {
    const batch = range(100).map((n) => ({ topic: names[n % names.length] ?? 'one', payload: { n } }))
    await outbox.add(database.statements, batch)
    queue.wake()
  }
  const announced = performance.now()
  await tally.reached('done', count)
  const pace = count / ((performance.now() - started) / 1000)

  const waits: number[] = []
  for (let lone = 1; lone <= 200; lone++) {
    await outbox.add(database.statements, [{ topic: 'one', payload: { n: lone } }])
    const committed = performance.now()
    queue.wake()
    await tally.reached('done', count + lone)
    waits.push(arrivedAt - committed)
  }
  waits.sort((a, b) => a - b)
  await queue.stop()
  return [
    pace.toFixed(0),
    (count / ((announced - started) / 1000)).toFixed(0),
    waits[100]?.toFixed(1) ?? '-',
    waits[198]?.toFixed(1) ?? '-',
  ]
}
