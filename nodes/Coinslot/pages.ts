import type { IDataObject, INodeExecutionData } from 'n8n-workflow'
import type { Call } from '../shared/transport.ts'
import type { Step } from './item.ts'
import { read } from './step.ts'

/** As many of a list as the panel asks for, an item each. */
export async function readList(step: Step, call: Omit<Call, 'method'>, list: string): Promise<INodeExecutionData[]> {
  const { node, item } = step
  const isAll = node.getNodeParameter('returnAll', item, false)
  const wanted = isAll ? Infinity : node.getNodeParameter('limit', item, 50)
  const found: IDataObject[] = []
  while (found.length < wanted) {
    const query = { ...call.query, limit: Math.min(PAGE_MAX, wanted - found.length), offset: found.length }
    const body = await read(step, { ...call, query })
    const page = body[list] as IDataObject[]
    found.push(...page)
    if (page.length === 0 || found.length >= Number(body['total'])) break
  }
  return found.map((json) => ({ json }))
}

const PAGE_MAX = 100
