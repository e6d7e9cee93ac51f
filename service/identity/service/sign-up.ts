import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import { retryConflicts, type Statements } from '../../kit/transaction.ts'
import type { Environment } from '../../kit/owner.ts'
import type { Ledger } from '../../ledger/service.ts'
import { BUILT_IN_ISSUER } from '../model.ts'
import type { Person, User } from '../../kit/caller.ts'
import type { IdentityStore } from '../ports.ts'
import { grantsDue, grantSources, idOf, isSignedUp, type GrantBounds } from '../rules.ts'

/**
 * The network address of a sign-up. The built-in sign-in reports a person in a hook of better-auth, which passes on
 * neither the request nor its sender. The address only limits free credits; an account is created without it too.
 */
const addresses = new AsyncLocalStorage<string>()

export function fromAddress<T>(address: string, work: () => T): T {
  return addresses.run(address, work)
}

/** Creates or updates this person's user, and completes what an earlier attempt left undone. */
export type SignUp = (person: Person, options?: { askToConfirm: boolean }) => Promise<{ user: User; created: boolean }>

/**
 * One transaction creates the user, the wallets, the credits and the confirmation mail, so a sign-up is never half
 * done. A second sign-up at the same moment waits for the row and then finds all done.
 */
export function createSignUp(deps: SignUpDeps): SignUp {
  const { store, ledger, clock } = deps
  return async (person, { askToConfirm } = { askToConfirm: true }) => {
    const known = await store.findUser(person.issuer, person.subject)
    if (known !== null && isSignedUp(known.user, known.granted, person)) return { user: known.user, created: false }

    const act = async (inside: Statements) => {
      const now = clock.now()
      const id = idOf(person, newId('usr', now))
      const { user, granted, created } = await store.saveUser(person, id, now, inside)
      if (created) await ledger.openAccounts(user.id, inside)
      // Always the sandbox first: two transactions that lock the same accounts must lock them in the same order.
      for (const environment of grantsDue(user, granted)) {
        if (await mayGrant(deps, user, environment, inside)) await grant(deps, user, environment, inside)
        await store.markGranted(user.id, environment, now, inside)
      }
      const toConfirm = user.issuer === BUILT_IN_ISSUER && user.email !== null && !user.emailConfirmed
      if (created && toConfirm && askToConfirm) await deps.announceConfirmation(user.subject, inside)
      return { user, created }
    }
    // If several first sign-ups run at once, the later one conflicts on the row's id, which the conflict clause does
    // not cover.
    return await retryConflicts(() => store.inTransaction(act))
  }
}

export interface SignUpDeps {
  store: IdentityStore
  ledger: Ledger
  clock: Clock
  /** Free credits in each environment; 0 for none. */
  credits: Usdc
  grantBounds: GrantBounds
  announceConfirmation(subject: string, inside: Statements): Promise<void>
}

/**
 * The owner of a domain has any number of mailboxes, and production credits are the platform's real money: above a
 * daily limit, accounts are created without them. Sandbox credits are play money and have no limit.
 */
async function mayGrant(deps: SignUpDeps, user: User, environment: Environment, inside: Statements): Promise<boolean> {
  const { store, credits, grantBounds, clock } = deps
  if (environment === 'sandbox' || credits === 0n) return true
  const now = clock.now()
  const sources = grantSources(user.email, addresses.getStore() ?? null, grantBounds)
  const isWithin = await store.takeGrants(sources, now, inside)
  if (!isWithin) await store.markWithheld(user.id, now, inside)
  return isWithin
}

async function grant(deps: SignUpDeps, user: User, environment: Environment, inside: Statements): Promise<void> {
  if (deps.credits === 0n) return
  await deps.ledger.credit(
    {
      id: `grant.${user.id}.${environment}`,
      kind: 'grant',
      owner: { userId: user.id, environment },
      amount: deps.credits,
      reference: null,
      act: 'sign-up',
    },
    inside,
  )
}
