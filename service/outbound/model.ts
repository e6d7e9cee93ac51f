import type { Readable } from 'node:stream'

/** What may be reached besides public addresses. One client has one policy for life: connections are pooled. */
export interface Policy {
  /** Loopback and private ranges, any port. */
  readonly allowPrivate: boolean
  /** `host` or `host:port` that may be reached although loopback or private. */
  readonly allowHosts: readonly string[]
}

export interface OutboundRequest {
  readonly url: string | URL
  /** GET when absent. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly limits?: Partial<Limits>
  /**
   * How many redirects are followed, each checked like a first call; 0 when absent, and then a redirect is an
   * error. `pass` gives the redirect itself as the answer, for those who hand it on or write it down.
   */
  readonly redirects?: number | 'pass'
  /** Keep the first `limits.bodyBytes` and drop the rest, instead of failing. */
  readonly truncate?: boolean
  /** When it aborts, the call rejects with the signal's own reason. */
  readonly signal?: AbortSignal
}

export interface Limits {
  /** Until the answer's headers are in, once connected. */
  readonly headersMs: number
  /** Between two pieces of the body. */
  readonly idleMs: number
  /** From the call to the last byte, redirects included: a slow drip never passes it. */
  readonly totalMs: number
  /** Counted after decompression. */
  readonly bodyBytes: number
}

export interface OutboundResponse {
  readonly status: number
  readonly headers: ResponseHeaders
  readonly body: Buffer
  readonly truncated: boolean
}

export interface StreamedResponse {
  readonly status: number
  readonly headers: ResponseHeaders
  /** Fails with a DomainError. Destroy it to hang up. */
  readonly body: Readable
}

/** Lower-case names. What described the wire (length, encoding, connection) is gone: it isn't true of the body given. */
export type ResponseHeaders = Readonly<Record<string, string | readonly string[]>>

/** All addresses of a host, in the order in which they are to be tried. */
export type Resolve = (hostname: string) => Promise<readonly string[]>
