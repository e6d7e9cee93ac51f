/** The periods that a list can be narrowed to, in whole UTC days, as the charts have them. */
export const PERIODS = [
  ['today', 'Today'],
  ['week', 'Last 7 days'],
  ['month', 'Last 30 days'],
  ['this-month', 'This month'],
  ['last-month', 'Last month'],
  ['days', 'Days that I choose'],
] as const

type Period = (typeof PERIODS)[number][0]

interface Span {
  /** Began at this time or later, and before the other. */
  from?: string
  to?: string
}

/** `first` and `last` are the chosen days, like 2026-01-31; a day that is none bounds nothing. */
export function spanOf(
  period: Period | undefined,
  now: number,
  { first, last }: { first: string | undefined; last: string | undefined },
): Span {
  const today = new Date(now)
  const [year, month, day] = [today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate()]
  const from = (of: number, at: number): Span => ({ from: new Date(Date.UTC(year, of, at)).toISOString() })
  switch (period) {
    case undefined:
      return {}
    case 'today':
      return from(month, day)
    case 'week':
      return from(month, day - 6)
    case 'month':
      return from(month, day - 29)
    case 'this-month':
      return from(month, 1)
    case 'last-month':
      return { ...from(month - 1, 1), to: new Date(Date.UTC(year, month, 1)).toISOString() }
    case 'days': {
      const [start, end] = [startOf(first), startOf(last)]
      return {
        ...(start === null ? {} : { from: new Date(start).toISOString() }),
        ...(end === null ? {} : { to: new Date(end + DAY_MS).toISOString() }),
      }
    }
  }
}

/** The periods that sums can be for, whole days of which the first and the last are known. */
export const SUM_PERIODS = [
  ['7', 'Last 7 days'],
  ['30', 'Last 30 days'],
  ['90', 'Last 90 days'],
  ['this-month', 'This month'],
  ['last-month', 'Last month'],
  ['days', 'Days that I choose'],
] as const

/** Both days are included. */
export interface Days {
  first: string
  last: string
}

/** Chosen days that are none, or too many, are moved so that there is a period: it ends with the last one. */
export function daysOf(period: (typeof SUM_PERIODS)[number][0], now: number, chosen: Partial<Days>): Days {
  const today = new Date(now)
  const [year, month, day] = [today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate()]
  const at = (of: number, on: number): string => dayAt(Date.UTC(year, of, on))
  switch (period) {
    case '7':
    case '30':
    case '90':
      return { first: at(month, day - Number(period) + 1), last: at(month, day) }
    case 'this-month':
      return { first: at(month, 1), last: at(month, day) }
    case 'last-month':
      return { first: at(month - 1, 1), last: at(month, 0) }
    case 'days': {
      const end = startOf(chosen.last) ?? Date.UTC(year, month, day)
      const start = startOf(chosen.first) ?? end - 29 * DAY_MS
      return { first: dayAt(Math.max(Math.min(start, end), end - (DAYS_MAX - 1) * DAY_MS)), last: dayAt(end) }
    }
  }
}

export function daysIn({ first, last }: Days): number {
  return (Date.parse(last) - Date.parse(first)) / DAY_MS + 1
}

/** As many days before them. */
export function daysBefore({ first, last }: Days): Days {
  const from = Date.parse(first)
  return { first: dayAt(2 * from - Date.parse(last) - DAY_MS), last: dayAt(from - DAY_MS) }
}

function dayAt(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

/** The service sums up no more at once. */
const DAYS_MAX = 366
const DAY_MS = 86_400_000

function startOf(day: string | undefined): number | null {
  if (day === undefined || !/^(?:19[7-9]\d|[2-8]\d{3})-\d{2}-\d{2}$/.test(day)) return null
  const at = Date.parse(day)
  return Number.isNaN(at) ? null : at
}
