import { usdc, ZERO, type Usdc } from '../../kit/money.ts'
import type { Expense, Usage, WindowLimit } from '../model.ts'

/** All windows are in UTC; a week begins on Monday, as in ISO 8601. */
export const WINDOWS: readonly WindowLimit[] = ['perMinute', 'perDay', 'perWeek', 'perMonth', 'lifetime']

/** The first moment of the window that `at` is in. */
export function startOf(window: WindowLimit, at: Date): Date {
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()]
  switch (window) {
    case 'perMinute':
      return new Date(Math.floor(at.getTime() / 60_000) * 60_000)
    case 'perDay':
      return new Date(Date.UTC(year, month, day))
    case 'perWeek':
      return new Date(Date.UTC(year, month, day - ((at.getUTCDay() + 6) % 7)))
    case 'perMonth':
      return new Date(Date.UTC(year, month, 1))
    case 'lifetime':
      return new Date(0)
  }
}

/** The first moment after the window; null for the lifetime. */
export function endOf(window: WindowLimit, at: Date): Date | null {
  const start = startOf(window, at)
  const [year, month, day] = [start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate()]
  switch (window) {
    case 'perMinute':
      return new Date(start.getTime() + 60_000)
    case 'perDay':
      return new Date(Date.UTC(year, month, day + 1))
    case 'perWeek':
      return new Date(Date.UTC(year, month, day + 7))
    case 'perMonth':
      return new Date(Date.UTC(year, month + 1, 1))
    case 'lifetime':
      return null
  }
}

export function emptyUsage(at: Date): Usage {
  return { at, perMinute: ZERO, perDay: ZERO, perWeek: ZERO, perMonth: ZERO, lifetime: ZERO, calls: 0 }
}

/**
 * The same usage at a later moment: windows that have ended are empty. An agent's time never runs backwards: a process
 * whose clock is behind uses the newest window in which any process has counted, so two clocks never make two windows
 * out of one.
 */
export function roll(usage: Usage, now: Date): Usage {
  const at = now > usage.at ? now : usage.at
  const rolled: Usage = { ...usage, at }
  for (const window of WINDOWS) if (!sameWindow(window, usage.at, at)) rolled[window] = ZERO
  if (!sameWindow('perMinute', usage.at, at)) rolled.calls = 0
  return rolled
}

/** Counts one more call, at the usage's moment; only its money where the call was counted before. */
export function count(usage: Usage, amount: Usdc, { isCounted = false }: Pick<Expense, 'isCounted'> = {}): Usage {
  const counted: Usage = { ...usage, calls: usage.calls + (isCounted ? 0 : 1) }
  for (const window of WINDOWS) counted[window] = usdc(usage[window] + amount)
  return counted
}

/** Returns money that was counted at `at`: each window that still runs gets its room back. */
export function giveBack(usage: Usage, at: Date, amount: Usdc): Usage {
  const rolled: Usage = { ...usage }
  for (const window of WINDOWS) if (sameWindow(window, at, usage.at)) rolled[window] = usdc(usage[window] - amount)
  return rolled
}

function sameWindow(window: WindowLimit, one: Date, other: Date): boolean {
  return startOf(window, one).getTime() === startOf(window, other).getTime()
}
