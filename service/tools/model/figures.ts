/** What became of a tool's calls lately, as they were measured here. */
export interface Figures {
  readonly calls: number
  readonly succeeded: number
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  /** The last failure's words, if there was one. */
  readonly lastError: string | null
  /** Set by the health check: it fails so often that whoever finds it should know. */
  readonly failing: boolean
}
