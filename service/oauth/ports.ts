import type { Id } from '../kit/ids.ts'
import type { OutboundRequest, OutboundResponse } from '../outbound/model.ts'
import type { Client, Grant, IssuedTokens } from './model.ts'

export interface ClientStore {
  add(client: Client, expiresAt: Date): Promise<void>
  find(id: string): Promise<Client | null>
  keep(id: string, expiresAt: Date): Promise<void>
}

export interface GrantStore {
  add(grant: Grant, codeHash: Buffer): Promise<void>
  findByAccess(hash: Buffer): Promise<Grant | null>
  /** Holds the row until the change is written. `decide` throws, or returns what to store. */
  change(by: 'code' | 'family', hash: Buffer, decide: (grant: Grant | null) => IssuedTokens): Promise<void>
  find(by: 'code' | 'family', hash: Buffer): Promise<Grant | null>
  end(keyId: Id<'key'>, now: Date): Promise<void>
  /** Grants that nothing can use any more and that have not been ended. */
  expired(now: Date, limit: number): Promise<readonly Grant[]>
}

/** The guarded client, because a client chooses the address itself. */
export interface Outbound {
  send(request: OutboundRequest): Promise<OutboundResponse>
}
