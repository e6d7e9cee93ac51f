import { KINDS, type Kind, type Marks } from './model.ts'

/** What changed between two looks. */
export function changedBetween(before: Marks, now: Marks): readonly Kind[] {
  return KINDS.filter((_kind, place) => before[place] !== now[place])
}

/** As a stream names a place in it, so that whoever comes back is told what they missed. */
export function toPlace(marks: Marks): string {
  return marks.join('.')
}

/** Of another release, or of nobody's making: then nothing is known, and each kind may have changed. */
export function fromPlace(text: string): Marks {
  const marks = text.split('.')
  return marks.length === KINDS.length ? marks : KINDS.map(() => '')
}

/** How long to rest after a look: the longer it took the longer, so that a slow database is not asked the more often. */
export function restAfter(tookMs: number): number {
  return Math.min(MOST_MS, Math.max(LEAST_MS, 9 * tookMs))
}

const LEAST_MS = 1_000
/** Whoever waits for a run to end is told by then at the latest. */
const MOST_MS = 3_000
