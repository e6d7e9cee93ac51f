import type { Id } from '../kit/ids.ts'
import type { Environment } from '../kit/owner.ts'

/** The issuer of those who sign in here, by password or wallet. */
export const BUILT_IN_ISSUER = 'coinslot'

export interface ApiKey {
  id: Id<'key'>
  userId: Id<'usr'>
  environment: Environment
  agentId: Id<'agt'> | null
  name: string
  /** `csk_test_` or `csk_live_` and the first characters: enough to tell keys apart. */
  prefix: string
  lastFour: string
  expiresAt: Date | null
  lastUsedAt: Date | null
  createdAt: Date
}

/** A key in the only answer that shows it whole. */
export interface NewKey {
  key: ApiKey
  secret: string
}

/**
 * What the owner of an account hears of by mail: whoever got hold of a session could have done it too. It goes to the
 * address that was confirmed when it happened, so nobody silences it by changing the address next.
 */
export type Notice =
  | { kind: 'wallet-connected' | 'wallet-removed'; address: string }
  | { kind: 'password-changed' }
  | { kind: 'email-changed'; email: string }
  | { kind: 'payout-address'; environment: Environment; address: string | null }

/** An address that somebody wants to be reached and to sign in by, instead of the one they have. */
export interface EmailChange {
  subject: string
  from: string
  to: string
}

/** What an account's outgoing calls are signed with, in one environment. */
export interface SigningSecret {
  secret: string
  createdAt: Date
  /** Until then the secret before this one signs along; null when there is none. */
  previous: { secret: string; expiresAt: Date } | null
}
