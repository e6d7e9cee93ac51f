import { createHash } from 'node:crypto'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Limits } from '../outbound/model.ts'
import { guardedFetch, type Open } from './fetch.ts'

/** Sessions at MCP servers, kept between calls: opening one costs two or three round trips. */
export function createSessions({ open, limits, version }: SessionDeps) {
  const kept = new Map<string, Session>()

  function start(server: string, headers: Headers): Session {
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
    return { client: connected.then(() => client), close: () => close(client, transport), usedAt: 0 }
  }

  function drop(key: string, session: Session): void {
    if (kept.get(key) === session) kept.delete(key)
    void session.close()
  }

  function makeRoom(now: number): void {
    for (const [key, session] of kept) {
      // The first are those that nobody used for the longest time.
      if (kept.size <= KEPT_MAX && now - session.usedAt < IDLE_MS) break
      drop(key, session)
    }
  }

  async function using<T>(
    server: string,
    headers: Headers,
    work: (client: Client) => Promise<T>,
    again = true,
  ): Promise<T> {
    const key = keyOf(server, headers)
    const now = performance.now()
    const session = kept.get(key) ?? start(server, headers)
    kept.delete(key)
    kept.set(key, session)
    session.usedAt = now
    makeRoom(now)
    try {
      return await work(await session.client)
    } catch (error) {
      if (!isOver(error)) throw error
      drop(key, session)
      // A server that has forgotten the session has not done anything either.
      if (again && isForgotten(error)) return await using(server, headers, work, false)
      throw error
    }
  }

  return {
    using: <T>(server: string, headers: Headers, work: (client: Client) => Promise<T>) => using(server, headers, work),

    async close(): Promise<void> {
      const sessions = [...kept.values()]
      kept.clear()
      await Promise.all(sessions.map((session) => session.close()))
    },
  }
}

export interface SessionDeps {
  open: Open
  limits: Partial<Limits>
  version: string
}

type Headers = Readonly<Record<string, string>>

interface Session {
  client: Promise<Client>
  close(): Promise<void>
  usedAt: number
}

const KEPT_MAX = 100
const IDLE_MS = 5 * 60_000
const CONNECT_MS = 15_000

/** Without its secrets: a key of a map ends up in places. */
function keyOf(server: string, headers: Headers): string {
  const digest = createHash('sha256').update(JSON.stringify(Object.entries(headers).sort()))
  return `${server} ${digest.digest('base64url')}`
}

/** Whether this session is of any use: an answer that says "no" is an answer. */
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
