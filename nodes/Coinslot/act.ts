import { createHash } from 'node:crypto'
import type { IExecuteFunctions } from 'n8n-workflow'
import type { Call } from '../shared/transport.ts'
import type { Step } from './item.ts'

export interface Act {
  /** The same for every try of the same thing: the service takes it for one and the same request. */
  key: string
  /** It is over and cost nothing: another try is another act. */
  endedUnpaid(): void
  succeeded(): void
}

/**
 * Names what an item is about to pay for. The name comes from the execution, the node, its run and the item: all of it
 * survives n8n's "retry on fail", a batch that is run again because of one item, and a queue that hands the execution
 * to another worker. Chance has no part in it, for a worker that begins anew would draw another lot.
 */
export function actOf({ node, item }: Step, call: Pick<Call, 'path' | 'body'>): Act {
  const slot = slotOf(node, item, call)
  // Kept by n8n with the execution: what one try learned, the next one knows.
  const ended = memoryOf(node)
  const bump = (): void => {
    ended[slot] = (ended[slot] ?? 0) + 1
  }
  const parts = [
    ...[node.getInstanceId(), node.getWorkflow().id, node.getExecutionId(), node.getNode().id],
    ...[slot, ended[slot] ?? 0],
  ]
  return {
    key: `n8n-${createHash('sha256').update(JSON.stringify(parts)).digest('hex')}`,
    endedUnpaid: bump,
    // An agent that calls again after a success wants a second one; a retried item wants the first.
    succeeded: isInvoked(node) ? bump : () => undefined,
  }
}

function slotOf(node: IExecuteFunctions, item: number, { path, body }: Pick<Call, 'path' | 'body'>): string {
  // Invoked by an agent, each try is a run of its own: only what was asked for tells that it is a retry.
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
