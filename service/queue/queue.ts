import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import type { Tracer } from '../kit/tracer.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Backend, BackendAddress, BackendDeps } from './backends/backend.ts'
import { openPostgres } from './backends/postgres.ts'
import { openRedis } from './backends/redis.ts'
import { PACE, type Pace, type QueueHealth, type QueueMeasures, type Sweeper, type Topic } from './model.ts'
import { outboxRows, type OutboxRows } from './outbox.ts'
import { createRelay, type Relay } from './relay.ts'
import { createRunner, type Runner } from './runner.ts'
import { aborted } from './signal.ts'
import { createSweepers, type Sweepers } from './sweepers.ts'

/** The job queue: handles the outbox's announcements and runs the sweepers. */
export function createQueue(deps: QueueDeps) {
  const { statements, clock, topics } = deps
  refuseTwins(topics.map(({ topic }) => topic))
  const pace = { ...PACE, ...deps.pace }
  const rows = outboxRows(statements)
  let works: Works | null = null

  return {
    /**
     * Call after a commit with announcements, so that they need not wait for the next poll. Harmless in any process.
     */
    wake(): void {
      works?.relay.wake()
    },
    /** An outbox calls this when it writes, before the commit. Harmless in any process. */
    announced(): void {
      works?.relay.expect()
    },
    /** For worker processes. Needs the database; Redis may be unavailable. */
    async start(): Promise<void> {
      if (works !== null) throw new Error('the queue is started already')
      works = await startWorks({ ...deps, pace }, rows)
    },
    /** Takes no new work. Handlers that have not ended by the deadline are aborted, and their rows run again. */
    async stop(deadlineMs = 20_000): Promise<void> {
      const stopping = works
      works = null
      if (stopping !== null) await stopWorks(stopping, deadlineMs)
    },
    async health(): Promise<QueueHealth> {
      const now = clock.now()
      const { oldestDue, oldestUnleased, dead } = await rows.census(now)
      return {
        backend: deps.backend.kind,
        lagSeconds: secondsSince(oldestUnleased, now),
        oldestDueSeconds: secondsSince(oldestDue, now),
        dead,
      }
    },
  }
}

export type Queue = ReturnType<typeof createQueue>

export interface QueueDeps {
  statements: Statements
  clock: Clock
  log: Log
  backend: BackendAddress
  topics: readonly Topic[]
  sweepers: readonly Sweeper[]
  measures?: QueueMeasures
  tracer?: Tracer | null
  pace?: Partial<Pace>
}

interface Works {
  backend: Backend
  runner: Runner
  relay: Relay
  sweepers: Sweepers
}

async function startWorks(deps: QueueDeps & { pace: Pace }, rows: OutboxRows): Promise<Works> {
  const { statements, clock, log, pace, topics, measures } = deps
  let relay: Relay | null = null
  const repeating = [...deps.sweepers, retention(rows, pace)]
  const sweepers = createSweepers({ statements, clock, log, pace, measures, sweepers: repeating })
  const backend = await openBackend(deps.backend, {
    statements,
    clock,
    log,
    pace,
    onUp: () => relay?.wake(),
  })
  const runner = createRunner({
    topics,
    rows,
    clock,
    log,
    measures,
    tracer: deps.tracer,
    onEnd: (stillRunning, tookTurn) => relay?.handled(stillRunning, tookTurn),
  })
  relay = createRelay({ topics, rows, backend, running: runner.running, clock, log, pace, measures })
  await Promise.all(
    topics.map(({ topic, concurrency }) => backend.work(topic, concurrency, (job) => runner.handle(job))),
  )
  relay.start()
  sweepers.start()
  return { backend, runner, relay, sweepers }
}

/** Redis may be unavailable here: its connections open and reconnect by themselves. */
export async function openBackend(address: BackendAddress, deps: BackendDeps): Promise<Backend> {
  return address.kind === 'redis' ? openRedis(address.url, deps) : openPostgres(address.connectionString, deps)
}

async function stopWorks({ backend, runner, relay, sweepers }: Works, deadlineMs: number): Promise<void> {
  // Not `AbortSignal.timeout`: until its time came, it would hold everything that a stopped queue knows.
  const deadline = new AbortController()
  const timer = setTimeout(() => {
    deadline.abort()
    runner.abandon()
  }, deadlineMs)
  relay.retire()
  try {
    await Promise.all([backend.pause(), runner.drain(), sweepers.stop(deadline.signal)])
  } finally {
    clearTimeout(timer)
  }
  await relay.stop()
  // A backend that has become unavailable must not delay the process's end, which closes its sockets anyway.
  await Promise.race([backend.close(), aborted(AbortSignal.timeout(CLOSE_MS))])
}

const CLOSE_MS = 5_000

function retention(rows: OutboxRows, pace: Pace): Sweeper {
  return {
    name: 'outbox-retention',
    everyMs: 60_000,
    async run(now, signal) {
      const before = new Date(now.getTime() - pace.keepDoneMs)
      while (!signal.aborted && (await rows.prune(before)) > 0);
    },
  }
}

function secondsSince(moment: Date | null, now: Date): number {
  return moment === null ? 0 : Math.max(0, (now.getTime() - moment.getTime()) / 1000)
}

function refuseTwins(names: readonly string[]): void {
  const twin = names.find((name, place) => names.indexOf(name) !== place)
  if (twin !== undefined) throw new Error(`two parts handle the topic ${twin}`)
}
