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
 * From where a sign-up came. The built-in sign-in reports a person in a hook of its library, which passes on neither
 * the request nor its sender. The address only bounds free credits; an account is created without it too.
 */
const addresses = new AsyncLocalStorage<string>()

export function fromAddress<T>(address: string, work: () => T): T {
  return addresses.run(address, work)
}

/** The user of this person, made or brought up to date. Whatever an earlier try left undone is done now. */
export type SignUp = (person: Person, options?: { askToConfirm: boolean }) => Promise<{ user: User; created: boolean }>

/**
 * User, wallets, credits and the mail that asks for confirmation come to be in one transaction, so there is
 * no half of it to find later; who comes at the same moment waits for the row and then finds all done.
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
      // The sandbox's first, always: two transactions that take the same accounts take them in one order.
      for (const environment of grantsDue(user, granted)) {
        if (await mayGrant(deps, user, environment, inside)) await grant(deps, user, environment, inside)
        await store.markGranted(user.id, environment, now, inside)
      }
      const toConfirm = user.issuer === BUILT_IN_ISSUER && user.email !== null && !user.emailConfirmed
      if (created && toConfirm && askToConfirm) await deps.announceConfirmation(user.subject, inside)
      return { user, created }
    }
    // Of several first ones at once the later finds the row by its id, of which the conflict clause knows nothing.
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
 * Who owns a domain has any number of mailboxes, and production's credits are the platform's real money: beyond a day's
 * bound an account is created without them. The sandbox's credits are play money and have no bound.
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
