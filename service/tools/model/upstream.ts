import type { HttpMethod } from './tool.ts'

/** What is sent to a tool's server. */
export interface UpstreamRequest {
  readonly url: string
  readonly method: HttpMethod
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | null
}

export interface UpstreamAnswer {
  readonly status: number
  readonly contentType: string | null
  readonly body: Buffer
}
