import type { IDataObject, INodeProperties } from 'n8n-workflow'
import { isObject } from '../../shared/transport.ts'
import { limit, locator, returnAll } from '../fields.ts'
import { readText, refusal, type Step } from '../inputs.ts'
import { change, read, readList, spend, type Operation } from '../request.ts'

const agent = locator(
  { displayName: 'Agent', name: 'agent', description: 'An agent of the account', required: true },
  'searchAgents',
  { displayName: 'By ID', placeholder: 'e.g. agt_01k…' },
)

const AMOUNTS = [
  amountOf('Approval Above', 'approvalAbove', 'A person approves each call that costs more'),
  amountOf('Lifetime', 'lifetime', 'In all'),
  amountOf('Per Call', 'perCall', 'For one call'),
  amountOf('Per Day', 'perDay', 'On a day (UTC)'),
  amountOf('Per Minute', 'perMinute', 'In a minute'),
  amountOf('Per Month', 'perMonth', 'In a month (UTC)'),
  amountOf('Per Week', 'perWeek', 'In a week (UTC)'),
]

const limits: INodeProperties = {
  displayName: 'Limits (USDC)',
  name: 'limits',
  type: 'collection',
  placeholder: 'Add Limit',
  default: {},
  description: 'What the keys of the agent can spend at most. Without any, the wallet alone limits them.',
  options: AMOUNTS,
}

function amountOf(displayName: string, name: string, description: string): INodeProperties {
  return { displayName, name, description, type: 'number', typeOptions: { minValue: 0 }, default: 1 }
}

export const agentBudget: Operation = {
  option: {
    name: 'Get Budget',
    value: 'budget',
    description: 'Get what an agent has spent, what is left, and when each limit resets',
    action: 'Get the budget of an agent',
  },
  fields: [agent],
  run: async (step) => [{ json: await read(step, { path: `${agentPath(step)}/policy` }) }],
}

export const listAgents: Operation = {
  option: {
    name: 'Get Many',
    value: 'getAll',
    description: 'Get the agents of the account with their limits',
    action: 'Get many agents',
  },
  fields: [returnAll, limit],
  run: async (step) => await readList(step, { path: '/agents' }, { list: 'agents' }),
}

export const createAgent: Operation = {
  option: {
    name: 'Create',
    value: 'create',
    description: 'Create an agent with its limits; its keys are made in the dashboard',
    action: 'Create an agent',
  },
  fields: [
    {
      displayName: 'Name',
      name: 'agentName',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'e.g. Research agent',
    },
    limits,
  ],
  async run(step) {
    const body = { name: readText(step, 'agentName'), ...readLimits(step) }
    return [{ json: agentIn(await spend(step, { path: '/agents', body })) }]
  },
}

export const changeAgent: Operation = {
  option: {
    name: 'Set Budget',
    value: 'setBudget',
    description: 'Change the limits of an agent, or pause and resume it',
    action: 'Set the budget of an agent',
  },
  fields: [
    agent,
    {
      ...limits,
      description: 'What the keys of the agent can spend at most. A limit that is not added stays as it is.',
    },
    {
      displayName: 'Limits to Remove',
      name: 'removedLimits',
      type: 'multiOptions',
      default: [],
      description: 'Limits that the agent has no more',
      options: AMOUNTS.map(({ displayName, name, description = '' }) => ({
        name: displayName,
        value: name,
        description,
      })),
    },
    {
      displayName: 'Status',
      name: 'status',
      type: 'options',
      default: 'unchanged',
      description: 'A paused agent can buy nothing',
      options: [
        { name: 'Active', value: 'active' },
        { name: 'Paused', value: 'paused' },
        { name: 'Unchanged', value: 'unchanged' },
      ],
    },
  ],
  async run(step) {
    const status = readText(step, 'status')
    const body = { ...readLimits(step), ...(['active', 'paused'].includes(status) && { status }) }
    if (Object.keys(body).length === 0) throw refusal(step, 'There is nothing to change. Add a limit or a status.')
    return [{ json: agentIn(await change(step, { method: 'PATCH', path: agentPath(step), body })) }]
  },
}

/** The API has the amount above which a person approves beside the limits. */
function readLimits({ node, item }: Step): IDataObject {
  const removed = node.getNodeParameter('removedLimits', item, []) as string[]
  const changed: IDataObject = {
    ...Object.fromEntries(removed.map((name) => [name, null])),
    ...(node.getNodeParameter('limits', item, {}) as IDataObject),
  }
  const { approvalAbove, ...rest } = changed
  return {
    ...(Object.keys(rest).length > 0 && { limits: rest }),
    ...(approvalAbove !== undefined && { approvalAbove }),
  }
}

function agentIn({ agent: found }: IDataObject): IDataObject {
  return isObject(found) ? found : {}
}

/** The path of the agent, relative to the API's address. */
function agentPath(step: Step): string {
  const id = readText(step, 'agent')
  if (id === '') throw refusal(step, 'Choose an agent first.')
  return `/agents/${encodeURIComponent(id)}`
}
