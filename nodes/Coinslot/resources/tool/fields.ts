import { NodeOperationError } from 'n8n-workflow'
import { locator } from '../../fields.ts'
import type { Step } from '../../item.ts'

export const tool = locator(
  { displayName: 'Tool', name: 'tool', description: 'One of the thousand tools of the proxy', required: true },
  'searchTools',
  { displayName: 'By Slug', placeholder: 'e.g. github-search-repositories' },
)

/** Its address below the tools' own. */
export function toolPath({ node, item }: Step): string {
  const slug = (node.getNodeParameter('tool', item, '', { extractValue: true }) as string).trim()
  if (slug !== '') return `/${encodeURIComponent(slug)}`
  throw new NodeOperationError(node.getNode(), 'Choose a tool first.', { itemIndex: item })
}
