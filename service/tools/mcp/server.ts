import type { McpService } from '../../api/mcp/parts.ts'
import { ELSEWHERE } from '../http/found.ts'
import { createMcpCalls } from './calls.ts'
import { OWN_TOOLS, type OwnToolName } from './own-tools.ts'
import type { ToolServerDeps } from './view.ts'
import { createMcpResources, createMcpTools } from './listing.ts'
import { viewOf } from './view.ts'

/** The tools as MCP clients see them. */
export function createToolServer(deps: ToolServerDeps): McpService {
  const tools = createMcpTools(deps)
  const resources = createMcpResources(deps)
  const calls = createMcpCalls(deps)
  return {
    about: ({ guest }) => ({
      name: 'coinslot',
      title: 'Coinslot tools',
      version: deps.version,
      instructions: guest === null ? INSTRUCTIONS : GUEST_INSTRUCTIONS,
    }),
    tools: {
      list: (ask, cursor) => tools.list(viewOf(ask), cursor),
      call: (ask, call) => calls.call({ ...call, ask, view: viewOf(ask) }),
    },
    resources: {
      list: (ask, cursor) => resources.list(viewOf(ask), cursor),
      templates: () => resources.templates(),
      read: (ask, uri) => resources.read(viewOf(ask), uri),
    },
    // A guest fetches a lost answer with the payment's token.
    keeps: (name, { guest }) =>
      guest === null && (name === ('call_tool' satisfies OwnToolName) || !OWN_TOOLS.has(String(name))),
    task: ({ caller, guest }, operation) => (guest === null ? calls.task(caller, operation) : Promise.resolve(null)),
  }
}

const GUEST_INSTRUCTIONS = `Thousands of tools of many providers. Each call is paid by itself, in USDC, without an account.
Find one with search_tools, read what it takes with describe_tool, then call_tool with its slug and input. The first
answer states the price for x402 and MPP; call again with the payment in _meta. Only calls that succeed are charged.
${ELSEWHERE}`

const INSTRUCTIONS = `Thousands of tools of many providers, each paid per call from the account's credits and wallet.
Find one with search_tools, read what it takes with describe_tool, then call_tool with its slug and input.
Only calls that succeed are charged; every result shows its cost and the remaining balance. get_balance shows the balance at any time.
${ELSEWHERE}
A client that repeats a call after a lost answer sends the same Idempotency-Key header or _meta["coinslot/idempotency-key"] as before, and is charged once.`
