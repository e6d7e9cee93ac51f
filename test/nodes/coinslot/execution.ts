import type {
  IDataObject,
  IExecuteFunctions,
  IHttpRequestOptions,
  ILoadOptionsFunctions,
  INodeExecutionData,
} from 'n8n-workflow'
import { Coinslot } from '../../../nodes/Coinslot/Coinslot.node.ts'
import { shared, type Played, type ServiceAnswer } from '../n8n.ts'

export interface Executed extends Omit<Played, 'parameters' | 'service'> {
  /** The parameters of every item, or of each one. */
  parameters: IDataObject | IDataObject[]
  /** The input items. */
  input?: IDataObject[]
  /** The service's responses, call by call; the last one repeats. */
  answers?: ServiceAnswer[]
  service?: Played['service']
  continueOnFail?: boolean
  /** Runs it as an agent's tool: by n8n's engine, or invoked by the agent itself. */
  tool?: 'engine' | 'invoked'
  execution?: string
  runIndex?: number
  /** The triggers before the node, by name, with the first item of each; null for one that has not run. */
  triggers?: Record<string, { type: string; json: IDataObject | null }>
  /** The files of the input items, by property. */
  files?: Record<string, { fileName?: string; mimeType: string; bytes: Buffer }>
  /** The data that n8n stores with the execution and passes from one try to the next. */
  kept?: IDataObject
  /** What a newer n8n adds to the address of a waiting execution. */
  resumeQuery?: string
}

export interface Execution {
  calls: IHttpRequestOptions[]
  items: INodeExecutionData[]
  error: unknown
  kept: IDataObject
  hints: string[]
  /** Whether n8n was told to wait with the execution. */
  waits: boolean
}

/** n8n's side of one execution of the node; its only outgoing connection leads to the service. */
export async function execute(played: Executed): Promise<Execution> {
  const { input = [{}], kept = {}, tool, execution = '7', runIndex = 0, triggers = {}, files = {} } = played
  const items = input.map((json) => ({ json }))
  const hints: string[] = []
  let waits = false
  const { context, calls } = shared({ ...played, parameters: {}, service: played.service ?? inTurn(played.answers) })
  const at = (item: number): IDataObject =>
    Array.isArray(played.parameters) ? (played.parameters[item] ?? {}) : played.parameters
  Object.assign(context, {
    getNode: () => ({ ...NODE, type: `n8n-nodes-coinslot.coinslot${tool === undefined ? '' : 'Tool'}` }),
    getInputData: () => items,
    getNodeParameter: (name: string, item: number, fallback?: unknown, options?: { extractValue?: boolean }) =>
      extracted(at(item)[name] ?? fallback, options),
    continueOnFail: () => played.continueOnFail === true,
    getExecutionId: () => execution,
    getExecutionCancelSignal: () => undefined,
    getContext: () => kept,
    getWorkflowDataProxy: () => ({
      $runIndex: runIndex,
      $: (name: string) => ({ isExecuted: triggers[name]?.json != null, first: () => triggers[name] }),
    }),
    getParentNodes: () => Object.entries(triggers).map(([name, { type }]) => ({ name, type })),
    addExecutionHints: ({ message }: { message: string }) => void hints.push(message),
    isToolExecution: () => tool === 'invoked',
    evaluateExpression: (expression: string) =>
      expression === '{{ $execution.resumeUrl }}'
        ? `https://n8n.example.com/webhook-waiting/${execution}${played.resumeQuery ?? ''}`
        : undefined,
    putExecutionToWait: async () => {
      waits = true
    },
  })
  Object.assign(context.helpers, {
    assertBinaryData: (_item: number, property: string) => files[property],
    getBinaryDataBuffer: async (_item: number, property: string) => files[property]?.bytes,
    prepareBinaryData: async (data: Buffer, _name: string | undefined, mimeType: string) => ({
      data: data.toString('base64'),
      mimeType,
    }),
  })
  try {
    const [out = []] = await new Coinslot().execute.call(context as unknown as IExecuteFunctions)
    return { calls, items: out, error: undefined, kept, hints, waits }
  } catch (error) {
    return { calls, items: [], error, kept, hints, waits }
  }
}

/** n8n's side of the panel, while a user fills it in. */
export function panel(parameters: IDataObject, answers: ServiceAnswer[]) {
  const { context, calls } = shared({ service: inTurn(answers) })
  Object.assign(context, {
    getNode: () => NODE,
    getCurrentNodeParameter: (name: string, options?: { extractValue?: boolean }) =>
      extracted(parameters[name], options),
  })
  return { context: context as unknown as ILoadOptionsFunctions, calls }
}

export function named(value: string): IDataObject {
  return { __rl: true, mode: 'id', value }
}

/** As the panel stores a resource mapper. */
export function mapped(value: IDataObject): IDataObject {
  return { mappingMode: 'defineBelow', value, matchingColumns: [], schema: [] }
}

function extracted(value: unknown, options?: { extractValue?: boolean }): unknown {
  const isLocator = typeof value === 'object' && value !== null && '__rl' in value
  return isLocator && options?.extractValue === true ? (value as unknown as { value: unknown }).value : value
}

function inTurn(answers: ServiceAnswer[] = [{ status: 200, body: {} }]): () => ServiceAnswer {
  let call = 0
  return () => answers[Math.min(call++, answers.length - 1)]!
}

const NODE = {
  id: 'node-1',
  name: 'Coinslot',
  type: '',
  typeVersion: 1,
  position: [0, 0] as [number, number],
  parameters: {},
}
