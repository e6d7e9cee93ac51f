import type { Owner } from '../../kit/owner.ts'
import { GUESTS } from '../../ledger/model.ts'
import { turnOf } from '../../queue/model.ts'
import type { Statements } from '../../kit/transaction.ts'
import { bookedOtherwise, withdrawalsUnavailable } from '../errors.ts'
import { NETWORK_OF, type NewPayout, type Withdrawal } from '../model.ts'
import { payoutNonce } from '../rules.ts'
import type { WalletDeps } from './deps.ts'

/**
 * How every payout begins: its money is held, the outflow is counted and its recipient is stored, in one transaction.
 * The hold never expires. Only the end of the payout takes the money or gives it back, because no clock can tell whether
 * it has left.
 */
export function createHolding({ ledger, outflow, store, book, chains, clock, announce }: WalletDeps) {
  function onChain({ environment }: Owner): boolean {
    const isReal = chains.has(NETWORK_OF[environment]) && book !== null
    if (!isReal && environment === 'production') throw withdrawalsUnavailable()
    return isReal
  }

  return {
    /** False: the sandbox has no chain and simulates the payout. Production refuses it. */
    onChain,

    /** Whether the treasury's transfer for this payout is on the chain: after a restore no row may know it. */
    async hasLeft({ id, nonce }: Pick<NewPayout, 'id' | 'nonce'>, environment: Owner['environment']): Promise<boolean> {
      const chain = chains.get(NETWORK_OF[environment])
      if (chain === undefined || book === null) return false
      return (await chain.authorizationAt(book.treasury, nonce ?? payoutNonce(id))).used
    },

    async hold(inside: Statements, payout: NewPayout): Promise<Withdrawal> {
      const { id, kind, owner, to, amount, returns, countedOf = owner } = payout
      const nonce = payout.nonce ?? payoutNonce(id)
      // Paid before the database was restored, and booked by the operator: nothing else can be paid by this nonce.
      const [booked] = await store.withdrawals.byNonces([nonce], inside)
      if (booked !== undefined) {
        assertBookedAs(payout, booked)
        return booked
      }
      const simulated = !onChain(owner)
      await ledger.reserve({ id, owner, amount, useCredits: false, deadline: NEVER, reference: to }, inside)
      const isOfGuests = owner.userId === GUESTS
      await outflow.take({ id, owner: countedOf, kind, to, amount, returns, isOfGuests }, inside)
      const network = NETWORK_OF[owner.environment]
      const row = { id, kind, owner, network, to, amount, nonce, simulated, now: clock.now() }
      const added = await store.withdrawals.add(row, inside)
      await announce(inside, { topic: WITHDRAWAL_TOPIC, payload: { id }, turn: turnOf(owner) })
      return added
    },
  }
}

/**
 * Only this payout has the nonce, so its recipient was paid. A refund has ended with that, whichever account the operator
 * booked it on and whatever its amount: another attempt would pay its buyer twice. A withdrawal has not, because another
 * account or another amount paid for it.
 */
function assertBookedAs({ id, kind, owner, to, amount }: NewPayout, booked: Withdrawal): void {
  const isTransfer =
    booked.state === 'confirmed' &&
    booked.network === NETWORK_OF[owner.environment] &&
    booked.to.toLowerCase() === to.toLowerCase()
  const isPaidBy = kind === 'refund' || (booked.owner.userId === owner.userId && booked.amount === amount)
  if (!isTransfer || !isPaidBy) throw bookedOtherwise(id, booked.id)
}

export type Holding = ReturnType<typeof createHolding>

export const WITHDRAWAL_TOPIC = 'wallet.withdrawal'

/** No sweeper ends a hold with this deadline. The payout ends it. */
export const NEVER = new Date('9999-12-31T00:00:00.000Z')
