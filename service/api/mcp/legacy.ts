import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { JSONRPCMessageSchema, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { Request, Response } from 'express'
import type { Caller } from '../../kit/caller.ts'
import { sendEvents, type StreamOwner } from '../events.ts'
import { parseJson, readBody } from '../json.ts'
import type { ServerEvent } from '../route.ts'
import { addressFor, askForEach, refuse, type McpDeps } from './parts.ts'
import { serverFor, type ServerDeps } from './server.ts'
import type { Relay } from './relay.ts'
import type { Sessions } from './sessions.ts'

/**
 * The transport of 2024-11-05: one stream for all answers, and an address to which the client posts messages. One
 * process holds the stream; a message that reaches another process is relayed there. Each message carries the stream's
 * key, in its header or in the address that the stream announced, and the session's name proves its owner. So knowing
 * the address alone cannot spend anything, and neither can a key that was revoked since.
 */
export function createLegacy(deps: LegacyDeps) {
  const { clock, log, address, bodyBytesMax, relay, sessions } = deps
  const open = new Set<LegacyTransport>()

  return {
    open({ caller, query, owner }: Opening, response: Response): void {
      // If the client disconnected during the look-ups, no close event would come any more.
      if (response.closed) return
      const id = sessions.begin(caller, false)
      const { key } = query
      const endpoint = new URLSearchParams({ sessionId: id, ...(key === undefined ? {} : { key }) })
      const transport = new LegacyTransport(`${addressFor(address, query).pathname}/messages?${endpoint.toString()}`)
      open.add(transport)
      const forget = relay.receive(`sse:${id}`, (message) => transport.onmessage?.(message as JSONRPCMessage))
      // A guest opens no stream.
      const server = serverFor(askForEach({ caller, guest: null, query, resumable: false }, clock), deps)
      server.server.onerror = (error) => {
        log.info({ reason: error.message }, 'an MCP client sent an invalid message')
      }
      response.once('close', () => {
        forget()
        open.delete(transport)
        void server.close()
      })
      void server.connect(transport)
      sendEvents(response, (gone) => transport.events(gone), owner)
    },

    async receive(caller: Caller, request: Request, response: Response): Promise<void> {
      const id = request.query['sessionId']
      // Checked before the body is read: a session that does not exist or belongs to another caller gets no body read.
      if (typeof id !== 'string' || !(await sessions.check(id, caller))) {
        refuse(response, 404, -32_001, NO_SESSION)
        return
      }
      const body = await readBody(request, bodyBytesMax)
      let message: JSONRPCMessage
      try {
        message = JSONRPCMessageSchema.parse(parseJson(body))
      } catch {
        refuse(response, 400, -32_700, 'This is not a JSON-RPC message.')
        return
      }
      if (await relay.send(`sse:${id}`, message)) response.status(202).type('text/plain').send('Accepted')
      else refuse(response, 404, -32_001, NO_SESSION)
    },

    close(): void {
      for (const transport of open) void transport.close()
    },
  }
}

export interface LegacyDeps extends ServerDeps, Pick<McpDeps, 'clock' | 'address' | 'bodyBytesMax'> {
  relay: Relay
  sessions: Sessions
}

interface Opening {
  caller: Caller
  query: Readonly<Record<string, string>>
  owner: StreamOwner
}

const NO_SESSION = 'Session not found: open a new stream.'
/** The most answers that may wait unread for one client. */
const WAITING_MAX = 1_000

class LegacyTransport implements Transport {
  onmessage?: NonNullable<Transport['onmessage']>
  onclose?: () => void
  onerror?: (error: Error) => void
  private readonly waiting: ServerEvent[]
  private ring: () => void = () => undefined
  private closed = false

  constructor(endpoint: string) {
    this.waiting = [{ event: 'endpoint', data: null, text: endpoint }]
  }

  start(): Promise<void> {
    return Promise.resolve()
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.waiting.length >= WAITING_MAX) return this.close()
    this.waiting.push({ event: 'message', data: message })
    this.ring()
    return Promise.resolve()
  }

  close(): Promise<void> {
    if (this.closed) return Promise.resolve()
    this.closed = true
    this.ring()
    this.onclose?.()
    return Promise.resolve()
  }

  async *events(gone: AbortSignal): AsyncGenerator<ServerEvent> {
    gone.addEventListener(
      'abort',
      () => {
        this.ring()
      },
      { once: true },
    )
    while (!this.closed && !gone.aborted) {
      const next = this.waiting.shift()
      if (next !== undefined) yield next
      else {
        await new Promise<void>((resolve) => {
          this.ring = resolve
        })
      }
    }
  }
}
