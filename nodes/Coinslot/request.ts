import type { IDataObject, INodeExecutionData, INodeProperties, INodePropertyOptions } from 'n8n-workflow'
import { ask, type HttpResult, type Call } from '../shared/transport.ts'
import { failure, isEndedUnpaid, isOutage } from './failure.ts'
import { purchaseOf } from './idempotency.ts'
import type { Step } from './inputs.ts'

/** An operation that the panel offers under a resource, and its implementation. */
export interface Operation {
  option: INodePropertyOptions & { action: string }
  fields: INodeProperties[]
  /** Whether all items together are one call. */
  isOnce?(step: Step): boolean
  run(step: Step): Promise<INodeExecutionData[]>
}

/** Sends a request that costs nothing. */
export async function read(step: Step, call: Omit<Call, 'method'>): Promise<IDataObject> {
  return bodyOf(step, await get(step, call))
}

/** The same; undefined while the service is busy, restarts or cannot be reached. */
export async function readNow(step: Step, call: Omit<Call, 'method'>): Promise<IDataObject | undefined> {
  const answer = await get(step, call)
  return isOutage(answer) ? undefined : bodyOf(step, answer)
}

async function get({ node }: Step, call: Omit<Call, 'method'>): Promise<HttpResult> {
  const abortSignal = node.getExecutionCancelSignal()
  return await ask(node, { ...call, method: 'GET', ...(abortSignal !== undefined && { abortSignal }) })
}

/** Changes something that exists: the same request again changes nothing more. */
export async function change(step: Step, call: Call): Promise<IDataObject> {
  return bodyOf(step, await ask(step.node, call))
}

/**
 * As many entries of a list as the panel asks for, one item each. Where entries arrive between two pages, the later page
 * begins with some of the earlier one: a step after this one would refund a payment twice.
 */
export async function readList(
  step: Step,
  call: Omit<Call, 'method'>,
  { list, keyOf = keyOfEntry }: { list: string; keyOf?: (entry: IDataObject) => unknown },
): Promise<INodeExecutionData[]> {
  const { node, item } = step
  const isAll = node.getNodeParameter('returnAll', item, false)
  const wanted = isAll ? Infinity : node.getNodeParameter('limit', item, 50)
  const found = new Map<unknown, IDataObject>()
  for (let offset = 0; found.size < wanted;) {
    const query = { ...call.query, limit: Math.min(PAGE_MAX, wanted - found.size), offset }
    const body = await read(step, { ...call, query })
    const page = body[list] as IDataObject[]
    for (const entry of page) if (!found.has(keyOf(entry))) found.set(keyOf(entry), entry)
    offset += page.length
    if (page.length === 0 || offset >= Number(body['total'])) break
  }
  return [...found.values()].map((json) => ({ json }))
}

/** An entry that has changed between two pages is still the same one. */
function keyOfEntry(entry: IDataObject): unknown {
  return entry['id'] ?? entry['slug'] ?? JSON.stringify(entry)
}

const PAGE_MAX = 100

/**
 * Sends a request that may cost money. A retry of the same step in the same execution sends the same key, so it gets
 * the first answer instead of paying a second time. `failsUnpaid` recognizes an answer that the step takes for a
 * failure that cost nothing.
 */
export async function spend(
  step: Step,
  call: Omit<Call, 'method'>,
  failsUnpaid: (body: IDataObject) => boolean = () => false,
): Promise<IDataObject> {
  const { node } = step
  const purchase = purchaseOf(step, call)
  const abortSignal = node.getExecutionCancelSignal()
  const whole: Call = {
    ...call,
    method: 'POST',
    idempotencyKey: purchase.key,
    // A run may take three minutes, and a person may take two minutes to approve it.
    timeoutMs: 320_000,
    ...(abortSignal !== undefined && { abortSignal }),
  }
  const first = await ask(node, whole)
  // The connection broke before the answer arrived, so the call may have arrived: it is sent once more with the same
  // key.
  const answer = !first.reached && first.broken ? await ask(node, whole) : first
  if (isEndedUnpaid(answer)) purchase.endedUnpaid()
  const body = bodyOf(step, answer)
  if (failsUnpaid(body)) purchase.endedUnpaid()
  else purchase.succeeded()
  return body
}

function bodyOf(step: Step, answer: HttpResult): IDataObject {
  const done = answer.reached && answer.status >= 200 && answer.status < 300
  // A 202 is a success if a run was started, and a refusal if a person has to approve the call first.
  if (!done || answer.body['code'] === 'approval_required') throw failure(step, answer)
  return answer.body
}
