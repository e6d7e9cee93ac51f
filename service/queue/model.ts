import type { ZodType } from 'zod'
import type { Owner } from '../kit/owner.ts'
import type { Statements } from '../kit/transaction.ts'

/** Work that has to happen after a commit, written by that commit. */
export interface Announcement {
  topic: string
  payload: JsonObject
  /** The earliest time. Immediately when absent. */
  dueAt?: Date
  /** The account that the work belongs to, when the topic's accounts take turns. */
  turn?: Turn
}

/** The account whose turn the work takes, and the target that it occupies, such as the creator of a run's asset. */
export interface Turn {
  account: string
  target?: string
}

/** Each environment of an account has turns of its own. */
export function turnOf({ environment, userId }: Owner): Turn {
  return { account: `${environment}/${userId}` }
}

/** Accounts take turns in a topic: each has a limited number of rows in progress, over all processes. */
export interface Turns {
  perAccount: number
  /** The limit for one target, over all accounts. */
  perTarget?: number
}

/** What capabilities use to announce work. It never calls the backend. */
export interface Outbox {
  /**
   * Runs in the transaction of the announced change. Call `Queue.wake()` after the commit to avoid waiting for the next
   * poll.
   */
  add(statements: Statements, announcements: readonly Announcement[]): Promise<void>
}

export type JsonObject = { readonly [name: string]: Json | undefined }
export type Json = string | number | boolean | null | readonly Json[] | JsonObject

/**
 * How a topic's announcements are handled. A handler may run twice for one row, also at the same time in two processes.
 * The result must be the same.
 */
export interface Topic<Payload = unknown> {
  topic: string
  decode: ZodType<Payload>
  handle(payload: Payload, context: Context): Promise<void>
  /** Handlers that run at once in each process. */
  concurrency: number
  /** Whoever's work it is takes turns with the others. Null where something else bounds them: the oldest due row goes first. */
  turns: Turns | null
  /** After this time the handler's signal aborts and the attempt counts as failed. */
  timeoutMs: number
  /** The delay after the first failure, the second, and so on. A row that fails after the last delay is dead. */
  retryDelaysMs?: readonly number[]
}

export interface Context {
  /** The row's id, the same at every attempt, so that a handler can be idempotent. */
  id: string
  /** 0 at the first attempt. */
  attempt: number
  announcedAt: Date
  /** Aborts at the timeout and when the process stops waiting for its handlers. */
  signal: AbortSignal
}

/**
 * Repeating work that one process does at a time. It may still overlap with the last run of a leader that lost its
 * connection.
 */
export interface Sweeper {
  name: string
  everyMs: number
  run(now: Date, signal: AbortSignal): Promise<void>
}

/** One row that was given to a backend, and its attempt. */
export interface Job {
  id: string
  attempt: number
}

export interface StartedJob extends Job {
  /** How many processes ended while they handled this job. */
  crashes: number
}

export interface QueueHealth {
  backend: BackendKind
  /** How long the oldest due row has waited for a relay to lease it. Only the queue itself can cause this. */
  lagSeconds: number
  /** How long the oldest due row has not been done. Slow handlers can cause this too. */
  oldestDueSeconds: number
  dead: number
}

export type BackendKind = 'redis' | 'postgres'

/** For metrics. */
export interface QueueMeasures {
  pushed(topic: string, rows: number): void
  handled(topic: string, outcome: Outcome, seconds: number): void
  /** Before the first turn of a sweeper: a counter that begins with its first failure shows no rise for that one. */
  sweeps(sweeper: string): void
  swept(sweeper: string, succeeded: boolean, seconds: number): void
}

export type Outcome = 'done' | 'retry' | 'dead' | 'returned'

export interface Pace {
  /** How long a row stays leased unless renewed. A lost job is pushed again after this time. */
  leaseMs: number
  /** How long a relay sleeps without a signal: the longest wait of a row that another process wrote. */
  pollMs: number
  /** The most rows of a topic that the backend has at once, and the largest batch. */
  window: number
  /** A job whose process has not renewed it for this long goes to another process. */
  jobLockMs: number
  /** How long a push waits for a backend that takes the command and does not answer. */
  commandMs: number
  /** How long the leader of the sweepers may be silent before another process takes over. */
  leaderMs: number
  /** What a sweeper's time between two turns is multiplied by: 1, and less where a test waits for the next turn. */
  sweepFactor: number
  /** How long done rows stay, for inspection. */
  keepDoneMs: number
}

/**
 * Leases last three seconds: so long it takes until an emptied Redis is filled again. Shorter leases would only push
 * rows again whose jobs still wait. Such a push finds the job and changes nothing, but costs a statement. The rows of
 * running handlers are renewed, so a handler may take longer than a lease.
 */
export const PACE: Pace = {
  leaseMs: 3_000,
  pollMs: 500,
  window: 1_000,
  jobLockMs: 6_000,
  commandMs: 5_000,
  leaderMs: 5_000,
  sweepFactor: 1,
  keepDoneMs: 24 * 3_600_000,
}

/**
 * A failure of a minute delays a row by seconds, and rows survive an outage of an hour. A person handles what is left.
 */
export const RETRY_DELAYS_MS: readonly number[] = [1_000, 5_000, 30_000, 120_000, 600_000, 3_600_000]
