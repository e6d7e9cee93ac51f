import type { CallToolRequest } from '@modelcontextprotocol/sdk/types.js'
import type { Id } from '../../kit/ids.ts'
import { isRecord } from '../../kit/schema/merge.ts'
import { accountOf, type IdempotentAsk } from '../idempotency.ts'
import { addressFor, McpFault, type McpAsk, type McpDeps } from './parts.ts'

/** Names a call for clients that cannot send the header `Idempotency-Key` with each call. It comes before the header. */
const KEY_META = 'coinslot/idempotency-key'

/**
 * Calls that their client names: a repeated call with the same key is the same operation, so it is charged once, and finds
 * the answer that was lost. Only with an account: a guest's payment names its call already, and the key that a guest
 * chose, which others may guess, must not fetch what was paid for.
 */
export function createKeyedCalls({ idempotency, address, service }: KeyedCallDeps) {
  /** Null where the call is not named. */
  function requestOf(ask: McpAsk, { name, arguments: input = {}, _meta = {} }: CallParams): IdempotentAsk | null {
    const key = KEY_META in _meta ? _meta[KEY_META] : ask.idempotencyKey
    if (ask.guest !== null || key === undefined) return null
    if (typeof key !== 'string') throw McpFault.params(`${KEY_META}: must be a string.`)
    const { caller, query } = ask
    const path = addressFor(address, query).pathname
    const { environment } = caller
    return { key, account: accountOf(caller), environment, method: 'tools/call', path, body: [name, input] }
  }

  return {
    /** The operation of a named call, before it begins. Null where the call is not named, or will be refused. */
    async operationOf(ask: McpAsk, params: unknown): Promise<Id<'op'> | null> {
      if (!isCall(params)) return null
      const request = requestOf(ask, params)
      return request === null ? null : await idempotency.operationOf(request)
    },

    /** Runs the call, under the name of its key where it has one. `repeats`: it may have been begun before. */
    async once<Result extends object>(
      ask: McpAsk,
      params: CallParams,
      work: (ask: McpAsk, repeats: boolean) => Promise<Result>,
    ): Promise<Result> {
      const request = requestOf(ask, params)
      if (request === null) return await work(ask, false)
      const { body } = await idempotency.once(request, async (operation) => {
        const result = await work({ ...ask, operation }, true)
        // What was free, such as a refusal, may differ next time. What the service keeps is not stored twice.
        const isPassing = !isSuccess(result) && !isCharged(result)
        return { status: 200, body: result, keep: !isPassing && !(await service.keeps(params.name, ask)) }
      })
      return body as Result
    },
  }
}

export type KeyedCalls = ReturnType<typeof createKeyedCalls>

type KeyedCallDeps = Pick<McpDeps, 'idempotency' | 'address' | 'service'>
type CallParams = CallToolRequest['params']

/** Whether the call has the types that its name is read from; all else is refused later. */
function isCall(params: unknown): params is CallParams {
  if (!isRecord(params) || typeof params['name'] !== 'string') return false
  const { arguments: input = {}, _meta: meta = {} } = params
  return isRecord(input) && isRecord(meta) && ['string', 'undefined'].includes(typeof meta[KEY_META])
}

function isSuccess(result: object): boolean {
  return !('isError' in result && result.isError === true)
}

function isCharged(result: object): boolean {
  const billing = '_meta' in result && isRecord(result._meta) ? result._meta['coinslot/billing'] : null
  return isRecord(billing) && typeof billing['cost'] === 'number' && billing['cost'] > 0
}
