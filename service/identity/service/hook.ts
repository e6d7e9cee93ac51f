import type { Person } from '../../kit/caller.ts'
import type { Clock } from '../../kit/clock.ts'
import { hookRefused, hookUnavailable } from '../errors.ts'
import type { CreditDeposits } from '../ports.ts'
import { isSigned } from '../rules.ts'
import type { SignUp } from './sign-up.ts'

/** A signed message from the identity provider about its users and their wallets. */
export interface HookMessage {
  id: string
  timestamp: string
  signature: string
  body: Buffer
}

export type HookEvent =
  | { type: 'funds_deposited'; transactionHash: `0x${string}`; network: string | null }
  | { type: 'user_created'; person: Omit<Person, 'issuer'> }
  | { type: 'other' }

/** A message is only a hint: what it says of money is not believed, and what it says twice happens once. */
export function createHook({ settings, creditDeposits, signUp, clock }: HookDeps) {
  return {
    /** Throws unless the provider signed this within the last minutes. */
    assertSigned(message: HookMessage): void {
      if (settings === null) throw hookUnavailable()
      if (!isSigned(settings.secret, message, clock.now())) throw hookRefused()
    },

    async take(event: HookEvent): Promise<{ credited: number }> {
      switch (event.type) {
        case 'funds_deposited':
          return { credited: await creditDeposits(event.transactionHash, event.network) }
        case 'user_created': {
          const issuer = settings?.issuer ?? null
          // Without a configured issuer this user could never sign in.
          if (issuer !== null) await signUp({ ...event.person, issuer })
          return { credited: 0 }
        }
        case 'other':
          return { credited: 0 }
      }
    },
  }
}

export type Hook = ReturnType<typeof createHook>

interface HookDeps {
  /** Null when there is no provider. */
  settings: { secret: string; issuer: string | null } | null
  creditDeposits: CreditDeposits
  signUp: SignUp
  clock: Clock
}
