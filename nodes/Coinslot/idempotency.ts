import { createHash } from 'node:crypto'
import type { IExecuteFunctions } from 'n8n-workflow'
import type { Call } from '../shared/transport.ts'
import type { Step } from './inputs.ts'

export interface Purchase {
  /** The same for every attempt, so that the service treats them as one request. */
  key: string
  /** The request is over and cost nothing, so the next attempt is a new purchase. */
  endedUnpaid(): void
  succeeded(): void
}

type Purchased = Pick<Call, 'path' | 'body' | 'query'>

/**
 * Derives the purchase's key from the execution, the node, its run and the item. All of these survive n8n's "retry on
 * fail", a batch that runs again because of one item, and a queue that moves the execution to another worker. A random
 * key would not survive the move to another worker.
 */
export function purchaseOf({ node, item }: Step, call: Purchased): Purchase {
  const slot = slotOf(node, item, call)
  // n8n stores this with the execution, so the next attempt sees what this attempt recorded.
  const ended = memoryOf(node)
  const bump = (): void => {
    ended[slot] = (ended[slot] ?? 0) + 1
  }
  const parts = [
    ...[node.getInstanceId(), node.getWorkflow().id, node.getExecutionId(), node.getNode().id],
    ...[slot, ended[slot] ?? 0],
  ]
  return {
    key: `n8n-${hash(parts)}`,
    endedUnpaid: bump,
    // An agent that calls again after a success wants a second purchase; a retried item wants the first one.
    succeeded: isInvoked(node) ? bump : () => undefined,
  }
}

function slotOf(node: IExecuteFunctions, item: number, { path, body, query }: Purchased): string {
  // For an agent every attempt is a separate run, so only an identical request shows that it is a retry.
  if (isInvoked(node)) return `invoked ${hash(query === undefined ? [path, body] : [path, body, query])}`
  const { $runIndex } = node.getWorkflowDataProxy(item)
  // n8n gives each tool call of an agent's model an id; the run index may repeat.
  const toolCallId: unknown = node.getInputData()[item]?.json['toolCallId']
  return JSON.stringify([$runIndex, item, typeof toolCallId === 'string' ? toolCallId : null])
}

function isInvoked(node: IExecuteFunctions): boolean {
  return node.isToolExecution()
}

function memoryOf(node: IExecuteFunctions): Record<string, number> {
  const context = node.getContext('node') as { coinslotActs?: Record<string, number> }
  context.coinslotActs ??= {}
  return context.coinslotActs
}

function hash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex')
}
