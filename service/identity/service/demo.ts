import type { Clock } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { Owner } from '../../kit/owner.ts'
import type { IdentityStore, SignIn } from '../ports.ts'
import { demoKeyId, traceOf } from '../rules.ts'
import { drawKey } from './keys.ts'
import type { SignUp } from './sign-up.ts'

/**
 * The sandbox's own account, with a key to try things out. Returns the key only from the one call that creates it,
 * otherwise null. If the operator sets a fixed key, it is added when it is new.
 */
export async function ensureDemoAccount(deps: DemoDeps, given: string | undefined): Promise<string | null> {
  const { store, clock, signIn, signUp } = deps
  const person = await signIn.ensurePerson(DEMO_EMAIL, 'Demo')
  const { user } = await signUp(person, { askToConfirm: false })
  const owner: Owner = { userId: user.id, environment: 'sandbox' }
  const now = clock.now()
  const id = given === undefined ? demoKeyId(user.id) : newId('key', now)
  const made = drawKey(owner, { id, name: 'demo', agentId: null, expiresAt: null, createdAt: now }, given)
  const added = await store.addKey(made.key, traceOf(made.secret, owner.environment))
  return added ? made.secret : null
}

export interface DemoDeps {
  store: IdentityStore
  clock: Clock
  signIn: SignIn
  signUp: SignUp
}

const DEMO_EMAIL = 'demo@coinslot.local'
