import type { Id } from '../kit/ids.ts'
import type { Owner } from '../kit/owner.ts'

export type ConnectionId = Id<'cnx'>

/** The place in a request where a provider expects a secret. */
export type SecretPlace =
  | { readonly kind: 'bearer' }
  | { readonly kind: 'basic' }
  | { readonly kind: 'apiKey'; readonly in: 'header' | 'query' | 'cookie'; readonly name: string }

/** One way to authenticate at a provider, as its document describes it. */
export interface SecurityScheme {
  readonly name: string
  readonly place: SecretPlace
  /** Set where the secret is a token that the provider's authorization server issues. */
  readonly oauth: OAuthFlow | null
}

/** The endpoints of an authorization server, as far as a document names them. */
export interface OAuthFlow {
  readonly authorizationUrl: string | null
  readonly tokenUrl: string | null
  /** An issuer with metadata, where the document names one. */
  readonly issuer: string | null
  /** Gives codes that a person enters on another device. Absent in what was read before there were such. */
  readonly deviceUrl?: string | null
}

/** The schemes that an operation needs together, each with its scopes. */
export type SchemeNeeds = readonly { readonly scheme: string; readonly scopes: readonly string[] }[]

/** How a provider's calls are authenticated. */
export interface ProviderSecurity {
  /** The origins of its tools: a secret goes to no other. */
  readonly hosts: readonly string[]
  readonly schemes: readonly SecurityScheme[]
}

/** The OAuth client with which accounts connect to a provider, as its operator registered it there. */
export interface OAuthClient {
  readonly clientId: string
  /** Its metadata names the endpoints. */
  readonly issuer: string | null
  readonly authorizationUrl: string | null
  readonly tokenUrl: string | null
  readonly revocationUrl: string | null
  readonly deviceUrl?: string | null
  /** How the client proves itself. */
  readonly authentication: 'basic' | 'post' | 'none'
  readonly grant: 'authorization_code' | 'device_code' | 'client_credentials'
  /** Requested with every connection. */
  readonly scopes: readonly string[]
}

/** A provider as connections see it. */
export interface Provider {
  readonly slug: string
  readonly name: string
  /** Null for a provider of the platform. */
  readonly ownerId: string | null
  /** The addresses of its tools, at which it may say where its tokens are issued (RFC 9728). */
  readonly resources: readonly string[]
  readonly security: ProviderSecurity
  readonly client: OAuthClient | null
  /** Null where the client has none. */
  readonly clientSecret: string | null
}

/**
 * `pending` until the person has come back from the provider; `refreshing` while one process renews its token;
 * `expired` when the provider no longer accepts it; `revoked` once it was removed.
 */
export type ConnectionState = 'pending' | 'active' | 'refreshing' | 'expired' | 'revoked'

export interface Connection {
  readonly id: ConnectionId
  readonly owner: Owner
  /** Only this agent's calls use it. Null: all calls of the account. */
  readonly agentId: string | null
  readonly provider: string
  readonly providerOwnerId: string | null
  readonly name: string
  readonly isDefault: boolean
  readonly kind: ConnectionKind
  readonly state: ConnectionState
  readonly schemes: readonly string[]
  readonly hosts: readonly string[]
  readonly scopes: readonly string[]
  /** Sealed. */
  readonly secret: string | null
  readonly version: number
  /** Sealed. */
  readonly request: string | null
  readonly requestExpiresAt: Date | null
  /** Set while a person is to enter a code at the provider. */
  readonly pollIntervalSeconds: number | null
  /** When the access token ends. */
  readonly expiresAt: Date | null
  readonly dueAt: Date | null
  readonly leaseUntil: Date | null
  readonly attempts: number
  /** Since when its renewal fails. */
  readonly failingSince: Date | null
  /** Why its last use or renewal failed. */
  readonly failure: string | null
  readonly lastUsedAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** A key that its owner entered, what a person allowed by OAuth, or what an OAuth client itself is allowed. */
export type ConnectionKind = 'key' | 'oauth' | 'client'

/** The opened secret: values of schemes by name, or tokens. */
export interface ConnectionSecret {
  readonly values: Readonly<Record<string, string>>
  readonly refreshToken: string | null
  /** The account's own client, which asks for its tokens without a person. */
  readonly client?: OwnClient
  /** That issued the tokens. Where nobody but the provider's own servers named it, no other is asked to renew them. */
  readonly server?: AuthorizationServer
}

/** A client that an account registered at a provider for itself, with the server that it was connected at. */
export interface OwnClient {
  readonly clientId: string
  readonly clientSecret: string
  readonly authentication: 'basic' | 'post'
  readonly scopes: readonly string[]
  /** A later document cannot have the client's secret sent elsewhere. */
  readonly server: AuthorizationServer
}

/** What a call sends to prove itself. `secrets` are removed from the answer should it repeat them. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly secrets: readonly string[]
}

/** The tokens that an authorization server issued. */
export interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string | null
  readonly expiresInSeconds: number | null
  /** Null where the server grants what was requested. */
  readonly scopes: readonly string[] | null
}

/** A code that a person enters at the provider, on whatever device (RFC 8628). */
export interface DeviceCode {
  readonly deviceCode: string
  readonly userCode: string
  /** Where the person enters it; where the provider can, with the code filled in. */
  readonly verificationUrl: string
  readonly expiresInSeconds: number
  readonly intervalSeconds: number
}

/** An authorization server's endpoints. */
export interface AuthorizationServer {
  readonly issuer: string
  readonly authorizationUrl: string | null
  readonly tokenUrl: string
  readonly revocationUrl: string | null
  readonly deviceUrl: string | null
  /** Its answers name their issuer, so that one without a name is refused. */
  readonly namesIssuer: boolean
}

/** What a tool's call needs, by provider. */
export interface ToolAccess {
  readonly provider: string
  readonly providerName: string
  readonly providerOwnerId: string | null
  /** The origin that the call goes to. */
  readonly origin: string
  /** The ways to authenticate it. Any of them is enough. */
  readonly ways: readonly SchemeNeeds[]
}
