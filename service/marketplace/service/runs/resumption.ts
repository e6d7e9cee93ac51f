import { ownerOf, type Caller } from '../../../kit/caller.ts'
import type { Id } from '../../../kit/ids.ts'
import { usdc } from '../../../kit/money.ts'
import type { Announcement, JsonObject } from '../../../queue/model.ts'
import type { RunAsk } from '../../model/run.ts'

/** A queued run that waits for a person's word, as it is asked for again when the word comes. */
export interface Resumption {
  caller: Caller
  ask: RunAsk
  operation: Id<'op'>
}

export function resumption(caller: Caller, ask: RunAsk, operation: Id<'op'>): Announcement {
  // Not what a token says of its bearer: they have signed up, or they could not run anything.
  const { user, subject, issuer, environment, via, keyId, agentId } = caller
  const who = { user, subject, issuer, environment, via, keyId, agentId }
  const said = { ...ask, maxCost: ask.maxCost === null ? null : String(ask.maxCost) }
  const owner = ownerOf(caller)
  const turn = { account: `${owner.environment}/${owner.userId}` }
  return { topic: RESUME, payload: { caller: who, ask: said, operation } as unknown as JsonObject, turn }
}

/** What `resumption` wrote: nobody else writes this topic. */
export function fromPayload(payload: Readonly<Record<string, unknown>>): Resumption {
  const { caller, ask, operation } = payload as unknown as Resumption & { ask: { maxCost: string | null } }
  return { caller, operation, ask: { ...ask, maxCost: ask.maxCost === null ? null : usdc(BigInt(ask.maxCost)) } }
}

export const RESUME = 'marketplace.resume'
