import type { IDataObject } from 'n8n-workflow'
import { isObject } from '../../shared/transport.ts'
import { approval, limit, locator, returnAll } from '../fields.ts'
import { text } from '../failure.ts'
import { inputFields, readInputs, readText, refusal, type Step } from '../inputs.ts'
import { read, readList, spend, type Operation } from '../request.ts'

const rda = locator(
  {
    displayName: 'Marketplace Asset',
    name: 'rda',
    description: 'What others sell in the Coinslot marketplace: a prompt, an agent or a tool',
    required: true,
  },
  'searchRdas',
  { displayName: 'By Slug or ID', placeholder: 'e.g. seo-audit' },
)

const model = locator(
  {
    displayName: 'Model',
    name: 'model',
    description:
      'The model that runs a prompt. If empty, the default model of the prompt is used; agents and tools have none.',
  },
  'searchModels',
  { displayName: 'By ID', placeholder: 'e.g. sandbox/echo' },
)

export const runRda: Operation = {
  option: {
    name: 'Run',
    value: 'run',
    description: 'Run a prompt, an agent or a tool of the marketplace and pay for it',
    action: 'Run a marketplace asset',
  },
  fields: [
    rda,
    ...inputFields('marketplace asset', 'rda', 'mapRdaInputs'),
    model,
    {
      displayName: 'Options',
      name: 'options',
      type: 'collection',
      placeholder: 'Add option',
      default: {},
      options: [
        {
          displayName: 'Maximum Cost (USDC)',
          name: 'maxCost',
          type: 'number',
          typeOptions: { minValue: 0 },
          default: 1,
          description: 'A run that may cost more is refused before it starts',
        },
        {
          displayName: 'Parse Output as JSON',
          name: 'parseOutput',
          type: 'boolean',
          default: false,
          description: 'Whether to parse the output, which is always text, as JSON',
        },
        approval,
        {
          displayName: 'Wait for the Result',
          name: 'wait',
          type: 'boolean',
          default: true,
          description:
            'Whether to wait until the run has ended, up to three minutes. Otherwise a run ID is returned at once, for Run: Wait.',
        },
      ],
    },
  ],
  async run(step) {
    const { node, item } = step
    const options = node.getNodeParameter('options', item, {}) as Options
    const modelId = node.getNodeParameter('model', item, '', { extractValue: true }) as string
    const body = await spend(step, {
      path: '/run',
      body: {
        rdaSlug: rdaOf(step),
        inputs: readInputs(step),
        ...(modelId !== '' && { modelId }),
        ...(options.maxCost !== undefined && { maxCost: options.maxCost }),
        ...(options.wait === false && { async: true }),
      },
      approvalSeconds: options.approvalSeconds ?? 0,
    })
    return [{ json: options.parseOutput === true ? { ...body, output: parsed(step, body) } : body }]
  },
}

interface Options {
  maxCost?: number
  parseOutput?: boolean
  approvalSeconds?: number
  wait?: boolean
}

function parsed(step: Step, { output, runId }: IDataObject): IDataObject {
  try {
    return JSON.parse(text(output)) as IDataObject
  } catch {
    throw refusal(
      step,
      `The run succeeded and is paid for, but its output is not JSON. Turn off Parse Output as JSON, and get the output with Run: Get and ${text(runId)}.`,
    )
  }
}

export const getRda: Operation = {
  option: {
    name: 'Get',
    value: 'get',
    description: 'Get the description, inputs and price of a marketplace asset',
    action: 'Get a marketplace asset',
  },
  fields: [rda],
  async run(step) {
    const { rda: found } = await read(step, { path: `/rda/${encodeURIComponent(rdaOf(step))}` })
    return [{ json: isObject(found) ? found : {} }]
  },
}

export const searchRdas: Operation = {
  option: {
    name: 'Search',
    value: 'search',
    description: 'Search marketplace assets by what they do, most popular first',
    action: 'Search marketplace assets',
  },
  fields: [
    {
      displayName: 'Search For',
      name: 'search',
      type: 'string',
      default: '',
      placeholder: 'e.g. seo audit',
      description: 'Words of the name or the description. If empty, all are listed.',
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
          description: 'Whether to list only assets that Coinslot features',
        },
        {
          displayName: 'Status',
          name: 'status',
          type: 'options',
          default: 'published',
          description: 'Any status other than published lists only your own assets',
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
          description: 'Whether to list only assets that were run often recently',
        },
        {
          displayName: 'Type',
          name: 'type',
          type: 'options',
          default: 'prompt',
          description: 'The type of marketplace asset',
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
          description: 'Whether to list only assets that Coinslot has verified',
        },
      ],
    },
  ],
  async run(step) {
    const words = readText(step, 'search')
    const filters = step.node.getNodeParameter('filters', step.item, {}) as Record<string, string | boolean>
    // An option that is off sets no filter; it does not ask for the opposite.
    const asked = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== false))
    return await readList(
      step,
      { path: '/rdas', query: { ...asked, ...(words !== '' && { search: words }) } },
      { list: 'rdas' },
    )
  },
}

function rdaOf(step: Step): string {
  const identifier = readText(step, 'rda')
  if (identifier === '') throw refusal(step, 'Choose a marketplace asset first.')
  return identifier
}
