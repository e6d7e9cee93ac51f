import { ownerOf, type Caller } from '../../../kit/caller.ts'
import type { Id } from '../../../kit/ids.ts'
import { usdc } from '../../../kit/money.ts'
import { turnOf, type Announcement, type JsonObject } from '../../../queue/model.ts'
import type { RunInput } from '../../model/run.ts'

/** A background run that waits for a person's approval, as it is started once it is approved. */
export interface Resumption {
  caller: Caller
  input: RunInput
  operation: Id<'op'>
}

/** As it is stored with the approval. */
interface Stored {
  caller: Caller
  ask: Omit<RunInput, 'background' | 'maxCost'> & { waits: boolean; maxCost: string | null }
  operation: Id<'op'>
}

export function resumption(caller: Caller, input: RunInput, operation: Id<'op'>): Announcement {
  // Without the claims of a token: the caller has signed up, or could not run anything.
  const { user, subject, issuer, environment, via, keyId, agentId } = caller
  const { background: waits, maxCost, ...rest } = input
  const payload: Stored = {
    caller: { user, subject, issuer, environment, via, keyId, agentId },
    ask: { ...rest, waits, maxCost: maxCost === null ? null : String(maxCost) },
    operation,
  }
  return { topic: RESUME, payload: payload as unknown as JsonObject, turn: turnOf(ownerOf(caller)) }
}

/** Only `resumption` writes this topic. */
export function fromPayload(payload: Readonly<Record<string, unknown>>): Resumption {
  const { caller, ask, operation } = payload as unknown as Stored
  const { waits, maxCost, ...rest } = ask
  const input = { ...rest, background: waits, maxCost: maxCost === null ? null : usdc(BigInt(maxCost)) }
  return { caller, input, operation }
}

export const RESUME = 'marketplace.resume'
