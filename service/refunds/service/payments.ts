import { ownerOf, type Caller } from '../../kit/caller.ts'
import type { Id } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import type { NamedSale, OwnSales, SaleFilter } from '../../sales/model.ts'
import { paymentMissing } from '../errors.ts'
import type { RefundedPayment, ShownRefund } from '../model.ts'
import type { RefundStore } from '../ports.ts'
import type { Refunds } from './refunds.ts'

/** The payments of all products as their seller sees them. */
export function createPayments({ sales, store, refunds }: PaymentDeps) {
  async function find(caller: Caller, id: string): Promise<NamedSale> {
    const found = await sales.findOwn(ownerOf(caller), id)
    if (found === null) throw paymentMissing()
    return found
  }

  return {
    list: (caller: Caller, filter: SaleFilter, page: { limit: number; offset: number }) =>
      sales.listOwn(ownerOf(caller), filter, page),

    async get(caller: Caller, id: string): Promise<RefundedPayment> {
      const found = await find(caller, id)
      return { ...found, refunds: await store.ofSale(found.sale.id) }
    },

    async refund(caller: Caller, input: RefundInput, operation: Id<'op'>): Promise<ShownRefund> {
      const { paymentId: saleId, amount, reason } = input
      const owner = ownerOf(caller)
      const refund = await refunds.request({ saleId, amount, reason, by: 'seller', owner }, operation)
      return { refund, sale: (await find(caller, saleId)).sale }
    },
  }
}

export type Payments = ReturnType<typeof createPayments>

export interface RefundInput {
  paymentId: string
  /** Null: all that is left. */
  amount: Usdc | null
  reason: string
}

interface PaymentDeps {
  sales: Pick<OwnSales, 'listOwn' | 'findOwn'>
  store: Pick<RefundStore, 'ofSale'>
  refunds: Pick<Refunds, 'request'>
}
