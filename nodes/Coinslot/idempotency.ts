import { createHash } from 'node:crypto'
import type { IExecuteFunctions } from 'n8n-workflow'
import type { Call } from '../shared/transport.ts'
import type { Step } from './inputs.ts'

export interface Purchase {
  /** The same for every attempt, so that the service sees one request. */
  key: string
  /** It is over and cost nothing: the next attempt is a new purchase. */
  endedUnpaid(): void
  succeeded(): void
}

/**
 * Names what an item is about to pay for. The name comes from the execution, the node, its run and the item: all of it
 * survives n8n's "retry on fail", a batch that is run again because of one item, and a queue that hands the execution
 * to another worker. A random key would not survive a new worker.
 */
export function purchaseOf({ node, item }: Step, call: Pick<Call, 'path' | 'body'>): Purchase {
  const slot = slotOf(node, item, call)
  // n8n stores it with the execution, so the next attempt sees what this one learned.
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
    // An agent that calls again after a success wants a second one; a retried item wants the first.
    succeeded: isInvoked(node) ? bump : () => undefined,
  }
}

function slotOf(node: IExecuteFunctions, item: number, { path, body }: Pick<Call, 'path' | 'body'>): string {
  // An agent invokes each attempt as a run of its own: only an equal request shows that it is a retry.
  if (isInvoked(node)) return `invoked ${hash([path, body])}`
  const { $runIndex } = node.getWorkflowDataProxy(item)
  // n8n gives each call of an agent's model an id, and that of its runs may repeat.
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
