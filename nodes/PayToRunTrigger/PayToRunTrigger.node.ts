import {
  type IHookFunctions,
  type INodeType,
  type INodeTypeDescription,
  type IWebhookFunctions,
  type IWebhookResponseData,
} from 'n8n-workflow'
import { receive } from './delivery.ts'
import { fields, LATEST, VERSIONS, withFirstVersion } from './fields.ts'
import { checkExists, create, remove } from './lifecycle.ts'
import { outputsOf } from './price.ts'

/** An option in the node's first version. */
const RESPONDS = '($parameter["respond"] || ($parameter["options"] || {})["respond"])'

export class PayToRunTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Coinslot Pay-to-Run Trigger',
    name: 'payToRunTrigger',
    icon: { light: 'file:payToRun.svg', dark: 'file:payToRun.dark.svg' },
    group: ['trigger'],
    version: VERSIONS,
    defaultVersion: LATEST,
    subtitle:
      '={{ ({ choose: "customer decides", byField: "price by dropdown" }[$parameter["pricing"]] || $parameter["price"] + " USDC") + ($parameter["testMode"] ? " · test" : "") }}',
    description: 'Runs the workflow when a customer has filled in your form and paid for it in USDC',
    eventTriggerDescription:
      'Waiting for a payment. Open the test address of this trigger in a browser tab: it leads to the payment form.',
    activationMessage: 'Your payment form is live. Open the production address of the trigger to see its link.',
    defaults: { name: 'Pay-to-Run Trigger' },
    inputs: [],
    outputs: `={{ (${outputsOf.toString()})($parameter) }}`,
    credentials: [{ name: 'coinslotApi', required: true }],
    webhooks: [
      {
        name: 'default',
        httpMethod: 'POST',
        path: 'pay',
        // This is the same URL as the one below, and the one below is the one to open.
        ndvHideUrl: true,
        responseMode: `={{ ${RESPONDS} === "lastNode" ? "lastNode" : "onReceived" }}`,
        // An empty value lets the trigger's own response through; otherwise n8n would send the text "firstEntryJson".
        responseData: `={{ ${RESPONDS} === "lastNode" ? "firstEntryJson" : "" }}`,
      },
      // n8n looks webhooks up by method. The service gets the address of the first one in this list.
      { name: 'setup', httpMethod: 'GET', path: 'pay', responseMode: 'onReceived' },
    ],
    triggerPanel: {
      header: 'Take a test payment',
      executionsHelp: {
        inactive:
          '<b>While building</b>, copy the test address first (under “Webhook URLs” in this node), then execute this step and open the address in a browser tab: it leads to a temporary payment form. Pay there, and the payment appears here.<br /><br /><b>When the workflow is ready</b>, publish it. Then the production address shows the lasting link, which stays the same when you edit, restart or publish again.',
        active:
          '<b>Your payment form is live.</b> The production address (under “Webhook URLs” in this node) shows its link, and lines to copy for AI assistants and programs. Each payment runs the workflow once; you find the runs in the <a data-key="executions">executions list</a>.<br /><br />Executing this step makes a second, temporary form for trying out changes.',
      },
      activationHint:
        'Copy the <b>test address</b> under “Webhook URLs” before you execute this step. While the step listens, the address leads to a temporary payment form.',
    },
    properties: withFirstVersion(fields),
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
