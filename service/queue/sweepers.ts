import { randomUUID } from 'node:crypto'
import type { Clock } from '../kit/clock.ts'
import { within } from '../kit/context.ts'
import type { Log } from '../kit/log.ts'
import type { Statements } from '../kit/transaction.ts'
import { aborted, Signal } from './signal.ts'
import type { Pace, QueueMeasures, Sweeper } from './model.ts'

/**
 * Repeating work that one leading process does at a time. It needs only the database, so the work of dead processes is
 * cleaned up even while Redis is unavailable.
 */
export function createSweepers(deps: SweeperDeps) {
  const { clock, log, pace, sweepers, measures } = deps
  const lease = createLease(deps.statements, 'sweepers', randomUUID())
  const running = new Map<string, Promise<void>>()
  const dueAt = new Map<string, number>()
  const signal = new Signal()
  for (const { name } of sweepers) measures?.sweeps(name)
  /** Aborts the running sweepers when this process loses the lead. Null while another process leads. */
  let lead: AbortController | null = null
  let leadUntil = 0
  let stopped = false
  let loop: Promise<void> | null = null

  /** Renews or seeks the lead and starts due sweepers without waiting for them. Returns whether this process leads. */
  async function tick(): Promise<boolean> {
    const now = clock.now()
    const until = new Date(now.getTime() + pace.leaderMs)
    if (!(await lease.take(now, until))) {
      resign('another process leads the sweepers')
      return false
    }
    leadUntil = until.getTime()
    lead ??= new AbortController()
    for (const sweeper of sweepers) if (isDue(sweeper, now)) begin(sweeper, now, lead.signal)
    return true
  }

  function isDue(sweeper: Sweeper, now: Date): boolean {
    return !running.has(sweeper.name) && (dueAt.get(sweeper.name) ?? 0) <= now.getTime()
  }

  function begin(sweeper: Sweeper, now: Date, signal: AbortSignal): void {
    dueAt.set(sweeper.name, now.getTime() + sweeper.everyMs * pace.sweepFactor)
    const run = sweep(sweeper, now, signal).finally(() => running.delete(sweeper.name))
    running.set(sweeper.name, run)
  }

  async function sweep(sweeper: Sweeper, now: Date, signal: AbortSignal): Promise<void> {
    const started = performance.now()
    let succeeded = true
    try {
      await within({ tags: { sweeper: sweeper.name } }, () => sweeper.run(now, signal))
    } catch (error) {
      succeeded = false
      log.error({ sweeper: sweeper.name, err: error }, 'a sweeper failed; it runs again at its next turn')
    }
    measures?.swept(sweeper.name, succeeded, (performance.now() - started) / 1000)
  }

  function resign(reason: string): void {
    lead?.abort(new Error(reason))
    lead = null
  }

  async function run(): Promise<void> {
    while (!stopped) {
      try {
        await tick()
      } catch (error) {
        log.warn({ err: error }, 'the lease of the sweeper leader could not be renewed')
        if (clock.now().getTime() >= leadUntil) resign('the lease expired')
      }
      await signal.wait(Math.min(pace.leaderMs / 5, ...sweepers.map(({ everyMs }) => everyMs * pace.sweepFactor)))
    }
  }

  return {
    tick,
    start(): void {
      stopped = false
      loop ??= run()
    },
    /** Running sweepers may finish until the deadline aborts. After that the lead is released immediately. */
    async stop(deadline: AbortSignal): Promise<void> {
      stopped = true
      signal.raise()
      await loop
      loop = null
      const abort = () => {
        resign('the process is stopping')
      }
      deadline.addEventListener('abort', abort)
      await Promise.race([Promise.all(running.values()), aborted(deadline)])
      deadline.removeEventListener('abort', abort)
      lead = null
      await lease.release()
    },
  }
}

export type Sweepers = ReturnType<typeof createSweepers>

interface SweeperDeps {
  statements: Statements
  clock: Clock
  log: Log
  pace: Pace
  sweepers: readonly Sweeper[]
  measures: QueueMeasures | undefined
}

/** A lock that ends when its holder stops renewing it. It consists of plain rows and needs no open connection. */
export interface Lease {
  /** Takes or renews the lock. False while another holder has it. */
  take(now: Date, until: Date): Promise<boolean>
  release(): Promise<void>
}

/** Rejected: an advisory lock, which depends on one session and does not show its holder or its age. */
export function createLease(statements: Statements, name: string, holder: string): Lease {
  return {
    async take(now, until) {
      const rows = await statements.run(
        `INSERT INTO lease (name, holder, until) VALUES ($1, $2, $3)
         ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
         WHERE lease.holder = excluded.holder OR lease.until <= $4
         RETURNING 1`,
        [name, holder, until, now],
      )
      return rows.length > 0
    },
    async release() {
      await statements.run('DELETE FROM lease WHERE name = $1 AND holder = $2', [name, holder])
    },
  }
}
