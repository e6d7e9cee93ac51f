/** The log for operators. The process supplies its logger; a test supplies one that records. */
export interface Log {
  info(fields: Record<string, unknown>, text: string): void
  warn(fields: Record<string, unknown>, text: string): void
  error(fields: Record<string, unknown>, text: string): void
}

/** Counts events for the metrics. */
export interface Measures {
  count(event: string, by?: number): void
}
