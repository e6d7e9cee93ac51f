import type { AuthContext } from 'better-auth'
import { BUILT_IN_ISSUER } from '../model.ts'
import type { Person } from '../../kit/caller.ts'
import { isNobodys } from '../rules.ts'

/** Somebody as better-auth keeps them. */
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
  // Nobody's: of whoever has none, since better-auth wants one of everybody.
  return isNobodys(email) ? null : email
}

type Adapter = AuthContext['internalAdapter']

/** Who owns this way to sign in; null while nobody does. */
export async function ownerOf(adapter: Adapter, account: Account): Promise<Owner | null> {
  const known = await adapter.findAccountOwnerByKey(account)
  return known?.kind === 'owned' ? known.user : null
}

/** The first sign-in makes the user; whoever loses the race for it gets the winner's. */
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
