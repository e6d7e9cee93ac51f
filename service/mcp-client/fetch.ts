import { Readable } from 'node:stream'
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { Limits, OutboundRequest, StreamedResponse } from '../outbound/model.ts'

export type Open = (request: OutboundRequest) => Promise<StreamedResponse>

/**
 * The SDK's way out, through the guarded client. The stream that a server may tell things by on its own is not opened:
 * nothing here would listen, and it would hold a connection for each session.
 */
export function guardedFetch(open: Open, limits: Partial<Limits>): FetchLike {
  return async (url, init = {}) => {
    const method = init.method ?? 'GET'
    if (method === 'GET') return new Response(null, { status: 405 })
    const headers = Object.fromEntries(new Headers(init.headers))
    const {
      status,
      headers: answered,
      body,
    } = await open({
      url,
      method,
      headers,
      limits,
      ...(typeof init.body === 'string' ? { body: init.body } : {}),
      ...(init.signal == null ? {} : { signal: init.signal }),
    })
    const given = new Headers()
    for (const [name, value] of Object.entries(answered)) for (const one of [value].flat()) given.append(name, one)
    if (BODILESS.has(status)) {
      body.destroy()
      return new Response(null, { status, headers: given })
    }
    return new Response(Readable.toWeb(body) as ReadableStream<Uint8Array>, { status, headers: given })
  }
}

const BODILESS = new Set([101, 204, 205, 304])
