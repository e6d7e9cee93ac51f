import {
  NodeConnectionTypes,
  type IHookFunctions,
  type INodeType,
  type INodeTypeDescription,
  type IWebhookFunctions,
  type IWebhookResponseData,
} from 'n8n-workflow'
import { receive } from './delivery.ts'
import { fields } from './fields.ts'
import { checkExists, create, remove } from './lifecycle.ts'

export class PayToRunTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Pay-to-Run Trigger',
    name: 'payToRunTrigger',
    icon: { light: 'file:payToRun.svg', dark: 'file:payToRun.dark.svg' },
    group: ['trigger'],
    version: 1,
    subtitle: '={{ $parameter["price"] + " USDC" + ($parameter["testMode"] ? " · test" : "") }}',
    description: 'Runs the workflow when a customer has filled in your form and paid for it in USDC',
    activationMessage: 'Your payment form is live. Open the production address of the trigger to see its link.',
    defaults: { name: 'Pay-to-Run Trigger' },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'coinslotApi', required: true }],
    webhooks: [
      {
        name: 'default',
        httpMethod: 'POST',
        path: 'pay',
        // The same address as the one below, which is the one to open.
        ndvHideUrl: true,
        responseMode: '={{ ($parameter["options"] || {})["respond"] === "lastNode" ? "lastNode" : "onReceived" }}',
        // Empty lets the trigger's own answer through; n8n would send the word firstEntryJson otherwise.
        responseData: '={{ ($parameter["options"] || {})["respond"] === "lastNode" ? "firstEntryJson" : "" }}',
      },
      // Looked up by the method: the first one in this list is whose address the service is told.
      { name: 'setup', httpMethod: 'GET', path: 'pay', responseMode: 'onReceived' },
    ],
    triggerPanel: {
      header: 'Take a test payment',
      executionsHelp: {
        inactive:
          '<b>While building</b>, execute this step and open the test address (under “Webhook URLs” in this node): it shows the link of a temporary payment form. Pay there, and the payment appears here.<br /><br /><b>When the workflow is ready</b>, publish it. Then the production address shows the lasting link, which stays the same when you edit, restart or publish again.',
        active:
          '<b>Your payment form is live.</b> The production address (under “Webhook URLs” in this node) shows its link. Each payment runs the workflow once; you find the runs in the <a data-key="executions">executions list</a>.<br /><br />Executing this step makes a second, temporary form for trying out changes.',
      },
      activationHint:
        'Executing this step makes a temporary payment form. Open the <b>test address</b> under “Webhook URLs” to get its link.',
    },
    properties: fields,
  }

  webhookMethods = {
    default: {
      async checkExists(this: IHookFunctions): Promise<boolean> {
        return await checkExists(this)
      },
      async create(this: IHookFunctions): Promise<boolean> {
        return await create(this)
      },
      async delete(this: IHookFunctions): Promise<boolean> {
        return await remove(this)
      },
    },
  }

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    return await receive(this)
  }
}
