import { randomInt } from 'node:crypto'
import { Batch } from '../kit/batch.ts'
import type { Clock } from '../kit/clock.ts'
import { tagContextWith, within } from '../kit/context.ts'
import type { Log } from '../kit/log.ts'
import type { Tracer } from '../kit/tracer.ts'
import { aborted } from './signal.ts'
import type { Job, Outcome, QueueMeasures, StartedJob, Topic } from './model.ts'
import { RETRY_DELAYS_MS } from './model.ts'
import type { Failure, OutboxRows, Row } from './outbox.ts'
import { jobIdOf, nextTry } from './rules.ts'

/** Runs the handler for a job's row and stores the result. */
export function createRunner(deps: RunnerDeps) {
  const { rows, clock, log, measures } = deps
  const topics = new Map(deps.topics.map((topic) => [topic.topic, topic]))
  const running = new Map<string, { job: Job; controller: AbortController; end: Promise<void> }>()
  let draining = false

  const loads = batchOf<string, Row | null>(async (ids) => {
    const found = await rows.load(ids)
    return ids.map((id) => found.get(id) ?? null)
  })
  const successes = batchOf<Job, true>(async (jobs) => {
    await rows.acknowledge(jobs, clock.now())
    return jobs.map(() => true)
  })
  const failures = batchOf<Failure, true>(async (list) => {
    await rows.postpone(list, clock.now())
    return list.map(() => true)
  })

  /** Returns whether an account that takes turns has a free place again. */
  async function run(job: StartedJob, controller: AbortController): Promise<boolean> {
    const row = await loads.add(job.id)
    // The row has moved on without this job: another process did it, it failed meanwhile, or it is of another database.
    if (row === null || !row.open || row.attempt !== job.attempt) return false
    const topic = topics.get(row.topic)
    if (topic === undefined) return false
    const started = performance.now()
    const outcome = await inContext(row, () => attempt(topic, row, job.crashes, controller))
    measures?.handled(topic.topic, outcome, (performance.now() - started) / 1000)
    return topic.turns !== null
  }

  /** Links the handler's log and traces to the request that announced the row. */
  function inContext(row: Row, handle: () => Promise<Outcome>): Promise<Outcome> {
    return within({ tags: { ...row.cause?.concerns, topic: row.topic, row: row.id } }, () => {
      tagContextWith(row.payload)
      if (deps.tracer == null) return handle()
      const traceparent = row.cause?.traceparent
      const says = { 'messaging.destination.name': row.topic, 'messaging.delivery.attempt': row.attempt }
      const from = traceparent === undefined ? undefined : { traceparent, trusted: true }
      const step = { name: `handle ${row.topic}`, kind: 'consumer', attributes: says, from } as const
      return deps.tracer.step(step, async (attributes) => {
        const outcome = await handle()
        attributes['coinslot.outcome'] = outcome
        if (outcome === 'retry' || outcome === 'dead') attributes['error.type'] = outcome
        return outcome
      })
    })
  }

  async function attempt(topic: Topic, row: Row, crashes: number, controller: AbortController): Promise<Outcome> {
    try {
      // Without a limit, a row that crashes its process would do so for ever.
      if (crashes >= CRASHES_MAX) throw new Error(`${String(crashes)} processes ended while handling it`)
      await withinTime(topic, row, controller)
    } catch (error) {
      // A handler that obeys its signal ends with an error of its own. The signal's reason is more specific.
      const cause: unknown = controller.signal.aborted ? controller.signal.reason : error
      return cause === STOPPING ? giveBack(row) : fail(topic, row, cause)
    }
    await successes.add(row)
    return 'done'
  }

  async function fail(topic: Topic, row: Row, error: unknown): Promise<Outcome> {
    const text = error instanceof Error ? error.message : String(error)
    const chance = randomInt(1_000) / 1_000
    const dueAt = nextTry(topic.retryDelaysMs ?? RETRY_DELAYS_MS, row.attempt + 1, clock.now(), chance)
    await failures.add({ job: row, error: text.slice(0, ERROR_LENGTH), dueAt })
    const fields = { topic: topic.topic, row: row.id, attempt: row.attempt, dueAt, err: error }
    if (dueAt === null) log.error(fields, 'an announcement failed its last attempt and is dead')
    else log.warn(fields, 'an announcement failed and will be tried again')
    return dueAt === null ? 'dead' : 'retry'
  }

  async function giveBack(row: Row): Promise<Outcome> {
    await rows.giveBack([row])
    return 'returned'
  }

  function left(key: string, tookTurn: boolean): void {
    running.delete(key)
    deps.onEnd(running.size, tookTurn)
  }

  return {
    async handle(job: StartedJob): Promise<void> {
      if (draining) return rows.giveBack([job])
      const key = jobIdOf(job)
      const already = running.get(key)
      // The backend wrongly took this process for dead. The second call waits for the end of the first.
      if (already !== undefined) return already.end
      const controller = new AbortController()
      const end = run(job, controller).then(
        (tookTurn) => left(key, tookTurn),
        (error: unknown) => {
          left(key, false)
          throw error
        },
      )
      running.set(key, { job, controller, end })
      return end
    },
    /** The jobs whose handlers run in this process. */
    running: (): Job[] => [...running.values()].map(({ job }) => job),
    /** Refuses new jobs. Resolves when the running ones have ended. */
    async drain(): Promise<void> {
      draining = true
      await Promise.allSettled([...running.values()].map(({ end }) => end))
    },
    /** Aborts the running handlers and releases their rows. */
    abandon(): void {
      for (const { controller } of running.values()) controller.abort(STOPPING)
    },
  }
}

export type Runner = ReturnType<typeof createRunner>

interface RunnerDeps {
  topics: readonly Topic[]
  rows: OutboxRows
  clock: Clock
  log: Log
  measures: QueueMeasures | undefined
  tracer?: Tracer | null | undefined
  /** Called after each job, with the number of jobs still running. */
  onEnd(stillRunning: number, tookTurn: boolean): void
}

const CRASHES_MAX = 3
const ERROR_LENGTH = 2_000
const STOPPING = new Error('the process is stopping')

/** A handler that ignores its signal is not waited for. Its later actions do not change the row. */
async function withinTime(topic: Topic, row: Row, controller: AbortController): Promise<void> {
  const { signal } = controller
  signal.throwIfAborted()
  const payload = topic.decode.parse(row.payload)
  const timer = setTimeout(() => {
    controller.abort(new Error(`took longer than ${String(topic.timeoutMs)} ms`))
  }, topic.timeoutMs)
  const { id, attempt, announcedAt } = row
  try {
    await Promise.race([topic.handle(payload, { id, attempt, announcedAt, signal }), aborted(signal)])
    signal.throwIfAborted()
  } finally {
    clearTimeout(timer)
  }
}

/** Combines calls of the same moment into one statement. One statement runs at a time. */
function batchOf<Ask, Answer>(run: (asks: readonly Ask[]) => Promise<Answer[]>): Batch<Ask, Answer> {
  return new Batch({ largest: 1_000, run })
}
