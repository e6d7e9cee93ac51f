import type { Readable } from 'node:stream'

/**
 * What may be reached besides public addresses. A client keeps one policy for life, because its connections are pooled.
 */
export interface Policy {
  /** Loopback and private ranges, any port. */
  readonly allowPrivate: boolean
  /** `host` or `host:port` that may be reached although it is loopback or private. */
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
   * How many redirects are followed, each checked like the first request. 0 when absent, and then a redirect is an
   * error. `pass` returns the redirect itself, for callers that forward or store it.
   */
  readonly redirects?: number | 'pass'
  /** Keep the first `limits.bodyBytes` and drop the rest, instead of failing. */
  readonly truncate?: boolean
  /** When it aborts, the call rejects with the signal's own reason. */
  readonly signal?: AbortSignal
}

export interface Limits {
  /** The limit from the connection to the response headers. */
  readonly headersMs: number
  /** The limit between two pieces of the body. */
  readonly idleMs: number
  /** The limit from the call to the last byte, redirects included. It also ends a response that arrives very slowly. */
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

/**
 * Lower-case names. Headers about the transfer (length, encoding, connection) are removed, because they don't apply to
 * the decoded body.
 */
export type ResponseHeaders = Readonly<Record<string, string | readonly string[]>>

/** All addresses of a host, in the order to try them. */
export type Resolve = (hostname: string) => Promise<readonly string[]>
