import type { Environment, Owner } from '../kit/owner.ts'
import type { Statements } from '../kit/transaction.ts'
import type {
  AuthorizationServer,
  Connection,
  ConnectionId,
  ConnectionKind,
  Credentials,
  DeviceCode,
  OAuthClient,
  Provider,
  Tokens,
  ToolAccess,
} from './model.ts'

export interface Activation {
  now: Date
  /** It may be another one than before. */
  kind: ConnectionKind
  replaced: (before: Connection) => { id: ConnectionId; secret: string } | null
}

export interface ConnectionStore {
  /** Throws when the account has as many as it may, or one of this name. */
  add(connection: NewConnection): Promise<Connection>
  find(owner: Owner, id: string): Promise<Connection | null>
  byId(id: ConnectionId): Promise<Connection | null>
  list(owner: Owner, page: Page): Promise<{ connections: readonly Connection[]; total: number }>
  /** All of an account for one provider, without removed ones. */
  ofProvider(owner: Owner, provider: string, providerOwnerId: string | null): Promise<readonly Connection[]>
  /** Null when there is no such one. The new default takes the place of the old one. */
  change(owner: Owner, id: string, change: ConnectionChange, now: Date): Promise<Connection | null>
  /** Another authorization for a connection that is there. False when there is no such one. */
  request(owner: Owner, id: string, request: PendingRequest, now: Date): Promise<boolean>
  /**
   * Takes the request away, so that it is used once. The row stays at least until `keptUntil`. Null unless this account's
   * request with this state waits.
   */
  takeRequest(owner: Owner, stateHash: Buffer, when: { now: Date; keptUntil: Date }): Promise<Connection | null>
  /** Those whose provider is to be asked now. Each is another process's once `until` is over. Accounts take turns. */
  claimPolls(
    when: { now: Date; until: Date },
    limits: { all: number; perAccount: number },
  ): Promise<readonly Connection[]>
  /** The provider has not decided: it is asked again. Nothing where the request is another by now. */
  pollAgain(polled: Polled, next: { at: Date; intervalSeconds: number }): Promise<void>
  /** False when the request is another by now, or was removed. */
  takePoll(polled: Polled, keptUntil: Date): Promise<boolean>
  /** The person sees why, until the request would have been over. */
  endPoll(polled: Polled, failure: string): Promise<void>
  /**
   * Stores the first secret, or a new one. One that was removed meanwhile keeps it until it is revoked, and stays removed.
   * Null when the row is gone, or still has an older secret to revoke. `replaced` tells what to revoke of the grant that
   * the new one takes the place of: it becomes a removed connection of its own, in the same transaction.
   */
  activate(id: ConnectionId, secret: NewSecret, activation: Activation): Promise<Connection | null>
  /**
   * One process may renew it until the lease ends. Null when another one does, when there is nothing to do, or when a
   * failed renewal is not to be repeated yet.
   */
  claim(id: ConnectionId, lease: Lease, now: Date): Promise<Connection | null>
  /** Connections to renew, by the sweeper: due ones, and those whose process died. Accounts take turns. */
  due(now: Date, limits: { all: number; perAccount: number }): Promise<readonly Connection[]>
  /**
   * Ends the lease. One that was removed meanwhile keeps the secret until it is revoked. False when the lease was
   * another's.
   */
  renewed(id: ConnectionId, leaseId: string, secret: NewSecret, now: Date): Promise<boolean>
  /** Nothing asks again before `dueAt`. */
  postpone(id: ConnectionId, leaseId: string, failure: string, when: { dueAt: Date; now: Date }): Promise<void>
  /** Only a change of state calls `tell`, in the same transaction. */
  expire(id: ConnectionId, which: { leaseId: string } | { version: number }, end: Expiry): Promise<void>
  /** The next sweep renews it. */
  hurry(id: ConnectionId, version: number, failure: string, now: Date): Promise<void>
  fail(id: ConnectionId, version: number, failure: string | null): Promise<void>
  /** Null when there is no such one. Its secret stays until the provider has revoked it. */
  remove(owner: Owner, id: string, now: Date): Promise<Connection | null>
  /** Forgets the secret of a removed one. With a time: tries again then. */
  revoked(id: ConnectionId, version: number, again: Date | null): Promise<void>
  used(id: ConnectionId, now: Date): Promise<void>
  /** Deletes a pending one whose authorization failed. */
  forget(id: ConnectionId): Promise<void>
  /** Deletes pending ones whose person did not come back, and forgets requests that are over. */
  forgetRequests(now: Date): Promise<void>
}

export interface Page {
  readonly limit: number
  readonly offset: number
}

export type NewConnection = Pick<
  Connection,
  | 'id'
  | 'owner'
  | 'agentId'
  | 'provider'
  | 'providerOwnerId'
  | 'name'
  | 'kind'
  | 'schemes'
  | 'hosts'
  | 'scopes'
  | 'createdAt'
> & { readonly secret: NewSecret | null; readonly request: PendingRequest | null; readonly isDefault: boolean }

export interface ConnectionChange {
  readonly name?: string | undefined
  readonly isDefault?: boolean | undefined
}

export interface PendingRequest {
  readonly stateHash: Buffer
  /** Sealed. */
  readonly request: string
  readonly expiresAt: Date
  readonly poll: { readonly at: Date; readonly intervalSeconds: number } | null
}

/** The sealed request says which of several it is. */
export type Polled = Pick<Connection, 'id' | 'request'>

export interface NewSecret {
  /** Sealed. */
  readonly secret: string
  readonly expiresAt: Date | null
  readonly dueAt: Date | null
  readonly scopes: readonly string[] | null
  readonly hosts?: readonly string[]
  readonly schemes?: readonly string[]
}

export interface Lease {
  readonly leaseId: string
  readonly until: Date
  /** Renews even if it is not due: only this version, so that of many at once one does. */
  readonly version: number
}

export interface Expiry {
  readonly failure: string
  readonly tell: Tell
  readonly now: Date
}

/** Announces that a connection has ended. */
export type Tell = (inside: Statements, connection: Connection) => Promise<void>

/** Providers of tools, as the catalogue knows them. */
export interface Providers {
  /** The viewer's own provider before the platform's. Null when there is none. */
  find(environment: Environment, viewer: string, slug: string): Promise<Provider | null>
  of(environment: Environment, ownerId: string | null, slug: string): Promise<Provider | null>
  /** Calls one tool that only reads and needs no input. Null when the provider has none. */
  probe(owner: Owner, provider: Provider, credentialsFor: CredentialsFor): Promise<ProbeResult | null>
}

export type CredentialsFor = (access: ToolAccess) => Credentials | null

export interface ProbeResult {
  readonly tool: string
  /** Null when no answer came. */
  readonly status: number | null
}

/** Other companies' authorization servers. Every refusal is a `GrantOver` or a `DomainError` in our own words. */
export interface AuthorizationServers {
  /** By the server's metadata (RFC 8414, or OpenID Connect). */
  discover(issuer: string): Promise<AuthorizationServer>
  /** By the metadata of a protected resource (RFC 9728), or of the server at its address. Null when they name none. */
  find(resources: readonly string[]): Promise<AuthorizationServer | null>
  challenge(): Promise<{ state: string; verifier: string; challenge: string }>
  authorizationUrl(server: AuthorizationServer, request: AuthorizationRequest): string
  redeem(grant: ServerClient, redemption: Redemption): Promise<Tokens>
  deviceCode(grant: ServerClient, scopes: readonly string[]): Promise<DeviceCode>
  /** A `GrantOver` when the person refused, or the code is over. */
  poll(grant: ServerClient, deviceCode: string): Promise<Tokens | 'pending' | 'slower'>
  refresh(grant: ServerClient, refreshToken: string): Promise<Tokens>
  /** A refusal of the client is a `GrantOver`: nobody else can mend it. */
  clientCredentials(grant: ServerClient, scopes: readonly string[]): Promise<Tokens>
  revoke(grant: ServerClient, token: string): Promise<void>
}

export interface ServerClient {
  readonly name: string
  readonly server: AuthorizationServer
  readonly client: Pick<OAuthClient, 'clientId' | 'authentication'>
  readonly secret: string | null
}

export interface AuthorizationRequest {
  readonly clientId: string
  readonly redirectUri: string
  readonly scopes: readonly string[]
  readonly state: string
  readonly challenge: string
}

export interface Redemption {
  /** The query that the browser came back with. */
  readonly parameters: URLSearchParams
  readonly state: string
  readonly verifier: string
  readonly redirectUri: string
}

export interface Secrets {
  seal(text: string, context: string): string
  open(token: string, context: string): string
}
