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
  /** The triggers before the node, by name, with the first item of each and its output; null for one that has not run. */
  triggers?: Record<string, { type: string; json: IDataObject | null; output?: number }>
  /** What n8n's own workflow says of the triggers before the node. */
  engine?: Pick<IExecuteFunctions, 'getWorkflowDataProxy' | 'getParentNodes'>
  /** Expressions that gave the parameters of their names. */
  expressions?: Record<string, string>
  timezone?: string
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
  const { expressions = {}, timezone = 'America/New_York' } = played
  const items = input.map((json) => ({ json }))
  const hints: string[] = []
  let waits = false
  const { context, calls } = shared({ ...played, parameters: {}, service: played.service ?? inTurn(played.answers) })
  const at = (item: number): IDataObject =>
    Array.isArray(played.parameters) ? (played.parameters[item] ?? {}) : played.parameters
  Object.assign(context, {
    getNode: () => ({ ...NODE, type: `n8n-nodes-coinslot.coinslot${tool === undefined ? '' : 'Tool'}` }),
    getInputData: () => items,
    // As n8n: what an expression gives is given, also undefined and null; the fallback is for what is not there.
    getNodeParameter: (name: string, item: number, fallback?: unknown, options?: Options) =>
      options?.rawExpressions === true && expressions[name] !== undefined
        ? expressions[name]
        : extracted(name in at(item) ? at(item)[name] : fallback, options),
    getTimezone: () => timezone,
    continueOnFail: () => played.continueOnFail === true,
    getExecutionId: () => execution,
    getExecutionCancelSignal: () => undefined,
    getContext: () => kept,
    getWorkflowDataProxy: () => ({
      $runIndex: runIndex,
      $: (name: string) => {
        const { json = null, output = 0 } = triggers[name] ?? {}
        return {
          isExecuted: json !== null,
          first: (wanted: number) => {
            if (wanted > output) throw new Error(`Node "${name}" has no branch with index ${String(wanted)}.`)
            return wanted === output ? { json } : undefined
          },
        }
      },
    }),
    getParentNodes: () => Object.entries(triggers).map(([name, { type }]) => ({ name, type })),
    ...played.engine,
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

interface Options {
  extractValue?: boolean
  rawExpressions?: boolean
}

function extracted(value: unknown, options?: Options): unknown {
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
