import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import {
  CallToolRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  type JSONRPCMessage,
} from '@modelcontextprotocol/sdk/types.js'
import type { McpAsk } from '../../api/mcp/mount.ts'
import { createMcpCalls } from './calls.ts'
import { OWN_TOOLS, type OwnToolName } from './own-tools.ts'
import { toProtocol, type ToolServerDeps } from './deps.ts'
import { createMcpResources, createMcpTools } from './listing.ts'
import { viewOf } from './view.ts'

/** The tools as MCP clients see them. Each request gets a server of its own, for its caller and view. */
export function createToolServer(deps: ToolServerDeps) {
  const tools = createMcpTools(deps)
  const resources = createMcpResources(deps)
  const calls = createMcpCalls(deps)

  function serve(ask: McpAsk): McpServer {
    const view = viewOf(ask)
    const mcp = new McpServer(
      { name: 'coinslot', title: 'Coinslot tools', version: deps.version },
      {
        capabilities: { tools: {}, resources: {} },
        instructions: ask.guest === null ? INSTRUCTIONS : GUEST_INSTRUCTIONS,
      },
    )
    const { server } = mcp
    server.setRequestHandler(ListToolsRequestSchema, ({ params }) => asProtocol(tools.list(view, params?.cursor)))
    server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) =>
      asProtocol(calls.call({ ask, view, params, extra })),
    )
    server.setRequestHandler(ListResourcesRequestSchema, ({ params }) =>
      asProtocol(resources.list(view, params?.cursor)),
    )
    server.setRequestHandler(ListResourceTemplatesRequestSchema, () => resources.templates())
    server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => asProtocol(resources.read(view, params.uri)))
    return mcp
  }

  function asProtocol<T>(work: Promise<T>): Promise<T> {
    return work.catch((error: unknown) => {
      throw toProtocol(error, deps.log)
    })
  }

  return {
    serve,
    /** Look-ups can be repeated. The results of paid calls are stored. */
    keeps(message: JSONRPCMessage): boolean {
      if (!('method' in message) || message.method !== 'tools/call') return false
      const name = message.params?.['name']
      return name === ('call_tool' satisfies OwnToolName) || !OWN_TOOLS.has(String(name))
    },
    kept: calls.find,
  }
}

const GUEST_INSTRUCTIONS = `Thousands of tools of many providers. Each call is paid by itself, in USDC, without an account.
Find one with search_tools, read what it takes with describe_tool, then call_tool with its slug and input. The first
answer states the price for x402 and MPP; call again with the payment in _meta. Only calls that succeed are charged.`

const INSTRUCTIONS = `Thousands of tools of many providers, each paid per call from the account's credits and wallet.
Find one with search_tools, read what it takes with describe_tool, then call_tool with its slug and input.
Only calls that succeed are charged; every result shows its cost and the remaining balance. get_balance shows the balance at any time.`
