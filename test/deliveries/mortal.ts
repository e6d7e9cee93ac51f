import { randomBytes, randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { deriveId, newId } from '../../service/kit/ids.ts'
import type { Owner } from '../../service/kit/owner.ts'
import { ServiceProcess } from '../harness/process.ts'
import { testService, type TestService } from '../harness/service.ts'
import { startRedis, type RedisServer } from '../queue/redis.ts'
import { startReceiver, type Receiver } from './receiver.ts'

/** A worker in a process of its own, to be killed; what it has to deliver is written from here. */
export interface Mortal {
  service: TestService
  receiver: Receiver
  redis: RedisServer | null
  /** So many, in one commit. */
  write(count: number): Promise<string[]>
  start(): void
  kill(): Promise<void>
  /** When all of them are delivered. */
  delivered(ids: readonly string[]): Promise<void>
  close(): Promise<void>
}

export async function startMortal(backend: 'redis' | 'postgres'): Promise<Mortal> {
  const redis = backend === 'redis' ? await startRedis() : null
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-mortal-'))
  const keys = {
    VAULT_KEY: `test:${randomBytes(32).toString('base64')}`,
    AUTH_SECRET: randomBytes(32).toString('hex'),
    ...(redis === null ? {} : { REDIS_URL: redis.url }),
  }
  const service = await testService(keys)
  const { deliveries, database } = service
  const owner: Owner = { userId: (await service.person()).caller.user.id, environment: 'sandbox' }
  const receiver = await startReceiver(async (response) => {
    await new Promise((resolve) => setTimeout(resolve, 5 + randomInt(20)))
    response.writeHead(200).end('{}')
  })
  const target = newId('chk', new Date())
  await deliveries.targets.put(database.statements, { id: target, owner, url: receiver.url })
  let worker: ServiceProcess | null = null

  async function kill(): Promise<void> {
    worker?.kill('SIGKILL')
    await worker?.ended()
    worker = null
  }

  return {
    service,
    receiver,
    redis,
    async write(count) {
      const payments = Array.from({ length: count }, () => newId('pay', new Date()))
      await database.statements.together(async (inside) => {
        for (const subject of payments) {
          const id = deriveId('dlv', subject)
          await deliveries.write(inside, { id, owner, subject, to: { target }, body: JSON.stringify({ subject }) })
        }
      })
      return payments.map((payment) => deriveId('dlv', payment))
    },
    start() {
      worker = new ServiceProcess({
        ...keys,
        DATABASE_URL: service.testDatabase.url,
        DATA_DIR: folder,
        ROLES: 'worker',
        PORT: '0',
        LOG_LEVEL: 'warn',
      })
    },
    kill,
    async delivered(ids) {
      for (;;) {
        const { rows } = await database.pool.query<{ left: bigint }>(
          `SELECT count(*) AS left FROM delivery WHERE id = ANY($1) AND state <> 'delivered'`,
          [ids],
        )
        if (rows[0]?.left === 0n) return
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
    async close() {
      await kill()
      await receiver.close()
      await service.close()
      await redis?.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Each was sent at least once, always the same under its own id, and nothing else was. */
export function expectAllSent(receiver: Receiver, ids: readonly string[]): void {
  const sent = new Map<string, Set<string>>()
  for (const { id, body } of receiver.calls) sent.set(id, (sent.get(id) ?? new Set()).add(body))
  expect(new Set(sent.keys())).toEqual(new Set(ids))
  for (const [id, bodies] of sent)
    expect([...bodies]).toEqual([JSON.stringify({ subject: id.replace('dlv_', 'pay_') })])
}
