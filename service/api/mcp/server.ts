import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import {
  CallToolRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/sdk/types.js'
import type { KeyedCalls } from './keyed-calls.ts'
import { faultOf, McpPageRequired, progressReporter, type McpAsk, type McpDeps } from './parts.ts'

/**
 * One server per request, for the protocol's versions up to 2025-11-25. Nothing is stored between two requests, so any
 * process can serve the next.
 */
export function serverFor(ask: McpAsk, { service, log, address, keyed }: ServerDeps): McpServer {
  const { tools, resources } = service
  const { instructions, ...about } = service.about(ask)
  const capabilities = { tools: {}, ...(resources === null ? {} : { resources: {} }) }
  const mcp = new McpServer(about, { capabilities, instructions })
  const { server } = mcp
  /** With an operation that stays the same until the request is answered. */
  const answered = <T>(work: (own: McpAsk) => Promise<T>): Promise<T> => {
    const own = { ...ask }
    return work(own).catch((error: unknown) => {
      if (error instanceof McpPageRequired) {
        const { url, message } = error
        throw new UrlElicitationRequiredError([{ mode: 'url', elicitationId: own.operation, url, message }], message)
      }
      const { code, message, data } = faultOf(error, { log, address })
      throw new McpError(code, message, data)
    })
  }
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => answered((own) => tools.list(own, params?.cursor)))
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
    const onProgress = progressReporter(params._meta?.progressToken, (progress) =>
      extra.sendNotification({ method: 'notifications/progress', params: progress }),
    )
    const hearsProgress = params._meta?.progressToken !== undefined
    const opensPages = ask.pageSession !== undefined
    const about = { params, signal: extra.signal, hearsProgress, onProgress, opensPages }
    return answered((own) => keyed.once(own, params, (named, repeats) => tools.call(named, { ...about, repeats })))
  })
  if (resources === null) return mcp
  server.setRequestHandler(ListResourcesRequestSchema, ({ params }) =>
    answered((own) => resources.list(own, params?.cursor)),
  )
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => resources.templates())
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) =>
    answered((own) => resources.read(own, params.uri)),
  )
  return mcp
}

export interface ServerDeps extends Pick<McpDeps, 'service' | 'log' | 'address'> {
  keyed: KeyedCalls
}
