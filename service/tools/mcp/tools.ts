import type { ListToolsResult, Tool as McpTool } from '@modelcontextprotocol/sdk/types.js'
import { toDecimal } from '../../kit/money.ts'
import type { Tool } from '../model/tool.ts'
import type { CatalogueForCalls, ListedTool } from '../ports/catalogue.ts'
import { OWN } from './own-tools.ts'
import { invalidParams } from './parts.ts'
import { fromCursor, toCursor, type View } from './view.ts'

/** The list of tools in the view that was asked for. */
export function createMcpTools({ catalogue }: { catalogue: Pick<CatalogueForCalls, 'list'> }) {
  return {
    async list(view: View, cursor: string | undefined): Promise<ListToolsResult> {
      if (view.shows === 'few') return { tools: [...OWN] }
      const offset = fromCursor(cursor)
      if (offset === null) throw invalidParams('cursor: is not one that was given here')
      const { environment, viewer, provider, collection } = view
      const page = { environment, viewer, provider, collection, limit: PAGE, offset }
      const { tools, total } = await catalogue.list(page)
      const next = offset + tools.length
      return {
        tools: tools.map(toMcpTool),
        ...(tools.length > 0 && next < total ? { nextCursor: toCursor(next) } : {}),
      }
    },
  }
}

/**
 * Without an output schema: real servers stray from their documents, and a client that was promised one throws away an
 * answer that has been paid for. The schema stands in the tool's documentation.
 */
function toMcpTool({ tool, figures }: ListedTool): McpTool {
  const warning = figures?.failing === true ? ' Fails often right now.' : ''
  return {
    name: tool.slug,
    title: tool.name,
    description: `${tool.description}\nCosts ${toDecimal(tool.price)} USDC a call.${warning}`,
    inputSchema: tool.input as McpTool['inputSchema'],
    annotations: annotationsOf(tool),
    _meta: { 'coinslot/price': toDecimal(tool.price), 'coinslot/provider': tool.provider },
  }
}

function annotationsOf({ upstream }: Tool): NonNullable<McpTool['annotations']> {
  if (upstream.kind !== 'http') return { openWorldHint: true }
  const { method } = upstream
  return {
    openWorldHint: true,
    readOnlyHint: method === 'GET',
    destructiveHint: method === 'DELETE',
    idempotentHint: method === 'GET' || method === 'PUT' || method === 'DELETE',
  }
}

const PAGE = 100
