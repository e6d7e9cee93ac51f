import type { WorkerOptions } from 'bullmq'
import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../kit/log.ts'
import type { Job, Pace, StartedJob } from '../model.ts'
import { jobIdOf, jobOf } from '../rules.ts'

/**
 * What both backends hand to BullMQ. A job carries nothing but its id: the payload stays in the row, where
 * the money is, and is read when the handler starts. Nothing finished is kept, or a row that has to go
 * again under the same id would be taken for a duplicate; retries and delays are the row's own.
 */
export function bulk(topic: string, jobs: readonly Job[]) {
  const keepNothing = { removeOnComplete: true, removeOnFail: true } as const
  return jobs.map((job) => ({ name: topic, data: null, opts: { jobId: jobIdOf(job), ...keepNothing } }))
}

/** A lock is renewed at half its time, and looked after at the same beat. */
export function workerOptions(concurrency: number, pace: Pace): Omit<WorkerOptions, 'connection'> {
  return {
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
    concurrency,
    // `Workers` runs it.
    autorun: false,
    lockDuration: pace.jobLockMs,
    stalledInterval: pace.jobLockMs / 2,
    // Counted by the runner, which writes it into the row; BullMQ would only drop the job.
    maxStalledCount: 1_000_000,
    // After a failed look for jobs; BullMQ's own quarter of a minute would be added to each short outage.
    runRetryDelay: 1_000,
  }
}

/** What a worker does with a job of BullMQ. */
export function processor(handle: (job: StartedJob) => Promise<void>) {
  return async (job: { id?: string | undefined; stalledCounter: number }): Promise<void> => {
    const named = jobOf(job.id ?? '')
    if (named !== null) await handle({ ...named, crashes: job.stalledCounter })
  }
}

/** BullMQ reports each lost connection of each worker, again at every try: one line in ten seconds will do. */
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
