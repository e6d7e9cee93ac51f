import { NodeOperationError, type IDataObject } from 'n8n-workflow'
import { isObject } from '../../../shared/transport.ts'
import type { Step } from '../../item.ts'
import { read } from '../../step.ts'

export async function readRun(step: Step): Promise<IDataObject> {
  const { run } = await read(step, { path: runPath(step) })
  return isObject(run) ? run : {}
}

/** Its address below the service's own. */
export function runPath({ node, item }: Step): string {
  const id = (node.getNodeParameter('runId', item, '') as string).trim()
  if (id !== '') return `/runs/${encodeURIComponent(id)}`
  throw new NodeOperationError(node.getNode(), 'Run ID is empty. It is the runId that RDA: Run gives.', {
    itemIndex: item,
  })
}
