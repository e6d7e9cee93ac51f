import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js'
import {
  CallToolRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  type ProgressToken,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js'
import { faultOf, type McpAsk, type McpCall, type McpDeps } from './parts.ts'

/**
 * One server per request, for the protocol's versions up to 2025-11-25. Nothing is stored between two requests, so any
 * process can serve the next.
 */
export function serverFor(ask: McpAsk, { service, log }: Pick<McpDeps, 'service' | 'log'>): McpServer {
  const { tools, resources } = service
  const { instructions, ...about } = service.about(ask)
  const capabilities = { tools: {}, ...(resources === null ? {} : { resources: {} }) }
  const mcp = new McpServer(about, { capabilities, instructions })
  const { server } = mcp
  const answered = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      const { code, message, data } = faultOf(error, log)
      throw new McpError(code, message, data)
    })
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => answered(tools.list(ask, params?.cursor)))
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
    const onProgress = progressTo(params._meta?.progressToken, extra)
    return answered(tools.call(ask, { params, signal: extra.signal, onProgress }))
  })
  if (resources === null) return mcp
  server.setRequestHandler(ListResourcesRequestSchema, ({ params }) => answered(resources.list(ask, params?.cursor)))
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => resources.templates())
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => answered(resources.read(ask, params.uri)))
  return mcp
}

/** Sends progress only when the request has a progress token. */
function progressTo(
  progressToken: ProgressToken | undefined,
  extra: RequestHandlerExtra<ServerRequest, ServerNotification>,
): McpCall['onProgress'] {
  if (progressToken === undefined) return () => undefined
  let last = -1
  return ({ progress, total, message }) => {
    // Progress must grow, and the counter of a tool's own server may not.
    last = Math.max(progress, last + 1e-6)
    const optional = { ...(total === null ? {} : { total }), ...(message === null ? {} : { message }) }
    const notification = { progressToken, progress: last, ...optional }
    // The client may have disconnected. If that matters, the call's own result shows it.
    extra.sendNotification({ method: 'notifications/progress', params: notification }).catch(() => undefined)
  }
}
