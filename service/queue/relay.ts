import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import type { Backend } from './backends/backend.ts'
import { Signal } from './signal.ts'
import type { Job, Pace, QueueMeasures, Topic } from './model.ts'
import type { LeasedJob, OutboxRows } from './outbox.ts'

/** Leases due rows and pushes them to the backend, and again when a lease expires while its row is still open. */
export function createRelay(deps: RelayDeps) {
  const { rows, backend, clock, log, pace, measures } = deps
  const signal = new Signal()
  const plain = deps.topics.flatMap(({ topic, turns }) => (turns === null ? [topic] : []))
  const inTurns = deps.topics.flatMap(({ topic, turns }) => (turns === null ? [] : [{ topic, turns }]))
  let handledSince = 0
  let retired = false
  let stopped = false
  let loop: Promise<void> | null = null
  let renewedAt = 0
  let troubled = false
  let expectingSince = -Infinity

  /** Leases and pushes the due rows. Returns how many there were. */
  async function tick(): Promise<number> {
    const now = clock.now()
    await renew(now)
    if (retired) return 0
    // A lease without a push would only hide how long the rows wait.
    if (!backend.up()) throw new Error(`the queue's ${backend.kind} does not answer`)
    handledSince = 0
    const lease = { window: pace.window, now, until: new Date(now.getTime() + pace.leaseMs) }
    const jobs = [
      ...(inTurns.length > 0 ? await rows.leaseInTurns(inTurns, lease) : []),
      ...(plain.length > 0 ? await rows.lease(plain, lease) : []),
    ]
    await Promise.all([...byTopic(jobs)].map(([topic, list]) => push(topic, list)))
    return jobs.length
  }

  /** Renews the rows of running handlers, however long those take and even if the backend loses its jobs. */
  async function renew(now: Date): Promise<void> {
    const running = deps.running()
    if (running.length === 0 || now.getTime() - renewedAt < pace.leaseMs / 3) return
    renewedAt = now.getTime()
    await rows.renew(running, new Date(now.getTime() + pace.leaseMs))
  }

  async function push(topic: string, jobs: LeasedJob[]): Promise<void> {
    await backend.push(topic, jobs)
    measures?.pushed(topic, jobs.length)
  }

  async function run(): Promise<void> {
    while (!stopped) {
      try {
        await tick()
        if (troubled) log.info({}, 'the queue works again')
        troubled = false
      } catch (error) {
        if (!troubled) log.warn({ err: error }, 'the queue is down and retrying; announcements wait in the outbox')
        troubled = true
      }
      // The pause between two ticks gathers announcements into batches.
      await pause(PAUSE_MS)
      await signal.wait(troubled ? Math.max(pace.pollMs, TROUBLED_MS) : untilNextLook())
    }
  }

  /** The wait equals the time since the last announcement. After half a dozen checks the regular poll takes over. */
  function untilNextLook(): number {
    return Math.min(pace.pollMs, Math.max(FIRST_LOOK_MS, performance.now() - expectingSince))
  }

  return {
    tick,
    /** A row was announced here. Any number of calls at once cause one tick. */
    wake(): void {
      signal.raise()
    },
    /** A row was announced here but is not committed yet. The relay checks often at first, then less and less often. */
    expect(): void {
      expectingSince = performance.now()
      signal.raise()
    },
    /** A handler of this process ended, so a window or an account may have room again. */
    handled(stillRunning: number, tookTurn = false): void {
      handledSince++
      // After half a window: a lease for every few rows would read the whole window each time.
      if (tookTurn || handledSince >= pace.window / 2 || stillRunning === 0) signal.raise()
    },
    start(): void {
      stopped = false
      loop ??= run()
    },
    /** Leases no more rows. Running handlers keep their rows until `stop`. */
    retire(): void {
      retired = true
    },
    async stop(): Promise<void> {
      stopped = true
      signal.raise()
      await loop
      loop = null
    },
  }
}

export type Relay = ReturnType<typeof createRelay>

interface RelayDeps {
  topics: readonly Pick<Topic, 'topic' | 'turns'>[]
  rows: OutboxRows
  backend: Pick<Backend, 'kind' | 'up' | 'push'>
  running(): Job[]
  clock: Clock
  log: Log
  pace: Pace
  measures: QueueMeasures | undefined
}

const PAUSE_MS = 5
const TROUBLED_MS = 1_000
const FIRST_LOOK_MS = 5

function byTopic(jobs: readonly LeasedJob[]): Map<string, LeasedJob[]> {
  const groups = new Map<string, LeasedJob[]>()
  for (const job of jobs) {
    const group = groups.get(job.topic)
    if (group === undefined) groups.set(job.topic, [job])
    else group.push(job)
  }
  return groups
}
