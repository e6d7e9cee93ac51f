import { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import type {
  IDataObject,
  IHookFunctions,
  IHttpRequestOptions,
  INode,
  IWebhookFunctions,
  WorkflowExecuteMode,
} from 'n8n-workflow'

/** The service's response to a call, or the error of a broken connection. */
export type ServiceAnswer = { status: number; body: unknown } | Error

export interface Played {
  parameters?: IDataObject
  /** `manual` while testing, `trigger` when a workflow is published, `internal` when it stops. */
  mode?: WorkflowExecuteMode
  /** The data that n8n stores for the node, passed from one context to the next as n8n does. */
  memory?: IDataObject
  service?: (call: IHttpRequestOptions) => ServiceAnswer | Promise<ServiceAnswer>
  /** Answers requests without the credential. */
  file?: (call: IHttpRequestOptions) => ServiceAnswer | Promise<ServiceAnswer>
  credentials?: IDataObject | Error
  webhookUrl?: string
}

export interface Hook {
  context: IHookFunctions
  calls: IHttpRequestOptions[]
  memory: IDataObject
  warnings: string[]
}

const NODE: INode = {
  id: 'node-1',
  name: 'Pay-to-Run Trigger',
  type: 'n8n-nodes-coinslot.payToRunTrigger',
  typeVersion: 1.1,
  position: [0, 0],
  parameters: {},
}

const PARAMETERS = {
  productName: 'SEO audit',
  productDescription: '',
  price: 5,
  network: 'base',
  recipient: 'account',
  recipientAddress: '',
  customerFields: {},
  redirectUrl: '',
  testMode: true,
  options: {},
  respond: 'onReceived',
}

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

/** n8n's side of the lifecycle hooks; its only outgoing connection leads to the service. */
export function hook(played: Played = {}): Hook {
  const { context, calls, memory, warnings } = shared(played)
  return { context: context as unknown as IHookFunctions, calls, memory, warnings }
}

export interface Webhook {
  context: IWebhookFunctions
  calls: IHttpRequestOptions[]
  /** Requests without the credential. */
  fetches: IHttpRequestOptions[]
  memory: IDataObject
  warnings: string[]
  /** The response that the node sent by itself, without n8n. */
  response: { status?: number; body?: unknown; headers: Record<string, string> }
}

export interface Request {
  body?: Buffer | string | undefined
  headers?: Record<string, string>
  name?: 'default' | 'setup'
}

export function webhook(request: Request, played: Played = {}): Webhook {
  const { context, calls, fetches, memory, warnings } = shared({ mode: 'webhook', ...played })
  const response: Webhook['response'] = { headers: {} }
  const res = Object.assign(new EventEmitter(), {
    status(status: number) {
      response.status = status
      return res
    },
    set(headers: Record<string, string>) {
      Object.assign(response.headers, headers)
      return res
    },
    json(body: unknown) {
      response.body = body
      return res
    },
    send(body: unknown) {
      response.body = body
      return res
    },
    end() {
      return res
    },
  })
  const body = request.body === undefined ? undefined : Buffer.from(request.body)
  Object.assign(context, {
    getHeaderData: () => request.headers ?? {},
    getRequestObject: () => ({ rawBody: body }),
    getResponseObject: () => res,
    getWebhookName: () => request.name ?? 'default',
  })
  return { context: context as unknown as IWebhookFunctions, calls, fetches, memory, warnings, response }
}

/** What every context of n8n has. */
export function shared(played: Played) {
  const { mode = 'trigger', memory = {}, service = () => new Error('nobody listens') } = played
  const parameters: IDataObject = { ...PARAMETERS, ...played.parameters }
  const calls: IHttpRequestOptions[] = []
  const fetches: IHttpRequestOptions[] = []
  const warnings: string[] = []
  const note = (text: string) => void warnings.push(text)
  const context = {
    getNode: () => NODE,
    getMode: () => mode,
    getActivationMode: () => (mode === 'manual' ? 'manual' : 'activate'),
    getWorkflow: () => ({ id: 'workflow-1', name: 'Audit', active: false }),
    getInstanceId: () => 'instance-1',
    getNodeParameter: (name: string, fallback?: unknown) => parameters[name] ?? fallback,
    getNodeWebhookUrl: () => played.webhookUrl ?? 'https://n8n.example/webhook/1/pay',
    getWorkflowStaticData: () => memory,
    getCredentials: async () => {
      const { credentials = CREDENTIALS } = played
      if (credentials instanceof Error) throw credentials
      return credentials
    },
    logger: { warn: note, error: note, info: note, debug: note },
    helpers: {
      async httpRequestWithAuthentication(this: unknown, type: string, call: IHttpRequestOptions) {
        // n8n reads the credential through `this`: without it the call would go out without the key.
        if (this !== context || type !== 'coinslotApi') throw new Error('called without its context')
        calls.push(structuredClone(call))
        const answer = await service(call)
        if (answer instanceof Error) throw answer
        return { statusCode: answer.status, body: answer.body, headers: {} }
      },
      // Without the credential: the links of files need none.
      async httpRequest(call: IHttpRequestOptions) {
        // A signal cannot be cloned.
        fetches.push(structuredClone({ ...call, abortSignal: null }))
        const answer = await (played.file ?? (() => new Error('nobody listens')))(call)
        if (answer instanceof Error) throw answer
        const { status, body } = answer as { status: number; body: Buffer | Readable }
        const stream = body instanceof Readable ? body : Readable.from([body])
        return { statusCode: status, body: stream, headers: { 'content-type': 'application/pdf' } }
      },
      prepareBinaryData: async (content: Buffer, fileName?: string, mimeType?: string) => ({
        data: content.toString('base64'),
        ...{ fileName, mimeType },
      }),
    },
  }
  return { context, calls, fetches, memory, warnings }
}

const CREDENTIALS = {
  environment: 'sandbox',
  apiKey: 'csk_test_1',
  url: 'http://localhost:4020/v1/',
}
