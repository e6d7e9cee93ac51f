import type { Owner } from '../kit/owner.ts'

/** What an account's open pages hear of: that something of a kind changed, never what. */
export const KINDS = [
  'wallet',
  'runs',
  'assets',
  'checkouts',
  'deliveries',
  'agents',
  'tools',
  'paywalls',
  'keys',
] as const
export type Kind = (typeof KINDS)[number]

/** One for each kind, in their order. Another mark than before means that something changed; it says nothing else. */
export type Marks = readonly string[]

/** `over` once the listener's session has ended. The first news of a new stream has no kinds. */
export type News = { kinds: readonly Kind[]; marks: Marks } | { over: true }

export interface ChangeStore {
  /** Of each account its marks, in the order asked for. */
  marks(owners: readonly Owner[]): Promise<readonly Marks[]>
}

/** What changed between two looks. */
export function changedBetween(before: Marks, now: Marks): readonly Kind[] {
  return KINDS.filter((_kind, place) => before[place] !== now[place])
}

/** The id of a place in the stream: a follower that comes back gets what it missed. */
export function toPlace(marks: Marks): string {
  return marks.join('.')
}

/** An id of another release, or an invalid one: then each kind may have changed. */
export function fromPlace(text: string): Marks {
  const marks = text.split('.')
  return marks.length === KINDS.length ? marks : KINDS.map(() => '')
}

/** How long to rest after a look: the longer it took the longer, so that a slow database is not asked the more often. */
export function restAfter(tookMs: number, leastMs: number): number {
  return Math.min(MOST_MS, Math.max(leastMs, 9 * tookMs))
}

export const LEAST_MS = 1_000
/** A page that waits for a run's end hears of it by then at the latest. */
const MOST_MS = 3_000
