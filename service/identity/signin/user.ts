import type { AuthContext } from 'better-auth'
import { BUILT_IN_ISSUER } from '../model.ts'
import type { Person } from '../../kit/caller.ts'
import { isNobodys } from '../rules.ts'

/** A user as better-auth stores them. */
export interface StoredUser {
  id: string
  name: string
  email: string
  emailVerified: boolean
  issuer?: string | null | undefined
  subject?: string | null | undefined
}

export function toPerson(user: StoredUser): Person {
  const email = emailOf(user)
  return {
    issuer: user.issuer ?? BUILT_IN_ISSUER,
    subject: user.subject ?? user.id,
    name: user.name === '' ? null : user.name,
    email,
    emailConfirmed: email !== null && user.emailVerified,
  }
}

export function emailOf({ email }: StoredUser): string | null {
  // A stand-in address: better-auth requires one even for a user who has none.
  return isNobodys(email) ? null : email
}

type Adapter = AuthContext['internalAdapter']

/** The user who owns this way to sign in; null if there is none. */
export async function ownerOf(adapter: Adapter, account: Account): Promise<Owner | null> {
  const known = await adapter.findAccountOwnerByKey(account)
  return known?.kind === 'owned' ? known.user : null
}

/** The first sign-in creates the user; a simultaneous one that comes second gets the same user. */
export async function madeOnce(
  adapter: Adapter,
  made: Parameters<Adapter['createOAuthUser']>[0],
  account: Account,
): Promise<Owner> {
  try {
    return (await adapter.createOAuthUser(made, account)).user
  } catch (error) {
    const winner = await ownerOf(adapter, account)
    if (winner === null) throw error
    return winner
  }
}

interface Account {
  providerId: string
  accountId: string
}

type Owner = Awaited<ReturnType<Adapter['createOAuthUser']>>['user']

/** The fields of a body that may be anything. */
export function toFields(body: unknown): Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
}
