import {
  NodeApiError,
  NodeOperationError,
  type IDataObject,
  type IExecuteFunctions,
  type INodeExecutionData,
} from 'n8n-workflow'
import { isObject } from '../shared/transport.ts'
import { operationOf } from './resources/catalog.ts'

/** Items run one after the other: when a limit stops an item, every item before it has already been processed. */
export async function execute(node: IExecuteFunctions): Promise<INodeExecutionData[][]> {
  const results: INodeExecutionData[] = []
  let items = node.getInputData().length
  for (let item = 0; item < items; item++) {
    try {
      const operation = operationOf(
        node.getNodeParameter('resource', item, ''),
        node.getNodeParameter('operation', item, ''),
      )
      if (operation.isOnce?.({ node, item }) === true) items = item + 1
      const found = await operation.run({ node, item })
      // A model needs a sentence here, because it cannot interpret an empty list.
      const output = found.length === 0 && isTool(node) ? [{ json: { found: 0, message: NOTHING } }] : found
      results.push(...output.map((one) => ({ ...one, pairedItem: { item } })))
    } catch (thrown) {
      const error = errorOf(thrown, node, item)
      if (!node.continueOnFail() && !isTool(node)) throw error
      // n8n sends an item to the error output only if it has an `error` field and nothing else.
      const isSorted = node.getNode().onError === 'continueErrorOutput'
      results.push({ json: isSorted ? { error: error.message } : toJson(error), pairedItem: { item } })
    }
  }
  return [results]
}

/**
 * Whether an agent's model called this node as a tool. For the model a refusal is an answer: it reads the sentence and
 * decides what to do. If the tool threw, n8n would end the whole workflow and the model would never see the reason.
 */
function isTool(node: IExecuteFunctions): boolean {
  return node.isToolExecution() || node.getNode().type.endsWith('Tool')
}

function errorOf(thrown: unknown, node: IExecuteFunctions, item: number): NodeApiError | NodeOperationError {
  if (thrown instanceof NodeApiError || thrown instanceof NodeOperationError) return thrown
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  return new NodeOperationError(node.getNode(), error, { itemIndex: item })
}

const NOTHING = 'No results. Try other words, or fewer.'

/** For a workflow that continues on errors: the message, the error code and the figures from the service. */
function toJson(error: NodeApiError | NodeOperationError): IDataObject {
  const data = error.context['data']
  return { ...(isObject(data) ? data : {}), error: error.message }
}
