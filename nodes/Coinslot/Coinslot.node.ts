import {
  NodeConnectionTypes,
  type IExecuteFunctions,
  type INodeExecutionData,
  type INodeType,
  type INodeTypeDescription,
  type IWebhookFunctions,
  type IWebhookResponseData,
} from 'n8n-workflow'
import { execute } from './execute.ts'
import { searchAgents, searchCheckouts, searchModels, searchRdas, searchTools } from './lists.ts'
import { mapRdaInputs, mapToolInputs } from './mappers.ts'
import { resume, resumeWebhooks } from './resources/ask.ts'
import { properties } from './resources/catalog.ts'

export class Coinslot implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Coinslot',
    name: 'coinslot',
    icon: { light: 'file:coinslot.svg', dark: 'file:coinslot.dark.svg' },
    group: ['transform'],
    version: 1,
    subtitle:
      '={{ $parameter["operation"] + ": " + ($parameter["resource"] === "rda" ? "marketplace asset" : $parameter["resource"]) }}',
    description:
      'Answer paying customers, manage checkouts and payments, and buy prompts, tools and paid addresses in USDC',
    defaults: { name: 'Coinslot' },
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    // The agent's API key limits what a model can spend.
    usableAsTool: true,
    credentials: [{ name: 'coinslotApi', required: true }],
    webhooks: resumeWebhooks,
    properties,
  }

  methods = {
    listSearch: { searchAgents, searchCheckouts, searchRdas, searchModels, searchTools },
    resourceMapping: { mapRdaInputs, mapToolInputs },
  }

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    return await resume(this)
  }

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    return await execute(this)
  }
}
