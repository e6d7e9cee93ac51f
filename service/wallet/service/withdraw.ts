import type { Address, Hex } from '../../chain/model.ts'
import { ownerOf, type Caller } from '../../kit/caller.ts'
import { deriveId, type Id } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Owner } from '../../kit/owner.ts'
import type { Statements } from '../../kit/transaction.ts'
import { withdrawalMissing } from '../errors.ts'
import { NETWORK_OF, type Withdrawal } from '../model.ts'
import { assertMinimum, isBookedFor, payoutNonce, withdrawalNonce, type KeyedTerms } from '../rules.ts'
import type { WalletDeps } from './deps.ts'
import type { Holding } from './hold.ts'
import type { Recipients } from './recipient.ts'

/** Withdrawals as their owners see them. `payout.ts` sends the money. */
export function createWithdrawals(deps: WalletDeps, { recipients, holding }: WithdrawalDeps) {
  const { outflow, store, book, chains, settings } = deps

  async function withdraw(caller: Caller, input: WithdrawalInput, operation: Id<'op'>): Promise<Withdrawal> {
    const owner = ownerOf(caller)
    const id = deriveId('wdr', operation)
    // Refused before the address is judged, as long as nothing can be paid out.
    holding.onChain(owner)
    const to = await recipients.read(input.to, owner)
    const { amount } = input
    const isLost = await isLostOfOperation(id, input, owner)
    const made = await store.together(async (inside) => {
      const before = await store.withdrawals.find(id, inside)
      if (before !== null) return before
      assertMinimum(amount, settings.withdrawalMinimum)
      const { keyHash = null } = input
      const nonce =
        keyHash === null || isLost ? payoutNonce(id) : await nonceFor({ keyHash, to, amount }, owner, inside)
      return await holding.hold(inside, { id, kind: 'withdrawal', owner, to, amount, nonce, returns: false })
    })
    await deps.failpoints.reach('withdrawal locked')
    return made
  }

  /**
   * Whether a restored database has the key without the withdrawal that was paid by it: in the version before, the operation of the key
   * named the transfer.
   */
  async function isLostOfOperation(
    id: Id<'wdr'>,
    { keyHash = null, mayHaveBegun = false }: WithdrawalInput,
    { environment }: Owner,
  ): Promise<boolean> {
    if (keyHash === null || !mayHaveBegun || (await store.withdrawals.find(id)) !== null) return false
    return await holding.hasLeft({ id }, environment)
  }

  /**
   * The first that no earlier withdrawal of this key has, which was another one: the service has forgotten the key since. In a
   * restored database it is the nonce of the withdrawal that the database lost. Once the operator has booked that one, it is
   * the same withdrawal for as long as a key is known.
   */
  async function nonceFor(of: KeyedTerms, owner: Owner, inside: Statements): Promise<Hex> {
    const now = deps.clock.now()
    for (let first = 0; ; first += NONCES_AT_ONCE) {
      const nonces = Array.from({ length: NONCES_AT_ONCE }, (_, at) => withdrawalNonce(of, first + at))
      const known = await store.withdrawals.byNonces(nonces, inside)
      const others = new Set(known.filter((one) => !isBookedFor(owner, one, now)).map(({ nonce }) => nonce))
      const free = nonces.find((nonce) => !others.has(nonce))
      if (free !== undefined) return free
    }
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
      if (found.kind !== 'withdrawal') throw withdrawalMissing()
      return found
    },
    list: (caller: Caller, page: { limit: number; offset: number }) => store.withdrawals.list(ownerOf(caller), page),
  }
}

interface WithdrawalDeps {
  recipients: Recipients
  holding: Holding
}

export interface WithdrawalInput {
  amount: Usdc
  to: Address
  /** Names the request's key, its account and its address. */
  keyHash?: Buffer | null
  /** The key is not new. */
  mayHaveBegun?: boolean
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

/** Read in one statement. */
const NONCES_AT_ONCE = 32
