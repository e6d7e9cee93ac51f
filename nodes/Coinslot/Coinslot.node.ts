import {
  NodeConnectionTypes,
  type IExecuteFunctions,
  type INodeExecutionData,
  type INodeType,
  type INodeTypeDescription,
} from 'n8n-workflow'
import { execute } from './execute.ts'
import { searchModels, searchRdas, searchTools } from './lists.ts'
import { mapRdaInputs, mapToolInputs } from './mappers.ts'
import { properties } from './resources/catalog.ts'

export class Coinslot implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Coinslot',
    name: 'coinslot',
    icon: { light: 'file:coinslot.svg', dark: 'file:coinslot.dark.svg' },
    group: ['transform'],
    version: 1,
    subtitle: '={{ $parameter["operation"] + ": " + $parameter["resource"] }}',
    description: 'Run prompts, agents and tools and fetch paid addresses, paid per use in USDC from your wallet',
    defaults: { name: 'Coinslot' },
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    // The agent's API key limits what a model can spend.
    usableAsTool: true,
    credentials: [{ name: 'coinslotApi', required: true }],
    properties,
  }

  methods = {
    listSearch: { searchRdas, searchModels, searchTools },
    resourceMapping: { mapRdaInputs, mapToolInputs },
  }

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    return await execute(this)
  }
}
