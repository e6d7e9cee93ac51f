import { createServer, type Server as HttpServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { randomUUID } from 'node:crypto'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  type CallToolResult,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js'

export interface Stranger {
  url: string
  /** How many sessions were opened so far. */
  sessions: number
  /** The header of the last request. */
  authorization: string | undefined
  tools: Tool[]
  answer: (
    name: string,
    input: Record<string, unknown>,
    report: (progress: number, message?: string) => Promise<void>,
  ) => Promise<CallToolResult>
  /** Answers the next message in its place. */
  instead: ((response: ServerResponse) => void) | null
  /** Forgets its sessions, as a restarted server does. */
  forget(): void
  close(): Promise<void>
}

/** A third party's MCP server, with sessions and two tools per page. */
export async function mcpStranger(tools: Tool[]): Promise<Stranger> {
  const transports = new Map<string, StreamableHTTPServerTransport>()
  const http: HttpServer = createServer((request, response) => {
    stranger.authorization = request.headers.authorization
    const { instead } = stranger
    if (instead !== null && request.method === 'POST') {
      stranger.instead = null
      instead(response)
      return
    }
    const id = request.headers['mcp-session-id']
    const known = typeof id === 'string' ? transports.get(id) : undefined
    if (typeof id === 'string' && known === undefined) {
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}')
      return
    }
    void (known === undefined ? open() : Promise.resolve(known)).then((transport) =>
      transport.handleRequest(request, response),
    )
  })

  async function open(): Promise<StreamableHTTPServerTransport> {
    stranger.sessions++
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void transports.set(id, transport),
    })
    const { server } = new McpServer(
      { name: 'stranger', title: 'A stranger', version: '3' },
      { capabilities: { tools: {} }, instructions: 'Be kind.' },
    )
    server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
      const from = Number(params?.cursor ?? 0)
      const more = from + 2 < stranger.tools.length ? { nextCursor: String(from + 2) } : {}
      return { tools: stranger.tools.slice(from, from + 2), ...more }
    })
    server.setRequestHandler(CallToolRequestSchema, ({ params }, { _meta, sendNotification }) =>
      stranger.answer(params.name, params.arguments ?? {}, async (progress, message) => {
        const progressToken = _meta?.progressToken
        if (progressToken === undefined) return
        const told = { progressToken, progress, total: 2, ...(message === undefined ? {} : { message }) }
        await sendNotification({ method: 'notifications/progress', params: told })
      }),
    )
    await server.connect(transport)
    return transport
  }

  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const stranger: Stranger = {
    url: `http://127.0.0.1:${String((http.address() as AddressInfo).port)}/mcp`,
    sessions: 0,
    authorization: undefined,
    tools,
    answer: () => Promise.resolve({ content: [{ type: 'text', text: 'ok' }] }),
    instead: null,
    forget: () => {
      transports.clear()
    },
    async close() {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
  return stranger
}
