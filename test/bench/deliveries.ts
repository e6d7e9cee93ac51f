import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import { pino } from 'pino'
import { compose, type Service } from '../../service/wiring/compose.ts'
import { readConfig } from '../../service/config.ts'
import { startEmbedded } from '../../service/database/embedded/database.ts'
import { migrate } from '../../service/database/migrate.ts'
import { deriveId, newId, type Id } from '../../service/kit/ids.ts'
import type { Owner } from '../../service/kit/owner.ts'
import { hasRedis, startRedis } from '../queue/redis.ts'

/*
 * Deliveries a second from a backlog by one worker, to a local receiver that answers at once, each with its row,
 * its signature, its attempt and its acknowledgement; and how long one takes from the commit of its payment to the
 * receiver, alone and at a steady rate. Database, worker and receiver share the machine.
 */
const BACKLOG = Number(process.env['BENCH_BACKLOG'] ?? 10_000)
const LONE = 200
const STEADY = 1_000
const STEADY_EVERY_MS = 10

const BODY = JSON.stringify({
  payment: {
    txHash: `0x${'ab'.repeat(32)}`,
    amount: 5,
    currency: 'USDC',
    payer: `0x${'cd'.repeat(20)}`,
    network: 'base',
    timestamp: 1_780_000_000,
  },
  input: { site: 'https://example.com', email: 'somebody@example.com' },
  metadata: { checkoutId: 'chk_01h00000000000000000000000', receivedAt: '2026-01-31T12:00:00.000Z' },
})

const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-bench-'))
const embedded = await startEmbedded({ dataDir: path.join(folder, 'database') })
await migrate(embedded.url)
const redis = hasRedis() ? await startRedis() : null
const receiver = await startReceiver()
console.log('| queue | deliveries/s | alone p50 ms | p99 ms | 100 payments/s p50 ms | p99 ms |')
console.log('| --- | ---: | ---: | ---: | ---: | ---: |')
for (const [name, url] of Object.entries({ Redis: redis?.url, PostgreSQL: '' })) {
  if (url === undefined) continue
  const figures = await measure(url)
  console.log(`| ${name} | ${figures.map((figure) => figure.toFixed(figure < 100 ? 1 : 0)).join(' | ')} |`)
}
await receiver.close()
await redis?.close()
await embedded.stop()
rmSync(folder, { recursive: true })

async function measure(redisUrl: string): Promise<number[]> {
  const config = readConfig({ DATA_DIR: folder, DATABASE_URL: embedded.url, REDIS_URL: redisUrl, LOG_LEVEL: 'silent' })
  const service = await compose(config, { url: embedded.url, log: pino({ level: 'silent' }) })
  const to = await owned(service)
  const ids = Array.from({ length: BACKLOG }, () => newId('pay', new Date()))
  for (let from = 0; from < BACKLOG; from += 500) await pay(service, to, ids.slice(from, from + 500))
  const started = performance.now()
  await service.start()
  await receiver.waitForCalls(BACKLOG)
  const rate = BACKLOG / ((performance.now() - started) / 1000)
  const figures = [rate, ...(await waits(service, to, LONE, true)), ...(await waits(service, to, STEADY, false))]
  await written(service)
  await service.stop()
  return figures
}

/** From the commit to the receiver. */
async function waits(service: Service, to: Owned, count: number, alone: boolean): Promise<[p50: number, p99: number]> {
  const committed = new Map<string, number>()
  const payments: Promise<void>[] = []
  for (let n = 0; n < count; n++) {
    const payment = newId('pay', new Date())
    const paying = pay(service, to, [payment]).then(() => {
      committed.set(deriveId('dlv', payment), performance.timeOrigin + performance.now())
    })
    payments.push(paying)
    if (alone) await paying.then(() => receiver.waitForCall(deriveId('dlv', payment)))
    else await new Promise((resolve) => setTimeout(resolve, STEADY_EVERY_MS))
  }
  await Promise.all(payments)
  await receiver.waitForCalls(count)
  const times = [...committed].map(([id, at]) => (receiver.arrivals.get(id) ?? 0) - at).sort((a, b) => a - b)
  return [times[Math.floor(count * 0.5)] ?? 0, times[Math.floor(count * 0.99)] ?? 0]
}

interface Owned {
  owner: Owner
  target: string
}

async function owned(service: Service): Promise<Owned> {
  const { user } = await service.identity.signUp({
    issuer: 'coinslot',
    subject: newId('usr', new Date()),
    name: null,
    email: null,
    emailConfirmed: false,
  })
  const owner: Owner = { userId: user.id, environment: 'sandbox' }
  const target = newId('chk', new Date())
  await service.deliveries.targets.put(service.database.statements, { id: target, owner, url: receiver.url })
  return { owner, target }
}

async function pay(service: Service, { owner, target }: Owned, payments: readonly Id<'pay'>[]): Promise<void> {
  await service.database.statements.together(async (inside) => {
    for (const subject of payments) {
      const id = deriveId('dlv', subject)
      await service.deliveries.write(inside, { id, owner, subject, to: { target }, body: BODY })
    }
  })
}

/** Waits until no delivery is under way any more. */
async function written(service: Service): Promise<void> {
  for (;;) {
    const { rows } = await service.database.pool.query(`SELECT FROM delivery WHERE state <> 'delivered' LIMIT 1`)
    if (rows.length === 0) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function startReceiver() {
  const thread = new Worker(new URL('deliveries/receiver.mjs', import.meta.url))
  const arrivals = new Map<string, number>()
  let look: () => void = () => undefined
  let counted = 0
  const port = await new Promise<number>((resolve) => {
    thread.on('message', (message: { port?: number; came?: [string, number][] }) => {
      if (message.port !== undefined) resolve(message.port)
      for (const [id, at] of message.came ?? []) if (!arrivals.has(id)) arrivals.set(id, at)
      look()
    })
  })
  const until = (done: () => boolean) =>
    new Promise<void>((resolve) => {
      look = () => {
        if (done()) resolve()
      }
      look()
    })
  return {
    url: `http://127.0.0.1:${String(port)}/hook`,
    arrivals,
    /** So many more than were waited for before. */
    async waitForCalls(count: number): Promise<void> {
      counted += count
      await until(() => arrivals.size >= counted)
    },
    waitForCall: (id: string) => until(() => arrivals.has(id)),
    close: () => thread.terminate(),
  }
}
