import type { WorkerOptions } from 'bullmq'
import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../kit/log.ts'
import type { Job, Pace, StartedJob } from '../model.ts'
import { jobIdOf, jobOf } from '../rules.ts'

/**
 * The options for BullMQ that both backends use. A job contains only its id: the payload stays in the row, in the same
 * database as the money, and is read when the handler starts. Finished jobs are not stored, because a row that has to
 * run again under the same id would count as a duplicate. The row itself counts retries and delays.
 */
export function bulk(topic: string, jobs: readonly Job[]) {
  const keepNothing = { removeOnComplete: true, removeOnFail: true } as const
  return jobs.map((job) => ({ name: topic, data: null, opts: { jobId: jobIdOf(job), ...keepNothing } }))
}

/** Locks are renewed at half of their duration, and stalled jobs are looked for at the same interval. */
export function workerOptions(concurrency: number, pace: Pace): Omit<WorkerOptions, 'connection'> {
  return {
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
    concurrency,
    // `Workers` starts it.
    autorun: false,
    lockDuration: pace.jobLockMs,
    stalledInterval: pace.jobLockMs / 2,
    // The runner counts crashes in the row. BullMQ would only drop the job.
    maxStalledCount: 1_000_000,
    // After a failed fetch. BullMQ's default of 15 seconds would prolong every short outage.
    runRetryDelay: 1_000,
  }
}

/** Handles one BullMQ job. */
export function processor(handle: (job: StartedJob) => Promise<void>) {
  return async (job: { id?: string | undefined; stalledCounter: number }): Promise<void> => {
    const named = jobOf(job.id ?? '')
    if (named !== null) await handle({ ...named, crashes: job.stalledCounter })
  }
}

/** BullMQ reports each lost connection of each worker, again at every retry. One line in ten seconds is enough. */
export function complaints(log: Log, clock: Clock): (error: Error) => void {
  let loggedAt = -Infinity
  let withheld = 0
  return (error) => {
    const now = clock.now().getTime()
    if (now - loggedAt < 10_000) {
      withheld++
      return
    }
    log.warn({ err: error, withheld }, 'the backend of the queue reported an error')
    loggedAt = now
    withheld = 0
  }
}

/** BullMQ's own event stream is not read here. */
export const QUEUE_OPTIONS = { streams: { events: { maxLen: 100 } } }
