import {
  NodeConnectionTypes,
  type IHookFunctions,
  type INodeType,
  type INodeTypeDescription,
  type IWebhookFunctions,
  type IWebhookResponseData,
} from 'n8n-workflow'
import { receive } from '../PayToRunTrigger/delivery.ts'
import { checkExists, create, remove } from '../PayToRunTrigger/lifecycle.ts'
import { PAID_CHAT } from './chat.ts'
import { fields } from './fields.ts'

export class PaidChatTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Coinslot Paid Chat Trigger',
    name: 'paidChatTrigger',
    icon: { light: 'file:paidChat.svg', dark: 'file:paidChat.dark.svg' },
    group: ['trigger'],
    version: 1,
    subtitle:
      '={{ $parameter["messages"] + " messages for " + $parameter["price"] + " USDC" + ($parameter["testMode"] ? " · test" : "") }}',
    description: 'Runs the workflow for each message of a chat that a customer has paid for ahead in USDC',
    eventTriggerDescription:
      'Waiting for a message. Open the test address of this trigger in a browser tab: it leads to the chat.',
    activationMessage: 'Your chat is live. Open the production address of the trigger to see its link.',
    defaults: { name: 'Paid Chat Trigger' },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'coinslotApi', required: true }],
    webhooks: [
      {
        name: 'default',
        httpMethod: 'POST',
        path: 'pay',
        // This is the same URL as the one below, and the one below is the one to open.
        ndvHideUrl: true,
        responseMode: 'lastNode',
        responseData: 'firstEntryJson',
      },
      // n8n looks webhooks up by method. The service gets the address of the first one in this list.
      { name: 'setup', httpMethod: 'GET', path: 'pay', responseMode: 'onReceived' },
    ],
    triggerPanel: {
      header: 'Send a test message',
      executionsHelp: {
        inactive:
          '<b>While building</b>, copy the test address first (under “Webhook URLs” in this node), then execute this step and open the address in a browser tab: it leads to a temporary chat. Write there, and the message appears here.<br /><br /><b>When the workflow is ready</b>, publish it. Then the production address shows the lasting link, which stays the same when you edit, restart or publish again.',
        active:
          '<b>Your chat is live.</b> The production address (under “Webhook URLs” in this node) shows its link. Each message runs the workflow once; you find the runs in the <a data-key="executions">executions list</a>.<br /><br />Executing this step makes a second, temporary chat for trying out changes.',
      },
      activationHint:
        'Copy the <b>test address</b> under “Webhook URLs” before you execute this step. While the step listens, the address leads to a temporary chat.',
    },
    properties: fields,
  }

  webhookMethods = {
    default: {
      async checkExists(this: IHookFunctions): Promise<boolean> {
        return await checkExists(this, PAID_CHAT)
      },
      async create(this: IHookFunctions): Promise<boolean> {
        return await create(this, PAID_CHAT)
      },
      async delete(this: IHookFunctions): Promise<boolean> {
        return await remove(this)
      },
    },
  }

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    return await receive(this, PAID_CHAT)
  }
}
