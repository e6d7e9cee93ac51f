import type { Config } from '../../config.ts'

/** One result of a check. A fault will lose or refuse work or money; a warning may. */
export interface Finding {
  /** What was looked at: `database clock`. */
  check: string
  level: 'ok' | 'warning' | 'fault'
  /** What was found, and where it is not as it should be, what to do. */
  says: string
}

/** What a check looks at; a test passes its own. */
export interface CheckContext {
  config: Config
  now(): number
}

export type Check = (context: CheckContext) => Promise<readonly Finding[]>

export function fine(check: string, says: string): Finding {
  return { check, level: 'ok', says }
}

export function warning(check: string, says: string): Finding {
  return { check, level: 'warning', says }
}

export function fault(check: string, says: string): Finding {
  return { check, level: 'fault', says }
}

/** An error's message alone; of a host with several addresses those of each attempt. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ')
  if (error instanceof Error) return error.message === '' ? error.name : error.message
  return String(error)
}
