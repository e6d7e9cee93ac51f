import {
  NodeApiError,
  NodeOperationError,
  type IDataObject,
  type IExecuteFunctions,
  type INodeExecutionData,
} from 'n8n-workflow'
import { isObject } from '../shared/transport.ts'
import { operationOf } from './resources/catalog.ts'

/** One item after the other: what a limit stops in the middle has let everything before it through. */
export async function execute(node: IExecuteFunctions): Promise<INodeExecutionData[][]> {
  const results: INodeExecutionData[] = []
  for (let item = 0; item < node.getInputData().length; item++) {
    try {
      const operation = operationOf(
        node.getNodeParameter('resource', item, ''),
        node.getNodeParameter('operation', item, ''),
      )
      const found = await operation.run({ node, item })
      // A model needs a sentence: it cannot read an empty list.
      const output = found.length === 0 && isTool(node) ? [{ json: { found: 0, message: NOTHING } }] : found
      results.push(...output.map((one) => ({ ...one, pairedItem: { item } })))
    } catch (thrown) {
      const error = errorOf(thrown, node, item)
      if (!node.continueOnFail() && !isTool(node)) throw error
      // n8n knows an item for its error output by this: that it has the sentence and nothing else.
      const isSorted = node.getNode().onError === 'continueErrorOutput'
      results.push({ json: isSorted ? { error: error.message } : toJson(error), pairedItem: { item } })
    }
  }
  return [results]
}

/**
 * What an agent's model calls as a tool. To it a refusal is an answer: it reads the sentence and decides. n8n would end
 * the whole workflow at a tool that throws, and the model would never hear why.
 */
function isTool(node: IExecuteFunctions): boolean {
  return node.isToolExecution() || node.getNode().type.endsWith('Tool')
}

function errorOf(thrown: unknown, node: IExecuteFunctions, item: number): NodeApiError | NodeOperationError {
  if (thrown instanceof NodeApiError || thrown instanceof NodeOperationError) return thrown
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  return new NodeOperationError(node.getNode(), error, { itemIndex: item })
}

const NOTHING = 'Nothing was found. Try other words, or fewer.'

/** For the workflow that continues: the sentence, the word for it, and the figures that the service gave. */
function toJson(error: NodeApiError | NodeOperationError): IDataObject {
  const data = error.context['data']
  return { ...(isObject(data) ? data : {}), error: error.message }
}
