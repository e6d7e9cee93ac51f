import type { Limit } from '../../../service/budgets/model.ts'

/** The setup that all processes share: eight agents, each with another limit as its tightest. */
export interface ChaosAgent {
  id: string
  userId: string
  limits: Partial<Record<Limit, number>>
  callsPerMinute: number | null
}

/** Which place, of what. Amounts are in micro-dollars; an ask is for 1 to 100 of them. */
export const LIMITS: readonly Pick<ChaosAgent, 'limits' | 'callsPerMinute'>[] = [
  { limits: { perMinute: 300 }, callsPerMinute: null },
  { limits: { perDay: 401 }, callsPerMinute: null },
  { limits: { perWeek: 403 }, callsPerMinute: null },
  { limits: { perMonth: 507 }, callsPerMinute: null },
  { limits: { lifetime: 611 }, callsPerMinute: null },
  { limits: {}, callsPerMinute: 17 },
  {
    limits: { perCall: 50, perMinute: 301, perDay: 800, perWeek: 900, perMonth: 1_000, lifetime: 1_700 },
    callsPerMinute: 23,
  },
  { limits: { perDay: 1, perMinute: 100 }, callsPerMinute: null },
]

/**
 * Time runs twenty times as fast, and begins ten of its minutes before the end of a Sunday that is the last of its
 * month: half-way through, minute, day, week and month all begin anew.
 */
export const SPEED = 20
export const BEGINNING = Date.parse('2026-05-31T23:50:00.000Z')

export interface Orders {
  url: string
  agents: readonly ChaosAgent[]
  /** The real moment of the beginning. */
  startedAt: number
  /** How far this process's clock is off, in its own milliseconds. */
  skewMs: number
  atOnce: number
}
