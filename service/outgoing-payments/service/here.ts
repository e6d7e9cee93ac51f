import type { Address } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import { ownerOf, type Caller } from '../../kit/caller.ts'
import { newId, type Id } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Owner } from '../../kit/owner.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { PaidRequest } from '../model.ts'
import { networkFor, spenderOf } from '../rules.ts'
import type { OutgoingPaymentDeps } from './deps.ts'
import { setAside } from './reserve.ts'
import type { Signing } from './sign.ts'

/**
 * Payments to sellers whose wallet is in this ledger: one transfer there, without a chain and without a request to ourselves.
 * What is bought is a sale, which follows them.
 */
export function createPaymentsHere(deps: PaymentsHereDeps) {
  const { store, statements, ledger, budgets, outflow, clock, holderOf, signing } = deps

  async function buyerOf(inside: Statements, { id, payer }: Pick<BoughtHere, 'id' | 'payer'>): Promise<Owner> {
    const buyer = await store.accountOf(payer, inside)
    if (buyer === null) throw new Error(`the account that pays ${id} was not found`)
    return buyer
  }

  return {
    /** Counts this call, which costs nothing. Throws where the caller's agent may not make it. */
    async countFree(caller: Caller, request: PaidRequest, operation: Id<'op'>): Promise<void> {
      const { agentId } = caller
      const owner = ownerOf(caller)
      const spender = spenderOf({ owner, agentId, request, operation }, null)
      if (spender === null) return
      await budgets.countFree({ id: newId('op', clock.now()), owner, spender: { ...spender, isFree: true } })
    },

    /** The caller's account as a buyer, within the limits of its agent. Null where this seller is paid outside. */
    async buyer(caller: Caller, { request, network, recipient }: Purchase, operation: Id<'op'>) {
      const owner = ownerOf(caller)
      if (network !== networkFor(owner).name) return null
      const holder = await holderOf(statements, recipient)
      if (holder?.environment !== owner.environment) return null
      const { agentId } = caller
      const spender = spenderOf({ owner, agentId, request, operation }, null)
      const { address: payer } = await signing.payerOf(owner)
      return {
        payer,
        agentId,
        setAside: <T>(id: string, write: (inside: Statements) => Promise<T>) => {
          const leaving = { id, owner, kind: 'account', to: null, amount: request.maxAmount } as const
          return setAside(deps, { outflow: leaving, url: request.url, spender }, write)
        },
      }
    },

    /** In the transaction in which the sale becomes paid. */
    async pay(inside: Statements, bought: BoughtHere): Promise<void> {
      const { id: hold, amount, recipient, resource: reference } = bought
      const owner = await buyerOf(inside, bought)
      const holder = recipient === null ? null : await holderOf(inside, recipient)
      if (holder === null) throw new Error(`the account that is paid by ${hold} was not found`)
      const shares = [{ to: { userId: holder.userId }, amount }]
      await ledger.capture({ hold, owner, amount, shares, kind: 'capture', reference, announcements: [] }, inside)
    },

    /** In the transaction in which the sale fails. */
    async giveBack(inside: Statements, bought: BoughtHere): Promise<void> {
      const { id: hold } = bought
      await ledger.release({ hold, owner: await buyerOf(inside, bought), announcements: [] }, inside)
      await outflow.giveBack(hold, inside)
    },
  }
}

interface Purchase {
  /** Its `maxAmount` is the price. */
  request: PaidRequest
  network: NetworkName
  recipient: Address
}

/** What was bought. The id is its hold's. */
interface BoughtHere {
  id: string
  payer: Address
  recipient: Address | null
  amount: Usdc
  resource: string | null
}

type PaymentsHereDeps = Pick<
  OutgoingPaymentDeps,
  'store' | 'statements' | 'budgets' | 'ledger' | 'outflow' | 'clock' | 'holderOf'
> & { signing: Pick<Signing, 'payerOf'> }
