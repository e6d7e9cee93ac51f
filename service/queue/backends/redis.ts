import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import type { Statements } from '../../kit/transaction.ts'
import type { Backend, BackendDeps } from './backend.ts'
import { aborted } from '../signal.ts'
import { bulk, complaints, processor, QUEUE_OPTIONS, workerOptions } from './bull.ts'
import { Queues } from './queues.ts'
import { Workers } from './workers.ts'

export async function openRedis(url: string, deps: BackendDeps): Promise<Backend> {
  const complain = complaints(deps.log, deps.clock)
  const prefix = await prefixOf(deps.statements)
  // While Redis is unavailable a push must fail instead of waiting in memory, because the rows will be leased again.
  const patience = { maxRetriesPerRequest: 1, commandTimeout: deps.pace.commandMs }
  const producing = new Redis(url, { enableOfflineQueue: false, ...patience })
  const working = new Redis(url, { maxRetriesPerRequest: null })
  // These do not wait for an unavailable Redis either; a push then fails.
  const options = { connection: producing, prefix, skipWaitingForReady: true, ...QUEUE_OPTIONS }
  const queues = new Queues((topic) => {
    const queue = new Queue(topic, options)
    queue.on('error', complain)
    return queue
  })
  const workers = new Workers(complain, () => working.status === 'ready')
  for (const connection of [producing, working]) connection.on('error', complain)
  producing.on('ready', deps.onUp)
  const ready = new Promise((resolve) => producing.once('ready', resolve))
  await Promise.race([ready, aborted(AbortSignal.timeout(CONNECT_MS))])

  return {
    kind: 'redis',
    up: () => producing.status === 'ready',
    async push(topic, jobs) {
      const queue = await queues.of(topic)
      await queue.addBulk(bulk(topic, jobs))
    },
    async work(topic, concurrency, handle) {
      const options = { connection: working, prefix, ...workerOptions(concurrency, deps.pace) }
      // Not awaited, because Redis may be unavailable.
      workers.hire(new Worker(topic, processor(handle), options)).catch(complain)
    },
    async pause() {
      await workers.pause()
    },
    async close() {
      // Without Redis no result can be reported, and BullMQ would wait for it.
      const force = working.status !== 'ready'
      await workers.close(force)
      await queues.close()
      producing.disconnect()
      working.disconnect()
    },
  }
}

/** Long enough for a running Redis. Without one the process starts anyway. */
const CONNECT_MS = 1_000

/**
 * Job ids are row ids, so two databases that share a Redis need different names. The server's identifier and the
 * database's oid distinguish any two, also copies of a template. The braces keep a cluster's keys on one node.
 */
async function prefixOf(statements: Statements): Promise<string> {
  const [row] = await statements.run<{ name: string }>(
    `SELECT concat_ws('-', (SELECT system_identifier FROM pg_control_system()), oid) AS name
     FROM pg_database WHERE datname = current_database()`,
    [],
  )
  if (row === undefined) throw new Error('the database does not know its own name')
  return `{coinslot-${row.name}}`
}
