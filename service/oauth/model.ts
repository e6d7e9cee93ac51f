import type { Id } from '../kit/ids.ts'
import type { Environment, Owner } from '../kit/owner.ts'
import type { OutboundRequest, OutboundResponse } from '../outbound/model.ts'

/** A program that asks for access, such as an AI assistant. */
export interface Client {
  /** The address of its metadata document, or the id that it got when it registered. */
  id: string
  name: string
  redirectUris: readonly string[]
}

/** What a client asks the owner for. */
export interface AuthorizationRequest {
  client: Client
  redirectUri: string
  /** PKCE, always S256. */
  challenge: string
  resource: string
}

/** A request of a known client that cannot be granted. */
export interface InvalidRequest {
  client: Client
  redirectUri: string
  /** The protocol's code. */
  error: string
  fault: string
}

/** What an owner allowed to a client: an API key with its agent, which the client uses through short-lived tokens. */
export interface Grant {
  keyId: Id<'key'>
  agentId: Id<'agt'>
  userId: Id<'usr'>
  environment: Environment
  clientId: string
  redirectUri: string
  resource: string
  challenge: string
  redeemedAt: Date | null
  refreshHash: Buffer | null
  /** Of the refresh token that was exchanged last, with the salt of what it gave; null before the first refresh. */
  previousHash: Buffer | null
  rotationSalt: Buffer | null
  rotatedAt: Date | null
  accessHash: Buffer | null
  accessExpiresAt: Date | null
  /** Of the code, and once it is redeemed, of the refresh token. */
  expiresAt: Date
  endedAt: Date | null
}

/** The secrets of one answer of the token endpoint. Only their hashes are stored. */
export interface Tokens {
  access: string
  refresh: string
}

/** A command line that waits for a person, or has been decided about. */
export interface Device {
  userCode: string
  /** Its own choice. */
  name: string
  intervalSeconds: number
  polledAt: Date | null
  decision: 'approved' | 'refused' | null
  userId: string | null
  environment: Environment | null
  redeemedAt: Date | null
  expiresAt: Date
}

/** What replaces the hashes of the previous tokens. */
export interface IssuedTokens extends Pick<Grant, 'previousHash' | 'rotationSalt' | 'rotatedAt'> {
  redeemedAt: Date
  familyHash: Buffer
  refreshHash: Buffer
  accessHash: Buffer
  accessExpiresAt: Date
  expiresAt: Date
  /** Until when the client's registration is stored. */
  clientExpiresAt: Date
}

/** An exchange at the token endpoint. Nothing is issued where it repeats the one before. */
export interface Exchange {
  tokens: Tokens
  issued: IssuedTokens | null
}

/** The addresses of the protocol. */
export interface Endpoints {
  /** The authorization server's name. */
  issuer: string
  /** What its endpoints begin with. */
  address: string
  /** The MCP server, the only resource that tokens are for. */
  resource: string
  /** The dashboard's sign-in page. */
  signIn: string
}

export interface ClientStore {
  add(client: Client, expiresAt: Date): Promise<void>
  find(id: string): Promise<Client | null>
}

export interface GrantStore {
  add(grant: Grant, codeHash: Buffer): Promise<void>
  findByAccess(hash: Buffer): Promise<Grant | null>
  /** Holds the row until what was issued is written. */
  exchange(by: 'code' | 'family', hash: Buffer, decide: (grant: Grant | null) => Exchange): Promise<Tokens>
  find(by: 'code' | 'family', hash: Buffer): Promise<Grant | null>
  end(keyId: Id<'key'>, now: Date): Promise<void>
  /** Grants that nothing can use any more and that have not been ended. */
  expired(now: Date, limit: number): Promise<readonly Grant[]>
}

export interface DeviceStore {
  add(device: Pick<Device, 'userCode' | 'name' | 'intervalSeconds' | 'expiresAt'>, deviceHash: Buffer): Promise<void>
  waiting(userCode: string, now: Date): Promise<Device | null>
  /** Null for the owner: refused. False when the code is unknown, has expired or was decided. */
  decide(userCode: string, owner: Owner | null, now: Date): Promise<boolean>
  /** Holds the row until what was found out is written. Throws unless the code is redeemed by this. */
  poll(
    deviceHash: Buffer,
    now: Date,
    decide: (device: Device | null) => DevicePoll,
  ): Promise<{ name: string; owner: Owner }>
}

/** What a device that asks for its key learns, and what is stored about the question. */
export type DevicePoll =
  | { outcome: 'redeem' }
  | { outcome: 'wait'; refusal: Error; intervalSeconds: number }
  | { outcome: 'refuse'; refusal: Error }

/** The guarded client, because a client chooses the address itself. */
export interface Outbound {
  send(request: OutboundRequest): Promise<OutboundResponse>
}
