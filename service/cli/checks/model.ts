import type { Config } from '../../config.ts'

/** One thing that was looked at. A fault is what will lose work or money, or refuse it; a warning is worth a thought. */
export interface Finding {
  /** What was looked at: `database clock`. */
  check: string
  level: 'ok' | 'warning' | 'fault'
  /** What was found, and where it is not as it should be, what to do. */
  says: string
}

/** What a check needs of the world; a test hands in another. */
export interface CheckContext {
  config: Config
  now(): number
}

export type Examine = (patient: CheckContext) => Promise<readonly Finding[]>

export function fine(check: string, says: string): Finding {
  return { check, level: 'ok', says }
}

export function warning(check: string, says: string): Finding {
  return { check, level: 'warning', says }
}

export function fault(check: string, says: string): Finding {
  return { check, level: 'fault', says }
}

/** The words of an error without what it carries; Node says nothing about a host with several addresses. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ')
  if (error instanceof Error) return error.message === '' ? error.name : error.message
  return String(error)
}
