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
    const data = starts.some((start) => type.endsWith(start)) ? nodeNamed(name) : undefined
    const found = data?.isExecuted === true ? paymentIn(data.first()?.json) : ''
    if (found !== '') return found
  }
  throw refusal(
    step,
    "No payment was found: this workflow was not started by a Pay-to-Run or a Paid Chat Trigger. Set Payment ID, for example to {{ $('Pay-to-Run Trigger').first().json.metadata.paymentId }}. A sub-workflow needs the data of the trigger as its input.",
  )
}

interface NodeData {
  isExecuted: boolean
  first(): { json: unknown } | undefined
}

/** In the shape of the trigger's data: a field of that name alone may come from anywhere. */
function paymentIn(json: unknown): string {
  if (!isObject(json) || !isObject(json['payment']) || !isObject(json['metadata'])) return ''
  return text(json['metadata']['paymentId'])
}

const TRIGGERS = ['.payToRunTrigger', '.paidChatTrigger']
const SUB_WORKFLOW = '.executeWorkflowTrigger'
