import type { DeliveryState, OnUnconfirmed } from '../model.ts'

/**
 * The waits between attempts: the first attempt is immediate, the next ones follow after 5 s, 30 s, 2 min, 10 min, 1 h,
 * 3 h, 6 h, 12 h and 24 h.
 */
const WAITS_MS = [5_000, 30_000, 120_000, 600_000, 3_600_000, 10_800_000, 21_600_000, 43_200_000, 86_400_000] as const

/** How many attempts the schedule has. */
export const ATTEMPTS = WAITS_MS.length + 1

/**
 * When an attempt is due, by its place in the schedule, starting with 0; null after the end of the schedule. Jitter
 * only adds time, up to a tenth: no attempt is early, and attempts that failed together are spread out. `chance` is
 * from 0 to 1.
 */
export function dueAt(place: number, now: Date, chance: number): Date | null {
  const waitMs = place === 0 ? 0 : WAITS_MS[place - 1]
  return waitMs === undefined ? null : new Date(now.getTime() + Math.round(waitMs * (1 + 0.1 * chance)))
}

/** Until when a receiver may fetch a delivery of this time. */
export function fetchBy(now: Date): Date {
  return new Date(now.getTime() + FETCH_MS)
}

/** As far back as a receiver can have deliveries again. */
export function fetchableSince(now: Date): Date {
  return new Date(now.getTime() - FETCH_MS)
}

const FETCH_MS = 7 * 24 * 3_600_000

/** The consequence of the receiver's answer. */
export type Decision = 'confirmed' | 'gone' | 'failed'

/**
 * `duplicate` confirms nothing: the attempt that came first may have failed halfway. `isFinal`: the receiver's error ends the
 * delivery, except where it only says that the receiver was busy.
 */
export function decisionOf(
  { status, answer, retryAfter }: { status: number | null; answer: string | null; retryAfter: boolean },
  isFinal: boolean,
): Decision {
  if (status === 410) return 'gone'
  if (status === null) return 'failed'
  if (status >= 400) return isFinal && !(BUSY.has(status) || (status === 503 && retryAfter)) ? 'gone' : 'failed'
  if (status < 200 || status > 299) return 'failed'
  return saysDuplicate(answer) ? 'failed' : 'confirmed'
}

/** Request timeout, too early, too many requests. */
const BUSY: ReadonlySet<number> = new Set([408, 425, 429])

/** The state of a delivery when its attempt ends without a confirmation. */
export interface Standing {
  state: DeliveryState
  /** The attempt's place in the schedule, from 0. */
  place: number
  onUnconfirmed: OnUnconfirmed
}

/** The next state of a delivery. */
export interface Course {
  state: DeliveryState
  place: number
  dueAt: Date | null
  /** The claim is withdrawn. */
  reopened: boolean
  /** The notice to the owner. */
  notice: 'delivery.unconfirmed' | 'delivery.stopped' | 'delivery.exhausted' | null
}

/**
 * A claimed delivery is not sent again unless its owner wants that, since the work may have been done. All others
 * follow the schedule to its end.
 */
export function afterFailure(standing: Standing, decision: 'gone' | 'failed', now: Date, chance: number): Course {
  const claimed = standing.state === 'claimed'
  const place = standing.place + 1
  const ended = { place, dueAt: null, reopened: false }
  if (claimed && (standing.onUnconfirmed === 'hold' || decision === 'gone')) {
    return { ...ended, state: 'unconfirmed', notice: 'delivery.unconfirmed' }
  }
  if (decision === 'gone') return { ...ended, state: 'stopped', notice: 'delivery.stopped' }
  const next = dueAt(place, now, chance)
  if (next !== null) return { state: 'pending', place, dueAt: next, reopened: claimed, notice: null }
  if (claimed) return { ...ended, state: 'unconfirmed', notice: 'delivery.unconfirmed' }
  return { ...ended, state: 'exhausted', notice: 'delivery.exhausted' }
}

/** A claimed delivery may be confirmed for as long as an attempt may take, and this much longer. */
export const CONFIRM_GRACE_MS = 10_000

/** Whether an endpoint has failed without a success for too long. */
export function isGivenUp(failingSince: Date, now: Date): boolean {
  return now.getTime() - failingSince.getTime() >= FAILING_MS_MAX
}

const FAILING_MS_MAX = 5 * 24 * 3_600_000

function saysDuplicate(answer: string | null): boolean {
  // Most answers are short and unrelated, so only a candidate is parsed.
  if (answer?.includes('"duplicate"') !== true) return false
  try {
    const parsed: unknown = JSON.parse(answer)
    return typeof parsed === 'object' && parsed !== null && (parsed as { duplicate?: unknown }).duplicate === true
  } catch {
    return false
  }
}
