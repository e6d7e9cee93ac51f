import type { IDataObject } from 'n8n-workflow'
import { isObject } from '../../shared/transport.ts'
import { approval, limit, locator, returnAll } from '../fields.ts'
import { inputFields, readInputs, readText, refusal, type Step } from '../inputs.ts'
import { read, readList, spend, type Operation } from '../request.ts'

const tool = locator(
  { displayName: 'Tool', name: 'tool', description: 'The tool to call', required: true },
  'searchTools',
  { displayName: 'By Slug', placeholder: 'e.g. github-search-repositories' },
)

export const callTool: Operation = {
  option: {
    name: 'Call',
    value: 'call',
    description: 'Call a tool and pay for it; free credits are used first',
    action: 'Call a tool',
  },
  fields: [
    tool,
    ...inputFields('tool', 'tool', 'mapToolInputs'),
    {
      displayName: 'Options',
      name: 'options',
      type: 'collection',
      placeholder: 'Add option',
      default: {},
      options: [
        {
          displayName: 'All Pages',
          name: 'all',
          type: 'boolean',
          default: false,
          description:
            'Whether to read page after page of a tool whose answers are paged, each at the price of a call, into one output',
        },
        {
          displayName: 'Fields',
          name: 'fields',
          type: 'string',
          default: '',
          placeholder: 'e.g. items.name,items.title',
          description: 'Only these fields of the output, separated by commas. If empty, all.',
        },
        {
          displayName: 'Max Pages',
          name: 'maxPages',
          type: 'number',
          typeOptions: { minValue: 1, maxValue: 50 },
          default: 20,
          description: 'With All Pages: the max number of pages to read and pay for',
        },
        {
          displayName: 'Maximum Cost (USDC)',
          name: 'maxCost',
          type: 'number',
          typeOptions: { minValue: 0, numberPrecision: 6 },
          default: 0.1,
          description: 'The most that this call may cost. A call that costs more is refused, and nothing is paid.',
        },
        approval,
      ],
    },
  ],
  async run(step) {
    const { approvalSeconds = 0, ...reading } = step.node.getNodeParameter('options', step.item, {}) as CallOptions
    const query = readingOf(reading)
    const { output, ...rest } = await spend(step, {
      surface: 'tools',
      path: toolPath(step),
      body: readInputs(step),
      ...(query === null ? {} : { query }),
      approvalSeconds,
    })
    if (!isFile(output)) return [{ json: { ...rest, output } }]
    const binary = await step.node.helpers.prepareBinaryData(
      Buffer.from(output.base64, 'base64'),
      undefined,
      output.contentType,
    )
    return [{ json: rest, binary: { data: binary } }]
  },
}

interface CallOptions {
  approvalSeconds?: number
  all?: boolean
  fields?: string
  maxCost?: number
  maxPages?: number
}

/** How much of the answer is wanted, and for how much. Null where it is the whole of one page, at its price. */
function readingOf({ all = false, fields = '', maxCost, maxPages }: CallOptions): IDataObject | null {
  const wanted = fields
    .split(',')
    .map((field) => field.trim())
    .filter((field) => field !== '')
  if (!all && wanted.length === 0 && maxCost === undefined) return null
  return {
    ...(wanted.length === 0 ? {} : { fields: wanted.join(',') }),
    ...(all ? { all: 'true' } : {}),
    ...(maxCost !== undefined && { maxCost }),
    // The service refuses a number of pages without all of them.
    ...(all && maxPages !== undefined ? { maxPages } : {}),
  }
}

/** The form of a tool's output that is neither JSON nor text. */
function isFile(output: unknown): output is { contentType: string; base64: string } {
  return isObject(output) && typeof output['contentType'] === 'string' && typeof output['base64'] === 'string'
}

export const getTool: Operation = {
  option: {
    name: 'Get',
    value: 'get',
    description: 'Get the description, inputs and price of a tool',
    action: 'Get a tool',
  },
  fields: [tool],
  async run(step) {
    const body = await read(step, { surface: 'tools', path: toolPath(step) })
    return [{ json: isObject(body['tool']) ? body['tool'] : body }]
  },
}

export const searchTools: Operation = {
  option: {
    name: 'Search',
    value: 'search',
    description: 'Search tools by what they do, best match first',
    action: 'Search tools',
  },
  fields: [
    {
      displayName: 'Search For',
      name: 'search',
      type: 'string',
      default: '',
      placeholder: 'e.g. open an issue on github',
      description: 'What the tool should do, in your own words. If empty, all are listed.',
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
    return await readList(step, { surface: 'tools', path: '', query }, { list: 'tools' })
  },
}

/** The path of the tool, relative to the tools' address. */
function toolPath(step: Step): string {
  const slug = readText(step, 'tool')
  if (slug === '') throw refusal(step, 'Choose a tool first.')
  return `/${encodeURIComponent(slug)}`
}
