import { DomainError } from './errors.ts'
import type { Id } from './ids.ts'
import type { Environment, Owner } from './owner.ts'

/** A person who has signed up: the pair of issuer and subject, with an internal id. */
export interface User {
  id: Id<'usr'>
  issuer: string
  /** The identity provider's id; it is `userId` on the wire. */
  subject: string
  name: string | null
  email: string | null
  emailConfirmed: boolean
}

/** A user as an identity provider describes them. */
export interface Person {
  issuer: string
  subject: string
  name: string | null
  email: string | null
  /** The issuer confirmed that the e-mail address is the person's. The production grant requires it. */
  emailConfirmed: boolean
}

/** The user or token that sent the request, the environment, and the kind of credential. */
export interface Caller {
  /** Null for a token of a trusted issuer whose bearer has never signed up here. */
  user: User | null
  /** The identity provider's id, also when there is no user. */
  subject: string
  issuer: string
  environment: Environment
  via: 'key' | 'session' | 'token'
  keyId: Id<'key'> | null
  /** Set when the key belongs to an agent: the agent's limits apply wherever money leaves. */
  agentId: Id<'agt'> | null
  /** The person that a token describes, so that they can sign up with it. */
  person?: Person
}

/** Who calls without a key. There is no user, so nothing can be charged to it. */
export function guestIn(environment: Environment): Caller {
  return { user: null, subject: 'guest', issuer: 'x402', environment, via: 'key', keyId: null, agentId: null }
}

/** The owner of the caller's wallet; a caller who never signed up has none. */
export function ownerOf(caller: Caller): Owner {
  if (caller.user === null) throw new DomainError('missing', 'wallet_not_found', 'This user has no wallet.')
  return { userId: caller.user.id, environment: caller.environment }
}

/** The account that the caller's keys and secrets belong to. */
export function accountOf(caller: Caller): Owner & { userId: Id<'usr'> } {
  if (caller.user === null) {
    throw new DomainError('missing', 'user_not_found', 'Nobody has signed up with this token yet: POST /me does.')
  }
  return { userId: caller.user.id, environment: caller.environment }
}

/** Throws for an agent's key, which pays and does not manage. */
export function assertPerson({ agentId }: Pick<Caller, 'agentId'>): void {
  if (agentId === null) return
  throw new DomainError(
    'forbidden',
    'agent_key_forbidden',
    "An agent's key may not do this. Use an API key of the account instead.",
  )
}
