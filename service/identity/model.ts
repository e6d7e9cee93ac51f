import type { Id } from '../kit/ids.ts'
import type { Environment } from '../kit/owner.ts'

/** The issuer of people who sign in here, by password or wallet. */
export const BUILT_IN_ISSUER = 'coinslot'

export interface ApiKey {
  id: Id<'key'>
  userId: Id<'usr'>
  environment: Environment
  agentId: Id<'agt'> | null
  name: string
  /** `csk_test_` or `csk_live_` and the first characters: enough to recognise a key. */
  prefix: string
  lastFour: string
  expiresAt: Date | null
  lastUsedAt: Date | null
  createdAt: Date
}

/** A key with its secret, in the only answer that shows the secret. */
export interface NewKey {
  key: ApiKey
  secret: string
}

/**
 * A security notice that the owner of an account gets by mail, because a thief of a session could have made the change.
 * It goes to the address that was confirmed when the change happened, so the thief cannot prevent it by changing the
 * address next.
 */
export type Notice =
  | { kind: 'wallet-connected' | 'wallet-removed'; address: string }
  | { kind: 'password-changed' }
  | { kind: 'email-changed'; email: string }
  | { kind: 'key-created'; environment: Environment; name: string; lastFour: string }
  | { kind: 'payout-address'; environment: Environment; address: string | null }

/** A person's request to replace their e-mail address, for contact and sign-in, by another. */
export interface EmailChange {
  subject: string
  from: string
  to: string
}

/** The secret that signs an account's outgoing calls, in one environment. */
export interface SigningSecret {
  secret: string
  createdAt: Date
  /** Those that it replaced, newest first. Each also signs until it expires. */
  previous: readonly { secret: string; expiresAt: Date }[]
}
