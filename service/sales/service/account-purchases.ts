import { ownerOf, type Caller } from '../../kit/caller.ts'
import { DomainError } from '../../kit/errors.ts'
import { isId } from '../../kit/ids.ts'
import type { AccountPayment, Sale, SaleReader } from '../model.ts'
import type { SellingDeps } from './deps.ts'

/** What accounts of this server have bought: out of the ledger, or with payments to addresses that they signed. */
export function createAccountPurchases({ sales, payments, selling: { journal, method } }: AccountPurchaseDeps) {
  /** What this payment has bought here. Null where it has reached no seller of this server. */
  async function signedFor({ network, payer, nonce }: AccountPayment): Promise<Sale | null> {
    const digest = await method.digestBy(network, payer, nonce)
    return digest === null ? null : await journal.find(digest)
  }

  async function paymentOf(caller: Caller, id: string): Promise<AccountPayment | null> {
    try {
      return (await payments.find(caller, id)).payment
    } catch (error) {
      if (error instanceof DomainError && error.kind === 'missing') return null
      throw error
    }
  }

  return {
    signedFor,

    /** By the id in its bill. Null where the caller has paid nothing of this id. */
    async find(caller: Caller, id: string): Promise<AccountPurchase | null> {
      if (!isId('pay', id)) return null
      const sale = await sales.findBought({ ...ownerOf(caller), agentId: caller.agentId }, id)
      if (sale !== null) return { sale, payment: null }
      const payment = await paymentOf(caller, id)
      return payment === null ? null : { sale: await signedFor(payment), payment }
    },
  }
}

export type AccountPurchases = ReturnType<typeof createAccountPurchases>

/** Without a payment where the ledger paid, and without a sale where the payment has reached no seller here. */
type AccountPurchase = { sale: Sale; payment: null } | { sale: Sale | null; payment: AccountPayment }

interface AccountPurchaseDeps {
  sales: Pick<SaleReader, 'findBought'>
  /** Throws when the caller has no such payment. */
  payments: { find(caller: Caller, id: string): Promise<{ payment: AccountPayment }> }
  selling: Pick<SellingDeps, 'journal' | 'method'>
}
