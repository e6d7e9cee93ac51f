import { ownerOf, type Caller } from '../../../kit/caller.ts'
import type { RunAsker } from '../../ports/run.ts'

/** A person sees all runs of the account, an agent's key what that agent asked for. */
export function askerOf(caller: Caller): RunAsker {
  return { owner: ownerOf(caller), agentId: caller.agentId }
}
