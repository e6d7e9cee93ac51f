import { limit, returnAll } from '../../fields.ts'
import { readList } from '../../pages.ts'
import type { Operation } from '../../step.ts'

export const search: Operation = {
  option: {
    name: 'Search',
    value: 'search',
    description: 'Find tools by what they do, the best match first',
    action: 'Search tools',
  },
  fields: [
    {
      displayName: 'Search For',
      name: 'search',
      type: 'string',
      default: '',
      placeholder: 'e.g. open an issue on github',
      description: 'What the tool should do, in your own words. Left empty, all are listed.',
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
          displayName: 'Category',
          name: 'category',
          type: 'string',
          default: '',
          description: 'Only tools of this category',
        },
        {
          displayName: 'Provider',
          name: 'provider',
          type: 'string',
          default: '',
          placeholder: 'e.g. github',
          description: 'Only tools of this provider, by its slug',
        },
      ],
    },
  ],
  async run(step) {
    const { node, item } = step
    const words = node.getNodeParameter('search', item, '') as string
    const filters = node.getNodeParameter('filters', item, {}) as Record<string, string>
    const asked = Object.entries({ ...filters, search: words }).filter(([, value]) => value.trim() !== '')
    const query = Object.fromEntries(asked.map(([name, value]) => [name, value.trim()]))
    return await readList(step, { surface: 'tools', path: '', query }, 'tools')
  },
}
