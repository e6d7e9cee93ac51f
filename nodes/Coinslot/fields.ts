import type { INodeProperties } from 'n8n-workflow'

/** A field that offers a searchable list or accepts the id as text. */
export function locator(
  named: { displayName: string; name: string; description: string; required?: boolean },
  listSearch: string,
  written: { displayName: string; placeholder: string },
): INodeProperties {
  return {
    ...named,
    type: 'resourceLocator',
    default: { mode: 'list', value: '' },
    modes: [
      {
        displayName: 'From List',
        name: 'list',
        type: 'list',
        placeholder: 'Choose…',
        typeOptions: { searchListMethod: listSearch, searchable: true },
      },
      { ...written, name: 'id', type: 'string' },
    ],
  }
}

export const returnAll: INodeProperties = {
  displayName: 'Return All',
  name: 'returnAll',
  type: 'boolean',
  default: false,
  description: 'Whether to return all results or only up to a given limit',
}

export const limit: INodeProperties = {
  displayName: 'Limit',
  name: 'limit',
  type: 'number',
  typeOptions: { minValue: 1 },
  default: 50,
  description: 'Max number of results to return',
  displayOptions: { show: { returnAll: [false] } },
}

/** An agent's key may require a person's approval above an amount. */
export const approval: INodeProperties = {
  displayName: 'Wait for Approval (Seconds)',
  name: 'approvalSeconds',
  type: 'number',
  typeOptions: { minValue: 0, maxValue: 120 },
  default: 60,
  description:
    'How long to wait when a person has to approve the payment first, up to 120. Only agent keys can require approval.',
}

export const runId: INodeProperties = {
  displayName: 'Run ID',
  name: 'runId',
  type: 'string',
  default: '',
  required: true,
  placeholder: 'e.g. run_01k…',
  description: 'The run ID that Marketplace Asset: Run returns',
}
