import { createPostgresBackend, runMigrations, withBackend } from 'bullmq'
import pg from 'pg'
import type { Backend, BackendDeps } from './backend.ts'
import { bulk, complaints, processor, QUEUE_OPTIONS, workerOptions } from './bull.ts'
import { listeningTogether } from './listening.ts'
import { Queues } from './queues.ts'
import { Workers } from './workers.ts'

const { Queue, Worker } = withBackend(createPostgresBackend)

/**
 * One pool for all topics, of which one connection listens. By default BullMQ opens a pool for each queue and each worker,
 * several dozen connections for a dozen topics. With a given pool BullMQ does not migrate its tables, so this function
 * does, under its own advisory lock.
 */
export async function openPostgres(connectionString: string, deps: BackendDeps): Promise<Backend> {
  const complain = complaints(deps.log, deps.clock)
  const pool = new pg.Pool({
    connectionString,
    max: WORKING + 1,
    keepAlive: true,
    // A worker may wait for LISTEN for an hour. The system's default notices a dead connection only after two hours.
    keepAliveInitialDelayMillis: 10_000,
    options: `-c search_path=${SCHEMA}`,
  })
  pool.on('error', complain)
  // Also for connections in use: an error without a listener ends the process.
  pool.on('connect', (client) => client.on('error', complain))
  // Each queue and each worker adds a listener. Node warns about a leak when there are more than ten.
  pool.setMaxListeners(0)
  await migrateQueue(pool)
  const connection = listeningTogether(pool)
  const queues = new Queues((topic) => {
    const queue = new Queue(topic, { connection, ...QUEUE_OPTIONS })
    queue.on('error', complain)
    return queue
  })
  const workers = new Workers(complain, () => true)

  return {
    kind: 'postgres',
    up: () => true,
    async push(topic, jobs) {
      const queue = await queues.of(topic)
      await queue.addBulk(bulk(topic, jobs))
    },
    async work(topic, concurrency, handle) {
      const options = { connection, ...workerOptions(concurrency, deps.pace) }
      await workers.hire(new Worker(topic, processor(handle), options))
    },
    async pause() {
      await workers.pause()
    },
    async close() {
      await workers.close()
      await queues.close()
      await pool.end()
    },
  }
}

const SCHEMA = 'bullmq'
const WORKING = 8

/** BullMQ's own tables. Without anything to do it asks once. */
export async function migrateQueue(pool: pg.Pool): Promise<void> {
  const client = await pool.connect()
  try {
    await runMigrations(client, SCHEMA)
  } finally {
    client.release()
  }
}
