import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import type { Backend } from './backend.ts'
import { createBell } from './bell.ts'
import type { Job, Pace, QueueMeasures, Topic } from './model.ts'
import type { LeasedJob, OutboxRows } from './outbox.ts'

/** Carries due rows to the backend: lease, push, and again when the lease runs out with the row still open. */
export interface Relay {
  /** Leases what is due and pushes it; how many rows that were. */
  tick(): Promise<number>
  /** Something was announced here. Any number of calls at once make one tick. */
  wake(): void
  /** Something was announced here whose commit is still to come: looks often at first, then ever more rarely. */
  expect(): void
  /** A handler of this process ended, so a window may have room again, or its account a place. */
  handled(stillRunning: number, tookTurn?: boolean): void
  start(): void
  /** Leases nothing more; the handlers that still run keep their rows until `stop`. */
  retire(): void
  stop(): Promise<void>
}

export function createRelay(deps: RelayDeps): Relay {
  const { rows, backend, clock, log, pace, measures } = deps
  const bell = createBell()
  const plain = deps.topics.flatMap(({ topic, turns }) => (turns === undefined ? [topic] : []))
  let handledSince = 0
  let retired = false
  let stopped = false
  let loop: Promise<void> | null = null
  let renewedAt = 0
  let troubled = false
  let expectingSince = -Infinity

  async function tick(): Promise<number> {
    const now = clock.now()
    await renew(now)
    if (retired) return 0
    // Leasing for nobody would only hide how long the rows wait.
    if (!backend.up()) throw new Error(`the queue's ${backend.kind} does not answer`)
    handledSince = 0
    const until = new Date(now.getTime() + pace.leaseMs)
    const inTurns = await Promise.all(
      deps.topics.flatMap(({ topic, turns }) =>
        turns === undefined ? [] : [rows.leaseInTurns(topic, turns, pace.window, now, until)],
      ),
    )
    const jobs = [...inTurns.flat(), ...(await rows.lease(plain, pace.window, now, until))]
    await Promise.all([...byTopic(jobs)].map(([topic, list]) => push(topic, list)))
    return jobs.length
  }

  /** A running handler keeps its row, however long it takes and whatever happens to the backend's jobs. */
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
        if (troubled) log.info({}, 'the queue is going again')
        troubled = false
      } catch (error) {
        if (!troubled)
          log.warn({ err: error }, 'the queue stands still and keeps trying; announcements wait in the outbox')
        troubled = true
      }
      // The breath between two ticks is what gathers announcements into batches.
      await bell.silence(BREATH_MS)
      await bell.rung(troubled ? Math.max(pace.pollMs, TROUBLED_MS) : untilNextLook())
    }
  }

  /** As long again as has passed since the last announcement: half a dozen looks, and the poll has it again. */
  function untilNextLook(): number {
    return Math.min(pace.pollMs, Math.max(FIRST_LOOK_MS, performance.now() - expectingSince))
  }

  return {
    tick,
    wake: bell.ring,
    expect() {
      expectingSince = performance.now()
      bell.ring()
    },
    handled(stillRunning, tookTurn = false) {
      handledSince++
      // Half a window at a time: a lease for every few rows would read the whole window for each of them.
      if (tookTurn || handledSince >= pace.window / 2 || stillRunning === 0) bell.ring()
    },
    start() {
      stopped = false
      loop ??= run()
    },
    retire() {
      retired = true
    },
    async stop() {
      stopped = true
      bell.ring()
      await loop
      loop = null
    },
  }
}

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

const BREATH_MS = 5
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
