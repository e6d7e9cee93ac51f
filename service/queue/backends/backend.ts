import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../kit/log.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { BackendKind, Job, Pace, StartedJob } from '../model.ts'

/** Passes jobs from the relays to the workers of all processes. It may lose everything at any time. */
export interface Backend {
  readonly kind: BackendKind
  /** Whether a push can succeed. */
  up(): boolean
  /** A job that exists already stays unchanged. */
  push(topic: string, jobs: readonly Job[]): Promise<void>
  /** Starts a worker. Rejects when the backend does not answer and cannot work while it is unavailable. */
  work(topic: string, concurrency: number, handle: (job: StartedJob) => Promise<void>): Promise<void>
  /** The workers fetch no more jobs. Jobs that were fetched continue. */
  pause(): Promise<void>
  close(): Promise<void>
}

export type BackendAddress = { kind: 'redis'; url: string } | { kind: 'postgres'; connectionString: string }

export interface BackendDeps {
  statements: Statements
  clock: Clock
  log: Log
  pace: Pace
  /** Called when the backend answers again after an outage. */
  onUp(): void
}
