/** Code whose decisions depend on the time takes a `Clock`, so that a test can set the time. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }

/** Whole UTC days, from the first up to, and not with, the last one; and as many days before them, to compare with. */
export interface Span {
  from: Date
  to: Date
  before: Date
}

/** `first` and `last` are days like 2026-01-31, both of them included. */
export function spanOf(first: string, last: string): Span {
  const from = Date.parse(first)
  const to = Date.parse(last) + DAY_MS
  return { from: new Date(from), to: new Date(to), before: new Date(2 * from - to) }
}

/** How many days there are from the first to the last, both of them included. */
export function daysIn(first: string, last: string): number {
  return (Date.parse(last) - Date.parse(first)) / DAY_MS + 1
}

const DAY_MS = 86_400_000
