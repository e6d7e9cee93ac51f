import type { WorkerOptions } from 'bullmq'
import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../kit/log.ts'
import type { Job, Pace, StartedJob } from '../model.ts'
import { jobIdOf, jobOf } from '../rules.ts'

/**
 * What both backends say to BullMQ. A job carries nothing but its id: the payload stays in the row, where
 * the money is, and is read when the handler starts. Nothing finished is kept, or a row that has to go
 * again under the same id would be taken for a duplicate; retries and delays are the row's own.
 */
export function bulk(topic: string, jobs: readonly Job[]): BulkJob[] {
  const keepNothing = { removeOnComplete: true, removeOnFail: true } as const
  return jobs.map((job) => ({ name: topic, data: null, opts: { jobId: jobIdOf(job), ...keepNothing } }))
}

/** A lock is renewed at half its time, and looked after at the same beat. */
export function workerOptions(concurrency: number, pace: Pace): Omit<WorkerOptions, 'connection'> {
  return {
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
    concurrency,
    // Whoever made it runs it once it is ready: one whose server never answered looks for jobs without a breath between
    // two tries, and nothing else in the process has its turn any more.
    autorun: false,
    lockDuration: pace.jobLockMs,
    stalledInterval: pace.jobLockMs / 2,
    // Counted by the runner, which writes it into the row; BullMQ would only drop the job.
    maxStalledCount: 1_000_000,
    // After a failed look for jobs; BullMQ's own quarter of a minute would be added to each short outage.
    runRetryDelay: 1_000,
  }
}

/**
 * The queues by topic, each opened for its first push. BullMQ asks once whether a queue's server will do, and keeps the
 * answer for good, a failure too: a queue opened while its server was away refused every job until the process ended.
 * So only one that has become ready is kept.
 */
export class Queues<Opened extends Openable> {
  private readonly opened = new Map<string, Promise<Opened>>()
  private readonly open: (topic: string) => Opened

  constructor(open: (topic: string) => Opened) {
    this.open = open
  }

  of(topic: string): Promise<Opened> {
    const known = this.opened.get(topic)
    if (known !== undefined) return known
    const opening = this.ready(topic)
    this.opened.set(topic, opening)
    return opening
  }

  async close(): Promise<void> {
    const queues = await Promise.allSettled(this.opened.values())
    await Promise.all(queues.map(async (queue) => queue.status === 'fulfilled' && queue.value.close()))
  }

  private async ready(topic: string): Promise<Opened> {
    const queue = this.open(topic)
    try {
      await queue.waitUntilReady()
      return queue
    } catch (error) {
      this.opened.delete(topic)
      await queue.close()
      throw error
    }
  }
}

interface Openable {
  waitUntilReady(): Promise<unknown>
  close(): Promise<void>
}

export function startedJob(job: { id?: string | undefined; stalledCounter: number }): StartedJob | null {
  const named = jobOf(job.id ?? '')
  return named === null ? null : { ...named, crashes: job.stalledCounter }
}

/** BullMQ reports each lost connection of each worker, again at every try: one line in ten seconds will do. */
export function complaints(log: Log, clock: Clock): (error: Error) => void {
  let saidAt = -Infinity
  let withheld = 0
  return (error) => {
    const now = clock.now().getTime()
    if (now - saidAt < 10_000) {
      withheld++
      return
    }
    log.warn({ err: error, withheld }, 'the queue has trouble with its backend')
    saidAt = now
    withheld = 0
  }
}

interface BulkJob {
  name: string
  data: null
  opts: { jobId: string; removeOnComplete: true; removeOnFail: true }
}

/** Nobody reads BullMQ's own event stream here. */
export const QUEUE_OPTIONS = { streams: { events: { maxLen: 100 } } }
