import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { classifyInboundRequest, createMcpHandler } from '@modelcontextprotocol/server'
import type { Request, Response } from 'express'
import type { Caller } from '../../kit/caller.ts'
import { newId } from '../../kit/ids.ts'
import { isRecord } from '../../kit/schema/merge.ts'
import { limitKeyOf } from '../requests.ts'
import type { McpAsk, McpDeps } from './parts.ts'
import { statelessServerFor, type StatelessServerDeps } from './stateless-server.ts'

/** The protocol's version 2026-07-28: each request stands alone, so there are no sessions and nothing to listen to. */
export const STATELESS = '2026-07-28'

/** Whether the message is for this version, by its header and its body; so are all that mix versions. */
export function isStateless(request: Request, body: unknown): boolean {
  const { method: httpMethod } = request
  const [version, method, name] = STANDARD_HEADERS.map((header) => request.get(header))
  const headers = {
    ...(version === undefined ? {} : { protocolVersionHeader: version }),
    ...(method === undefined ? {} : { mcpMethodHeader: method }),
    ...(name === undefined ? {} : { mcpNameHeader: name }),
  }
  const route = classifyInboundRequest({ httpMethod, ...headers, body })
  if (route.kind !== 'reject') return route.kind === 'modern'
  // What is no message of any version is answered as it always was.
  return route.rung !== 'jsonrpc-shape' || route.cell === 'batch-with-modern-element'
}

export function createStateless(deps: StatelessDeps) {
  const { clock, log, guest, address } = deps

  return async ({ caller, query, body }: Message, request: Request, response: Response): Promise<void> => {
    const key = request.get('idempotency-key')
    const ask: McpAsk = {
      caller,
      guest: caller === guest ? limitKeyOf(request) : null,
      query,
      operation: newId('op', clock.now()),
      resumable: false,
      ...(key === undefined ? {} : { idempotencyKey: key }),
    }
    if (isRecord(body) && body['method'] === LISTEN) {
      const error = { code: -32_601, message: 'Method not found: this server sends no notifications of its own.' }
      response.status(404).json({ jsonrpc: '2.0', id: body['id'] ?? null, error })
      return
    }
    // A client that closes its connection cancels the call.
    const gone = new AbortController()
    response.once('close', () => {
      if (!response.writableFinished) gone.abort()
    })
    const headers = new Headers()
    for (const name of ['content-type', ...STANDARD_HEADERS]) {
      const value = request.get(name)
      if (value !== undefined) headers.set(name, value)
    }
    const handler = createMcpHandler(() => statelessServerFor(ask, deps), {
      legacy: 'reject',
      onerror(error) {
        log.info({ reason: error.message }, 'an MCP client sent an invalid message')
      },
    })
    const sent = new globalThis.Request(address, { method: 'POST', headers, signal: gone.signal })
    await send(await handler.fetch(sent, { parsedBody: body }), response)
  }
}

export interface StatelessDeps extends StatelessServerDeps, Pick<McpDeps, 'clock' | 'guest' | 'address'> {}

interface Message {
  caller: Caller
  query: Readonly<Record<string, string>>
  /** As parsed from JSON. */
  body: unknown
}

async function send(answer: globalThis.Response, response: Response): Promise<void> {
  if (response.destroyed) return
  response.status(answer.status)
  response.setHeaders(answer.headers)
  if (answer.body === null) {
    response.end()
    return
  }
  response.flushHeaders()
  // Rejects when the client has disconnected, which has ended the call.
  await pipeline(Readable.from(answer.body), response).catch(() => undefined)
}

const STANDARD_HEADERS = ['mcp-protocol-version', 'mcp-method', 'mcp-name']
const LISTEN = 'subscriptions/listen'
