import { NodeOperationError } from 'n8n-workflow'
import { locator } from '../../fields.ts'
import type { Step } from '../../item.ts'

export const rda = locator(
  { displayName: 'RDA', name: 'rda', description: 'The runnable asset: a prompt, an agent or a tool', required: true },
  'searchRdas',
  { displayName: 'By Slug or ID', placeholder: 'e.g. seo-audit' },
)

export const model = locator(
  {
    displayName: 'Model',
    name: 'model',
    description: 'What a prompt runs on. Left empty, its own default model; agents and tools have none.',
  },
  'searchModels',
  { displayName: 'By ID', placeholder: 'e.g. sandbox/echo' },
)

export function rdaOf({ node, item }: Step): string {
  const identifier = (node.getNodeParameter('rda', item, '', { extractValue: true }) as string).trim()
  if (identifier !== '') return identifier
  throw new NodeOperationError(node.getNode(), 'Choose an RDA first.', { itemIndex: item })
}
