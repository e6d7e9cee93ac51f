/** How the time of some work grows with the size of its input, on a machine that does other things as well. */
export interface Growth {
  /** Null while a text of four times the size takes about four times as long; else the sizes where it does not. */
  fault: string | null
}

const FACTOR = 4
/** Linear work has 4 here, n log n hardly more, quadratic work 16. */
const RATIO_MAX = 10
/** Below this, a measurement reflects the machine more than the work. */
const TELLING_MS = 20
/** This long is out of proportion for any megabyte: one measurement is enough. */
const CERTAIN_MS = 2_000
const REPEATS = 4

/**
 * Makes the input four times as large over and over, up to a megabyte, and ends where its time is out of proportion
 * twice in a row: a cache or a collector of garbage that is full is noticed once, the work at each size.
 */
export function growthOf(work: (size: number) => () => unknown, largest = 1_048_576): Growth {
  let before: string | null = null
  for (let size = largest / FACTOR ** 5; size < largest; size *= FACTOR) {
    const { ratio, longMs } = compared(work(size), work(size * FACTOR))
    const fault =
      ratio > RATIO_MAX ? `${String(size)} → ${String(size * FACTOR)}: ${ratio.toFixed(0)} times as long` : null
    if (fault !== null && (before !== null || longMs > CERTAIN_MS)) return { fault }
    before = fault
  }
  return { fault: null }
}

/** One slow run may be the machine's fault; if each repetition is slow, the work is. */
function compared(small: () => unknown, large: () => unknown): { ratio: number; longMs: number } {
  let [shortMs, longMs, ratio] = [Infinity, Infinity, Infinity]
  for (let time = 0; time < REPEATS && ratio > RATIO_MAX; time++) {
    longMs = Math.min(longMs, duration(large))
    if (longMs < TELLING_MS) return { ratio: 0, longMs }
    for (let nth = 0; nth < 3; nth++) shortMs = Math.min(shortMs, duration(small))
    ratio = longMs / Math.max(shortMs, 0.5)
  }
  return { ratio, longMs }
}

/** Of this process alone: the time of a clock would count what other processes do on a busy machine. */
function duration(work: () => unknown): number {
  const started = process.cpuUsage()
  try {
    work()
  } catch {
    // A refusal counts as a response: only its duration matters.
  }
  const { user, system } = process.cpuUsage(started)
  return (user + system) / 1_000
}
