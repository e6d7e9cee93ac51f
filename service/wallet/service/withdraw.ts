import type { Address } from '../../chain/model.ts'
import { ownerOf, type Caller } from '../../kit/caller.ts'
import { deriveId, type Id } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import { withdrawalMissing, withdrawalsUnavailable } from '../errors.ts'
import { NETWORK_OF, type Withdrawal } from '../model.ts'
import { assertMinimum, payoutNonce } from '../rules.ts'
import type { WalletDeps } from './deps.ts'
import type { Recipients } from './recipient.ts'

/** Withdrawals as their owners see them. `payout.ts` sends the money. */
export function createWithdrawals(deps: WalletDeps, recipients: Recipients) {
  const { ledger, outflow, store, book, chains, clock, settings, announce } = deps

  /**
   * Locks the money and stores the recipient, in one transaction. The lock never expires: only the end of the
   * withdrawal takes the money or gives it back, because no clock can tell whether it has left.
   */
  async function withdraw(caller: Caller, input: WithdrawalInput, operation: Id<'op'>): Promise<Withdrawal> {
    const owner = ownerOf(caller)
    const id = deriveId('wdr', operation)
    const network = NETWORK_OF[owner.environment]
    const onChain = chains.has(network) && book !== null
    if (!onChain && owner.environment === 'production') throw withdrawalsUnavailable()
    const to = await recipients.read(input.to, owner)
    const { amount } = input
    const nonce = payoutNonce(id)
    const made = await store.together(async (inside) => {
      const before = await store.withdrawals.find(id, inside)
      if (before !== null) return before
      assertMinimum(amount, settings.withdrawalMinimum)
      await ledger.reserve({ id, owner, amount, useCredits: false, deadline: NEVER, reference: to }, inside)
      await outflow.take({ id, owner, kind: 'withdrawal', to, amount }, inside)
      const now = clock.now()
      const added = await store.withdrawals.add(
        { id, owner, network, to, amount, nonce, simulated: !onChain, now },
        inside,
      )
      const turn = { account: `${owner.environment}/${owner.userId}` }
      await announce(inside, { topic: WITHDRAWAL_TOPIC, payload: { id }, turn })
      return added
    })
    await deps.failpoints.reach('withdrawal locked')
    return made
  }

  return {
    withdraw,

    /** How much a withdrawal may take out now. Read without a lock, so the withdrawal itself checks again. */
    async terms(caller: Caller): Promise<Terms> {
      const owner = ownerOf(caller)
      const network = NETWORK_OF[owner.environment]
      const onChain = chains.has(network) && book !== null
      const usualAddress = await recipients.usual(owner)
      const { withdrawalMinimum: minimum } = settings
      return { network, onChain, usualAddress, minimum, ...(await outflow.terms(owner)) }
    },

    async find(caller: Caller, id: string): Promise<Withdrawal> {
      const { userId, environment } = ownerOf(caller)
      const found = await store.withdrawals.find(id)
      if (found?.owner.userId !== userId || found.owner.environment !== environment) throw withdrawalMissing()
      return found
    },
    list: (caller: Caller, page: { limit: number; offset: number }) => store.withdrawals.list(ownerOf(caller), page),
  }
}

export interface WithdrawalInput {
  amount: Usdc
  to: Address
}

export interface Terms {
  network: Withdrawal['network']
  /** Without a chain the sandbox simulates payouts, and production refuses them. */
  onChain: boolean
  /** The owner's stored payout address. */
  usualAddress: string | null
  /** The limit in 24 hours. Null when there is none. */
  perDay: Usdc | null
  left: Usdc | null
  /** The least that one withdrawal may take out. */
  minimum: Usdc
  /** An operator has stopped all payouts for now. */
  paused: boolean
}

export const WITHDRAWAL_TOPIC = 'wallet.withdrawal'

/** No sweeper ends a lock with this deadline. The withdrawal ends it. */
const NEVER = new Date('9999-12-31T00:00:00.000Z')
