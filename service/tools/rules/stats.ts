import type { Fault } from '../model/call.ts'
import type { ToolStats } from '../model/tool.ts'

/*
 * Times are counted in classes, each a fifth longer than the one before. A class differs from the real time by a tenth
 * at most, and sixty counters cover a day of any tool.
 */
const STEP = 1.2

export function classOf(durationMs: number): number {
  return durationMs <= 1 ? 0 : Math.min(LAST, Math.ceil(Math.log(durationMs) / Math.log(STEP)))
}

export function msOf(latencyClass: number): number {
  return Math.round(STEP ** latencyClass)
}

/** Failures have their own classes. */
export const FAILED: Readonly<Record<Fault, number>> = { upstream: -1, caller: -2, ours: -3 }

/** A tool's counters by class. */
export type Counters = ReadonlyMap<number, number>

export function statsOf(counters: Counters): Pick<ToolStats, 'calls' | 'succeeded' | 'p50Ms' | 'p95Ms'> {
  const of = (wanted: (latencyClass: number) => boolean): number =>
    [...counters].reduce((sum, [latencyClass, calls]) => (wanted(latencyClass) ? sum + calls : sum), 0)
  const succeeded = of((one) => one >= 0)
  return {
    // Our own failures do not count for the tool.
    calls: of((one) => one !== FAILED.ours),
    succeeded,
    p50Ms: quantile(counters, succeeded, 0.5),
    p95Ms: quantile(counters, succeeded, 0.95),
  }
}

function quantile(counters: Counters, succeeded: number, part: number): number | null {
  if (succeeded === 0) return null
  let before = 0
  for (const [latencyClass, calls] of [...counters].sort(([one], [other]) => one - other)) {
    if (latencyClass < 0) continue
    before += calls
    if (before >= succeeded * part) return msOf(latencyClass)
  }
  return null
}

/** After this many consecutive failures by its own fault, a tool counts as failing. */
export const FAILING_STREAK = 5

const LAST = 66
