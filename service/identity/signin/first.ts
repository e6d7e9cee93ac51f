import type { AuthContext } from 'better-auth'

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
