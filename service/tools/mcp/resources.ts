import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
} from '@modelcontextprotocol/sdk/types.js'
import { McpError } from '@modelcontextprotocol/sdk/types.js'
import { DomainError } from '../../kit/errors.ts'
import { toDecimal } from '../../kit/money.ts'
import type { Tool } from '../model/tool.ts'
import type { CatalogueForCalls } from '../ports/catalogue.ts'
import { invalidParams } from './parts.ts'
import { fromCursor, toCursor, type View } from './view.ts'

/** Each tool's documentation, as a page that a model can read. */
export function createMcpResources({ catalogue }: { catalogue: Pick<CatalogueForCalls, 'list' | 'bySlug'> }) {
  return {
    async list(view: View, cursor: string | undefined): Promise<ListResourcesResult> {
      const offset = fromCursor(cursor)
      if (offset === null) throw invalidParams('cursor: is not one that was given here')
      const { environment, viewer, provider, collection } = view
      const { tools, total } = await catalogue.list({ environment, viewer, provider, collection, limit: PAGE, offset })
      const next = offset + tools.length
      return {
        resources: tools.map(({ tool }) => ({
          uri: URI + tool.slug,
          name: tool.slug,
          title: tool.name,
          description: tool.description.slice(0, 200),
          mimeType: 'text/markdown',
        })),
        ...(tools.length > 0 && next < total ? { nextCursor: toCursor(next) } : {}),
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

function notFound(uri: string): McpError {
  // The protocol's own code for a resource that is not there.
  return new McpError(-32_002, 'Resource not found', { uri })
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
const PAGE = 100
