import type { Environment, Owner } from '../ledger/model.ts'
import { DomainError } from '../kit/errors.ts'
import type { Id } from '../kit/ids.ts'

/** Somebody who has signed up: the pair of issuer and subject, with an id of our own for inside. */
export interface User {
  id: Id<'usr'>
  issuer: string
  /** The identity provider's id; it is `userId` on the wire. */
  subject: string
  name: string | null
  email: string | null
  emailConfirmed: boolean
}

/** The issuer of those who sign in here, by password or wallet. */
export const BUILT_IN_ISSUER = 'coinslot'

/** A user as an identity provider describes them. */
export interface Person {
  issuer: string
  subject: string
  name: string | null
  email: string | null
  /** The issuer's word that the address is theirs; the production grant waits for it. */
  emailConfirmed: boolean
}

/** Who is asking, in which environment, and by what right. */
export interface Caller {
  /** Null for a token of a trusted issuer whose person has never signed up here. */
  user: User | null
  /** The identity provider's id, also when there is no user. */
  subject: string
  issuer: string
  environment: Environment
  via: 'key' | 'session' | 'token'
  keyId: Id<'key'> | null
  /** Set when the key is bound to an agent: its limits hold wherever money leaves. */
  agentId: Id<'agt'> | null
  /** What a token says of its bearer, so that they can sign up with it. */
  person?: Person
}

/** Whose wallet the caller's is; somebody who never signed up has none. */
export function ownerOf(caller: Caller): Owner {
  if (caller.user === null) throw new DomainError('missing', 'wallet_not_found', 'This user has no wallet.')
  return { userId: caller.user.id, environment: caller.environment }
}

/** Whose keys and secrets the caller's are. */
export function accountOf(caller: Caller): Owner & { userId: Id<'usr'> } {
  if (caller.user === null) {
    throw new DomainError('missing', 'user_not_found', 'Nobody has signed up with this token yet: POST /me does.')
  }
  return { userId: caller.user.id, environment: caller.environment }
}

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
