import { limit, returnAll } from '../../fields.ts'
import { readList } from '../../pages.ts'
import type { Operation } from '../../step.ts'

export const search: Operation = {
  option: {
    name: 'Search',
    value: 'search',
    description: 'Find RDAs by what they do, the most wanted first',
    action: 'Search RDAs',
  },
  fields: [
    {
      displayName: 'Search For',
      name: 'search',
      type: 'string',
      default: '',
      placeholder: 'e.g. seo audit',
      description: 'Words of the name or the description. Left empty, all are listed.',
    },
    returnAll,
    limit,
    {
      displayName: 'Filters',
      name: 'filters',
      type: 'collection',
      placeholder: 'Add filter',
      default: {},
      options: [
        {
          displayName: 'Featured',
          name: 'featured',
          type: 'boolean',
          default: true,
          description: 'Whether to list only those that Coinslot features',
        },
        {
          displayName: 'Status',
          name: 'status',
          type: 'options',
          default: 'published',
          description: 'Anything but published lists your own only',
          options: [
            { name: 'Archived', value: 'archived' },
            { name: 'Draft', value: 'draft' },
            { name: 'Published', value: 'published' },
          ],
        },
        {
          displayName: 'Trending',
          name: 'trending',
          type: 'boolean',
          default: true,
          description: 'Whether to list only those that are run a lot lately',
        },
        {
          displayName: 'Type',
          name: 'type',
          type: 'options',
          default: 'prompt',
          description: 'What kind of asset',
          options: [
            { name: 'Agent', value: 'agent' },
            { name: 'Prompt', value: 'prompt' },
            { name: 'Tool', value: 'tool' },
          ],
        },
        {
          displayName: 'Verified',
          name: 'verified',
          type: 'boolean',
          default: true,
          description: 'Whether to list only those that Coinslot has verified',
        },
      ],
    },
  ],
  async run(step) {
    const { node, item } = step
    const words = (node.getNodeParameter('search', item, '') as string).trim()
    const filters = node.getNodeParameter('filters', item, {}) as Record<string, string | boolean>
    // An option that is off asks for nothing, rather than for those that are not.
    const asked = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== false))
    return await readList(step, { path: '/rdas', query: { ...asked, ...(words !== '' && { search: words }) } }, 'rdas')
  },
}
