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
