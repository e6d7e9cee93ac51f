import {
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  type ReadResourceResult,
  type ListToolsResult,
  type Tool as McpTool,
} from '@modelcontextprotocol/sdk/types.js'
import { DomainError } from '../../kit/errors.ts'
import { toDecimal, toWire } from '../../kit/money.ts'
import type { Tool } from '../model/tool.ts'
import { McpFault } from '../../api/mcp/parts.ts'
import type { ToolServerDeps } from './view.ts'
import { pageOf, type View } from './view.ts'
import type { ListedTool } from '../ports/catalogue.ts'
import { OWN } from './own-tools.ts'

/** Each tool's documentation as a page for models. */
export function createMcpResources({ catalogue }: ToolServerDeps) {
  return {
    async list(view: View, cursor: string | undefined): Promise<ListResourcesResult> {
      const { tools, ...next } = await pageOf(catalogue, view, cursor)
      return {
        resources: tools.map(({ tool }) => ({
          uri: URI + tool.slug,
          name: tool.slug,
          title: tool.name,
          description: tool.description.slice(0, 200),
          mimeType: 'text/markdown',
        })),
        ...next,
      }
    },

    templates(): ListResourceTemplatesResult {
      const resourceTemplates = [
        { uriTemplate: `${URI}{slug}`, name: 'tool', title: "A tool's documentation", mimeType: 'text/markdown' },
      ]
      return { resourceTemplates }
    },

    async read({ environment, viewer }: View, uri: string): Promise<ReadResourceResult> {
      if (!uri.startsWith(URI)) throw notFound(uri)
      try {
        const tool = await catalogue.bySlug(environment, uri.slice(URI.length), viewer)
        return { contents: [{ uri, mimeType: 'text/markdown', text: documentationOf(tool) }] }
      } catch (error) {
        throw error instanceof DomainError ? notFound(uri) : error
      }
    },
  }
}

function notFound(uri: string): McpFault {
  // The protocol's code for a missing resource.
  return new McpFault(-32_002, 'Resource not found', { uri })
}

function documentationOf(tool: Tool): string {
  const part = (title: string, schema: unknown): string =>
    `## ${title}\n\n\`\`\`json\n${JSON.stringify(schema, null, 2)}\n\`\`\`\n`
  return [
    `# ${tool.name}\n`,
    `${tool.description}\n`,
    `- slug: \`${tool.slug}\``,
    `- provider: ${tool.provider}`,
    `- price: ${toDecimal(tool.price)} USDC a call, charged only when it succeeds\n`,
    part('Input', tool.input),
    ...(tool.output === null ? [] : [part('Output', tool.output)]),
  ].join('\n')
}

const URI = 'coinslot://tools/'

/** The list of tools in the requested view. */
export function createMcpTools({ catalogue }: ToolServerDeps) {
  return {
    async list(view: View, cursor: string | undefined): Promise<ListToolsResult> {
      if (view.shows === 'few') return { tools: OWN.filter(({ name }) => !view.isGuest || name !== 'get_balance') }
      const { tools, ...next } = await pageOf(catalogue, view, cursor)
      return { tools: tools.map((one) => toMcpTool(one, view)), ...next }
    },
  }
}

/**
 * Without an output schema: real servers deviate from their documents, and a client with a schema discards a paid
 * answer that does not match it. The tool's documentation has the schema.
 */
function toMcpTool({ tool, stats }: ListedTool, { isGuest }: View): McpTool {
  const warning = stats?.failing === true ? ' Fails often right now.' : ''
  return {
    name: tool.slug,
    title: tool.name,
    description: `${tool.description}\nCosts ${toDecimal(tool.price)} USDC a call.${warning}`,
    inputSchema: tool.input as McpTool['inputSchema'],
    annotations: annotationsOf(tool),
    _meta: {
      'coinslot/price': toDecimal(tool.price),
      'coinslot/provider': tool.provider,
      // By these some clients know which tools they have to pay for.
      ...(isGuest ? { 'agents-x402/paymentRequired': true, 'agents-x402/priceUSD': toWire(tool.price) } : {}),
    },
  }
}

function annotationsOf({ upstream }: Tool): NonNullable<McpTool['annotations']> {
  if (upstream.kind !== 'http') return { openWorldHint: true }
  const [readOnlyHint, destructiveHint] = [upstream.method === 'GET', upstream.method === 'DELETE']
  const idempotentHint = readOnlyHint || destructiveHint || upstream.method === 'PUT'
  return { openWorldHint: true, readOnlyHint, destructiveHint, idempotentHint }
}
