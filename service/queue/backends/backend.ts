import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../kit/log.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { BackendKind, Job, Pace, StartedJob } from '../model.ts'

/** Hands jobs from the relays to the workers of all processes. May forget everything at any time. */
export interface Backend {
  readonly kind: BackendKind
  /** Whether a push has a chance. */
  up(): boolean
  /** A job that is there already stays as it is. */
  push(topic: string, jobs: readonly Job[]): Promise<void>
  /** Starts a worker. Rejects where the backend cannot be away and does not answer. */
  work(topic: string, concurrency: number, handle: (job: StartedJob) => Promise<void>): Promise<void>
  /** No worker fetches a job any more; what is fetched goes on. */
  pause(): Promise<void>
  close(): Promise<void>
}

export type BackendAddress = { kind: 'redis'; url: string } | { kind: 'postgres'; connectionString: string }

export interface BackendDeps {
  topics: number
  statements: Statements
  clock: Clock
  log: Log
  pace: Pace
  /** A backend that was away answers again. */
  onUp(): void
}
