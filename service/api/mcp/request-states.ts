import type { Redis } from 'ioredis'
import type { Caller } from '../../kit/caller.ts'
import type { Clock } from '../../kit/clock.ts'
import { isId, newId, type Id } from '../../kit/ids.ts'
import { createSigner } from '../../kit/hash.ts'
import { McpFault } from './parts.ts'
import { holderOf } from './sessions.ts'
import { createUsedNames } from './used-names.ts'

/**
 * The state of a call that waits for a person, held by the client until it repeats the call. It is signed for the caller
 * and the request, expires, and is good once. A state that gets past the memory of used ones, such as when Redis is
 * unavailable, repeats the same operation, which is charged once.
 */
export function createRequestStates({ clock, redis, secret }: RequestStateDeps) {
  const signer = createSigner(secret, 'coinslot mcp request states')
  const used = createUsedNames({ clock, redis, prefix: 'mcp-state', liveMs: LIVES_MS })

  const boundName = (name: string, { caller, request }: BoundRequest) => [name, holderOf(caller), request]

  return {
    issue(operation: Id<'op'>, bound: BoundRequest): string {
      const now = clock.now()
      const name = [operation, (now.getTime() + LIVES_MS).toString(36), newId('req', now)].join('.')
      return `${name}.${signer.sign(boundName(name, bound))}`
    },

    /** The operation that the state belongs to. */
    async redeem(state: string, bound: BoundRequest): Promise<Id<'op'>> {
      const name = state.slice(0, Math.max(0, state.lastIndexOf('.')))
      const [operation = '', expires = ''] = name.split('.')
      if (!signer.isSigned(boundName(name, bound), state.slice(name.length + 1)) || !isId('op', operation)) {
        throw McpFault.params('requestState: was not issued for this request and this caller. Call again without it.')
      }
      if (parseInt(expires, 36) <= clock.now().getTime()) {
        throw McpFault.params('requestState: has expired. Call again without it.')
      }
      if (!(await used.use(name))) throw McpFault.params('requestState: was used before. Call again without it.')
      return operation
    },
  }
}

export type RequestStates = ReturnType<typeof createRequestStates>

interface RequestStateDeps {
  clock: Clock
  redis: Redis | null
  secret: string
}

/** What a state is bound to. */
export interface BoundRequest {
  caller: Caller
  /** The hash of the address, the tool's name and the arguments. */
  request: string
}

/** A person has this long to pay or to approve. */
const LIVES_MS = 3_600_000
