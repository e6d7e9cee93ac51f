import type { ZodType } from 'zod'
import type { Statements } from '../kit/transaction.ts'

/** Something that has to happen after a commit, written by that commit. */
export interface Announcement {
  topic: string
  payload: JsonObject
  /** Not before this moment; at once when absent. */
  dueAt?: Date
  /** Whose it is, where the topic's accounts take turns. */
  turn?: Turn
}

/** The account whose turn a piece of work takes, and the target that it occupies: the creator of a run's asset. */
export interface Turn {
  account: string
  target?: string
}

/** Accounts take turns in a topic: each has so many rows under way at once, over all processes. */
export interface Turns {
  perAccount: number
  /** Of all accounts together, for one target. */
  perTarget?: number
}

/** The writing side: what every capability needs to announce something. Never touches the backend. */
export interface Outbox {
  /** Inside the transaction of what is announced; `Queue.wake()` after its commit spares a poll's wait. */
  add(statements: Statements, announcements: readonly Announcement[]): Promise<void>
}

export type JsonObject = { readonly [name: string]: Json | undefined }
export type Json = string | number | boolean | null | readonly Json[] | JsonObject

/**
 * What happens to the announcements of one topic. A handler may be called twice for one row, also at the
 * same time in two processes: it must come to the same end either way.
 */
export interface Topic<Payload = unknown> {
  topic: string
  decode: ZodType<Payload>
  handle(payload: Payload, context: Context): Promise<void>
  /** Handlers at once, in each process. */
  concurrency: number
  /** Absent: the oldest due row goes first. */
  turns?: Turns
  /** Past this the handler's signal aborts and the attempt counts as failed. */
  timeoutMs: number
  /** The wait after the first failure, the second, and so on; a row that fails after the last one is dead. */
  retryDelaysMs?: readonly number[]
}

export interface Context {
  /** The row's, the same at every attempt: what a handler can be idempotent by. */
  id: string
  /** 0 the first time. */
  attempt: number
  announcedAt: Date
  /** Aborts at the timeout and when the process stops waiting for its handlers. */
  signal: AbortSignal
}

/** Work that repeats in one process at a time. It may still overlap with the last run of a leader who was cut off. */
export interface Sweeper {
  name: string
  everyMs: number
  run(now: Date, signal: AbortSignal): Promise<void>
}

/** One row on its way through a backend, and which attempt it is. */
export interface Job {
  id: string
  attempt: number
}

export interface StartedJob extends Job {
  /** How many processes ended while they were at this job. */
  crashes: number
}

export interface QueueHealth {
  backend: BackendKind
  /** How long the oldest due row has waited for a relay to lease it: the queue's own fault. */
  lagSeconds: number
  /** How long the oldest row that is due has been so without being done: also the handlers' fault. */
  oldestDueSeconds: number
  dead: number
}

export type BackendKind = 'redis' | 'postgres'

/** For metrics. */
export interface QueueMeasures {
  pushed(topic: string, rows: number): void
  handled(topic: string, outcome: Outcome, seconds: number): void
  swept(sweeper: string, succeeded: boolean, seconds: number): void
}

export type Outcome = 'done' | 'retry' | 'dead' | 'returned'

export interface Pace {
  /** How long a row stays leased unless renewed. A lost job is pushed again after this long. */
  leaseMs: number
  /** How long a relay sleeps without being woken: the longest wait of a row written by another process. */
  pollMs: number
  /** At most this many rows of a topic are with the backend; also the largest batch. */
  window: number
  /** A job whose process has not been heard of for this long goes to another one. */
  jobLockMs: number
  /** How long a leader of the sweepers may be silent before another takes over. */
  leaderMs: number
  /** Done rows are kept this long, to be looked at. */
  keepDoneMs: number
}

/**
 * Leases of three seconds: the pause after which an emptied Redis is filled again. Shorter ones would only
 * push rows again whose jobs still wait; those pushes find their job there and change nothing, but cost a
 * statement. Rows of running handlers are renewed, so a handler may take longer than a lease.
 */
export const PACE: Pace = {
  leaseMs: 3_000,
  pollMs: 500,
  window: 1_000,
  jobLockMs: 6_000,
  leaderMs: 5_000,
  keepDoneMs: 24 * 3_600_000,
}

/** A minute's hiccup costs seconds, an hour's outage is outlived; a person looks after the rest. */
export const RETRY_DELAYS_MS: readonly number[] = [1_000, 5_000, 30_000, 120_000, 600_000, 3_600_000]
