import type { Role } from '../config.ts'
import type { MetricValues } from '../api/metrics.ts'

/** What one of several processes behind one port does. */
export interface Share {
  roles: readonly Role[]
  /** Whether it takes connections. */
  listens: boolean
}

/** What the first process tells the others. */
export type Order =
  | { kind: 'begin'; name: string; listens: boolean }
  | { kind: 'stop'; notice: boolean }
  | { kind: 'metrics wanted'; ask: number }
  | { kind: 'metrics'; ask: number; of: MetricValues[] }

/** What the others tell the first. */
export type Report =
  | { kind: 'here' }
  | { kind: 'ready'; port: number | null; demoKey: string | null }
  | { kind: 'metrics wanted'; ask: number }
  | { kind: 'metrics'; ask: number; values: MetricValues }

/**
 * Every process takes connections, since the port hands each connection to any of them; so each serves all that is asked
 * for from outside. Work that runs by itself is done by a quarter of them, at least one: with four and more these take no
 * connections, so that no request waits behind such work, nor it behind requests.
 */
export function shareOut(roles: readonly Role[], processes: number): Share[] {
  const asked = roles.filter((role) => role !== 'worker')
  if (asked.length === roles.length || asked.length === 0)
    return Array.from({ length: processes }, () => ({ roles, listens: true }))
  const working = Math.max(1, Math.floor(processes / 4))
  const apart = processes >= 4
  return Array.from({ length: processes }, (_, place) => {
    if (place >= working) return { roles: asked, listens: true }
    return apart ? { roles: ['worker'], listens: false } : { roles, listens: true }
  })
}

/** Each key that signs is only in the processes that sign with it. An empty variable counts as unset. */
export function withheldFrom(roles: readonly Role[]): Readonly<Record<string, string>> {
  return {
    ...(roles.includes('worker') ? {} : { WALLET_XPRV: '', PAYER_SEED: '' }),
    ...(roles.includes('facilitator') ? {} : { SPONSOR_PRIVATE_KEYS: '' }),
  }
}

/** How long to wait before the next start of a process that ended `deaths` times in a row. */
export function restartAfterMs(deaths: number): number {
  return Math.min(30_000, 500 * 2 ** Math.min(deaths, 10))
}
