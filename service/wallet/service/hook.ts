import type { Hex } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import type { Person } from '../../kit/caller.ts'
import { DomainError } from '../../kit/errors.ts'
import { hookRefused, hookUnavailable } from '../errors.ts'
import { isSigned } from '../rules.ts'
import type { Crediting } from './credit.ts'
import type { WalletDeps } from './deps.ts'

/** A signed message from the identity provider about its users' wallets. */
export interface HookMessage {
  id: string
  timestamp: string
  signature: string
  body: Buffer
}

export type HookEvent =
  | { type: 'funds_deposited'; transactionHash: Hex; network: NetworkName | null }
  | { type: 'user_created'; person: Omit<Person, 'issuer'> }
  | { type: 'other' }

/**
 * A message is only a hint. The deposit that it names is read from the chain like any other, and credited to the owner
 * of the address. A repeated message, or one about a transaction that is not a deposit, changes nothing.
 */
export function createHook(deps: WalletDeps, crediting: Crediting) {
  const { chains, clock, log, settings, measures } = deps

  return {
    /** Throws unless the provider signed this within the last minutes. */
    assertSigned(message: HookMessage): void {
      if (settings.hook === null) throw hookUnavailable()
      if (!isSigned(settings.hook.secret, message, clock.now())) throw hookRefused()
    },

    async take(event: HookEvent): Promise<{ credited: number }> {
      switch (event.type) {
        case 'funds_deposited':
          return { credited: await fundsDeposited(event.transactionHash, event.network) }
        case 'user_created': {
          const issuer = settings.hook?.issuer ?? null
          // Without a configured issuer this user could never sign in.
          if (issuer !== null) await deps.signUp({ ...event.person, issuer })
          return { credited: 0 }
        }
        case 'other':
          return { credited: 0 }
      }
    },
  }

  async function fundsDeposited(hash: Hex, named: NetworkName | null): Promise<number> {
    let credited = 0
    for (const network of named === null ? chains.keys() : [named]) {
      try {
        credited += (await crediting.creditTransaction(network, hash, 'hook')) ?? 0
      } catch (error) {
        // The monitor will find the deposit, so the provider need not send the message again.
        if (!(error instanceof DomainError) || error.kind !== 'unavailable') throw error
        log.warn({ network, hash }, 'a deposit that the identity provider reported could not be checked')
      }
    }
    measures.count('deposit_hinted')
    return credited
  }
}
