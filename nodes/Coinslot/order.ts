import type { INodeProperties } from 'n8n-workflow'
import { isObject } from '../shared/transport.ts'
import { text } from './failure.ts'
import { refusal, type Step } from './inputs.ts'

/** The payment that an operation is about, where that is usually the one that started the workflow. */
export const orderField: INodeProperties = {
  displayName: 'Payment ID',
  name: 'paymentId',
  type: 'string',
  default: '',
  placeholder: 'The payment that started this workflow',
  description:
    'Leave it empty for the payment that started this workflow. It is found wherever this step is: after a Wait node, and in a sub-workflow that gets the data of the trigger.',
}

/** Of a step that sends money: what a sub-workflow was called with may be a stranger's. */
export const refundedField: INodeProperties = {
  ...orderField,
  description:
    'Leave it empty for the payment that started this workflow. It is found wherever this step is, also after a Wait node. In a sub-workflow, set it: what that was called with may come from anybody.',
}

/**
 * The payment that the panel names, or the one that started this execution. Only triggers are read: what comes out of
 * another node may be written by a stranger, who must not choose which order is answered.
 */
export function orderOf(step: Step, { inSubWorkflow = true }: { inSubWorkflow?: boolean } = {}): string {
  const { node, item } = step
  const named = text(node.getNodeParameter('paymentId', item, '')).trim()
  if (named !== '') return named
  const { $: nodeNamed } = node.getWorkflowDataProxy(item) as unknown as { $: (name: string) => NodeData }
  const starts = inSubWorkflow ? [...TRIGGERS, SUB_WORKFLOW] : TRIGGERS
  for (const { name, type } of node.getParentNodes(node.getNode().name)) {
    const found = starts.some((start) => type.endsWith(start)) ? paymentOf(nodeNamed(name)) : ''
    if (found !== '') return found
  }
  throw refusal(
    step,
    `No payment was found: this workflow was not started by a Pay-to-Run or a Paid Chat Trigger. Set Payment ID, for example to {{ $('Pay-to-Run Trigger').item.json.metadata.paymentId }}.${inSubWorkflow ? ' A sub-workflow needs the data of the trigger as its input.' : ''}`,
  )
}

interface NodeData {
  isExecuted: boolean
  /** The first item of an output; throws where there is no such output. */
  first(output: number): { json: unknown } | undefined
}

/** A trigger with an output for each choice has its payment in one of them, and branches may have joined since. */
function paymentOf(trigger: NodeData): string {
  if (!trigger.isExecuted) return ''
  for (let output = 0; output < OUTPUTS_MAX; output++) {
    try {
      const found = paymentIn(trigger.first(output)?.json)
      if (found !== '') return found
    } catch {
      return ''
    }
  }
  return ''
}

/** As many as a dropdown has choices. */
const OUTPUTS_MAX = 100

/** In the shape of the trigger's data: a field of that name alone may come from anywhere. */
function paymentIn(json: unknown): string {
  if (!isObject(json) || !isObject(json['payment']) || !isObject(json['metadata'])) return ''
  return text(json['metadata']['paymentId'])
}

const TRIGGERS = ['.payToRunTrigger', '.paidChatTrigger']
const SUB_WORKFLOW = '.executeWorkflowTrigger'
