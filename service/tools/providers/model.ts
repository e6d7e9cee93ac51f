import type { PriceRule } from '../model/provider.ts'
import type { AuthScheme } from '../model/tool.ts'
import type { Offered } from '../rules/collection.ts'
import { usdc } from '../../kit/money.ts'

/** A provider that automation builders ask for, and how its tools come here: `npm run tools -- add <slug>`. */
export interface CuratedProvider {
  readonly slug: string
  readonly name: string
  readonly topic: Topic
  readonly description: string
  /** Where the provider itself publishes its OpenAPI or Swagger document. */
  readonly document: string
  /** How an account is reached. The first is what to offer; none where no account is needed. */
  readonly connect: readonly Connect[]
  /** Where a person gets a key, or registers a client for OAuth. */
  readonly keyPage: string | null
  /** The operations that are worth offering. All where it is absent. */
  readonly offered?: Offered
  /** Each account has a server of its own, of this form, so that the operator has to name it. */
  readonly ownServer?: string
  /** The data is the same for everybody, so that the operator's key may call all of it. */
  readonly isPublic?: true
  readonly pricing: PriceRule
}

export type Topic =
  | 'ai'
  | 'business'
  | 'calendar'
  | 'commerce'
  | 'crm'
  | 'data'
  | 'developer'
  | 'mail'
  | 'messaging'
  | 'payments'
  | 'projects'
  | 'search'
  | 'storage'

export type Connect = { readonly kind: 'key'; readonly place: AuthScheme } | OAuthConnect

export interface OAuthConnect {
  readonly kind: 'oauth'
  readonly authorizationUrl: string
  readonly tokenUrl: string
  readonly scopes: readonly string[]
}

/** What a call costs where the provider itself asks nothing for it: reading a tenth of a cent, anything else a fifth. */
export const CALL: PriceRule = { otherwise: usdc(2_000n), byMethod: { GET: usdc(1_000n) } }

/** A call that the provider charges its account for, or that sends something to a person. */
export const COSTLY_CALL: PriceRule = { otherwise: usdc(5_000n), byMethod: { GET: usdc(1_000n) } }

/** Reading what is public. */
export const PUBLIC_CALL: PriceRule = { otherwise: usdc(500n) }

export const BEARER: Connect = { kind: 'key', place: { kind: 'bearer' } }
export const BASIC: Connect = { kind: 'key', place: { kind: 'basic' } }

export function header(name: string): Connect {
  return { kind: 'key', place: { kind: 'apiKey', in: 'header', name } }
}

export function query(name: string): Connect {
  return { kind: 'key', place: { kind: 'apiKey', in: 'query', name } }
}

export function oauth(authorizationUrl: string, tokenUrl: string, scopes: string): OAuthConnect {
  return { kind: 'oauth', authorizationUrl, tokenUrl, scopes: scopes.split(' ').filter((scope) => scope !== '') }
}

/** A file of a repository on GitHub, as it is now. */
export function onGitHub(repository: string, file: string): string {
  return `https://raw.githubusercontent.com/${repository}/${file}`
}
