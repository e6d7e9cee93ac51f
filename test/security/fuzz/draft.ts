export type HeaderLine = readonly [name: string, value: string]

/** A request that could be sent as it is; what is wrong with it so far is in its words. */
export interface Draft {
  kind: string
  method: string
  target: string
  headers: readonly HeaderLine[]
  /** JSON, before it is broken. */
  body: string | null
}
