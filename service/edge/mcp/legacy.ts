import { randomUUID } from 'node:crypto'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { JSONRPCMessageSchema, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { Request, Response } from 'express'
import type { Caller } from '../../identity/model.ts'
import { newId } from '../../kit/ids.ts'
import { sendEvents } from '../events.ts'
import { parseJson, readBody } from '../json.ts'
import type { ServerEvent } from '../route.ts'
import { refuse, type McpParts } from './parts.ts'
import type { Relay } from './relay.ts'

/**
 * The transport of 2024-11-05: one stream for all answers, and an address that messages are posted to. The stream is
 * somewhere; a message that reaches another process is relayed there. Who knows the address is its client: it is told
 * on that stream only and cannot be guessed.
 */
export function createLegacy({ clock, log, serve, address, bodyBytesMax, relay }: LegacyParts) {
  const open = new Set<LegacyTransport>()
  const { pathname } = new URL(address)

  return {
    open({ caller, query }: { caller: Caller; query: Readonly<Record<string, string>> }, response: Response): void {
      const id = randomUUID()
      const transport = new LegacyTransport(`${pathname}/messages?sessionId=${id}`)
      open.add(transport)
      const forget = relay.receive(`sse:${id}`, (message) => transport.onmessage?.(message as JSONRPCMessage))
      // Each message is an act of its own; the server asks for a name where it needs one.
      const server = serve({
        caller,
        query,
        get operation() {
          return newId('op', clock.now())
        },
        resumable: false,
      })
      server.server.onerror = (error) => {
        log.info({ reason: error.message }, 'an MCP client said something that could not be followed')
      }
      response.once('close', () => {
        forget()
        open.delete(transport)
        void server.close()
      })
      void server.connect(transport)
      sendEvents(response, (gone) => transport.events(gone))
    },

    async receive(request: Request, response: Response): Promise<void> {
      const id = request.query['sessionId']
      const body = await readBody(request, bodyBytesMax)
      let message: JSONRPCMessage
      try {
        message = JSONRPCMessageSchema.parse(parseJson(body))
      } catch {
        refuse(response, 400, -32_700, 'This is not a JSON-RPC message.')
        return
      }
      const taken = typeof id === 'string' && (await relay.send(`sse:${id}`, message))
      if (taken) response.status(202).type('text/plain').send('Accepted')
      else refuse(response, 404, -32_001, 'There is no such session: open a new stream.')
    },

    close(): void {
      for (const transport of open) void transport.close()
    },
  }
}

export interface LegacyParts extends Pick<McpParts, 'clock' | 'log' | 'serve' | 'address' | 'bodyBytesMax'> {
  relay: Relay
}

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
