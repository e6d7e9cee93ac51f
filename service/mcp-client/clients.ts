import { createHash } from 'node:crypto'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Limits, OutboundRequest, StreamedResponse } from '../outbound/model.ts'
import { Readable } from 'node:stream'
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js'

/**
 * Sessions at MCP servers, kept between calls: opening one costs two or three round trips. Each caller has its own, because
 * a server may remember something in it. Calls at the same moment share it, so it is closed only once none of them uses it.
 */
export function createSessions({ open, limits, version }: SessionDeps) {
  const kept = new Map<string, Session>()
  const dropped = new Set<Session>()

  function start({ server, headers }: Place): Session {
    const transport = new StreamableHTTPClientTransport(new URL(server), {
      fetch: guardedFetch(open, limits),
      requestInit: { headers },
      reconnectionOptions: {
        maxRetries: 0,
        initialReconnectionDelay: 1,
        maxReconnectionDelay: 1,
        reconnectionDelayGrowFactor: 1,
      },
    })
    const client = new Client({ name: 'coinslot', version }, { capabilities: {} })
    const connected = client.connect(transport, { timeout: CONNECT_MS })
    return { client: connected.then(() => client), close: () => close(client, transport), usedAt: 0, uses: 0 }
  }

  function drop(key: string, session: Session): void {
    if (kept.get(key) === session) kept.delete(key)
    dropped.add(session)
    closeUnused(session)
  }

  function closeUnused(session: Session): void {
    if (session.uses === 0 && dropped.delete(session)) void session.close()
  }

  function makeRoom(now: number): void {
    for (const [key, session] of kept) {
      // The first one was not used for the longest time.
      if (kept.size <= KEPT_MAX && now - session.usedAt < IDLE_MS) break
      drop(key, session)
    }
  }

  async function using<T>(place: Place, work: Work<T>, mayRetry = true): Promise<T> {
    const key = keyOf(place)
    const now = performance.now()
    const session = kept.get(key) ?? start(place)
    kept.delete(key)
    kept.set(key, session)
    session.usedAt = now
    session.uses++
    makeRoom(now)
    let isOpen = false
    try {
      const client = await session.client
      isOpen = true
      return await work(client)
    } catch (error) {
      if (isOpen && !isOver(error)) throw error
      drop(key, session)
      // A server that has forgotten the session has not called the tool either.
      if (mayRetry && isForgotten(error)) return await using(place, work, false)
      throw error
    } finally {
      session.uses--
      closeUnused(session)
    }
  }

  return {
    using: <T>(place: Place, work: Work<T>) => using(place, work),

    async close(): Promise<void> {
      const sessions = [...kept.values(), ...dropped]
      kept.clear()
      dropped.clear()
      await Promise.all(sessions.map((session) => session.close()))
    },
  }
}

export interface SessionDeps {
  open: Open
  limits: Partial<Limits>
  version: string
}

type Work<T> = (client: Client) => Promise<T>

interface Place {
  server: string
  /** Whose calls may share the session. */
  caller: string
  headers: Readonly<Record<string, string>>
}

interface Session {
  client: Promise<Client>
  close(): Promise<void>
  usedAt: number
  /** How many calls use it now. */
  uses: number
}

const KEPT_MAX = 200
const IDLE_MS = 5 * 60_000
const CONNECT_MS = 15_000

/** Without the headers' secrets, which a map's key could leak. */
function keyOf({ server, caller, headers }: Place): string {
  const digest = createHash('sha256').update(JSON.stringify([caller, Object.entries(headers).sort()]))
  return `${server} ${digest.digest('base64url')}`
}

/** Whether the session is broken: an error that the tool's server answered is not. */
function isOver(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return !(typeof code === 'number' && code <= -32_000 && code !== CONNECTION_CLOSED)
}

const CONNECTION_CLOSED = -32_000

function isForgotten(error: unknown): boolean {
  return error instanceof StreamableHTTPError && error.code === 404
}

async function close(client: Client, transport: StreamableHTTPClientTransport): Promise<void> {
  // Courtesy; a server that is gone has no session to end.
  await transport.terminateSession().catch(() => undefined)
  await client.close().catch(() => undefined)
}

export type Open = (request: OutboundRequest) => Promise<StreamedResponse>

/**
 * The SDK's requests, through the guarded client. The stream for a server's own messages is not opened: nothing here
 * would read it, and it would hold a connection for each session.
 */
function guardedFetch(open: Open, limits: Partial<Limits>): FetchLike {
  return async (url, init = {}) => {
    const method = init.method ?? 'GET'
    if (method === 'GET') return new Response(null, { status: 405 })
    const headers = Object.fromEntries(new Headers(init.headers))
    const sent = typeof init.body === 'string' ? { body: init.body } : {}
    const signal = init.signal == null ? {} : { signal: init.signal }
    const answer = await open({ url, method, headers, limits, ...sent, ...signal })
    const { status, body } = answer
    const received = new Headers()
    for (const [name, value] of Object.entries(answer.headers)) {
      for (const one of [value].flat()) received.append(name, one)
    }
    if (BODILESS.has(status)) {
      body.destroy()
      return new Response(null, { status, headers: received })
    }
    return new Response(Readable.toWeb(body) as ReadableStream<Uint8Array>, { status, headers: received })
  }
}

const BODILESS = new Set([101, 204, 205, 304])
