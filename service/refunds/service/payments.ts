import { ownerOf, type Caller } from '../../kit/caller.ts'
import type { Hex } from '../../chain/model.ts'
import type { Id } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import type { NamedSale, OwnSales, SaleFilter } from '../../sales/model.ts'
import { paymentMissing, refundMissing } from '../errors.ts'
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

  async function firstBlock({ sale }: NamedSale): Promise<{ seenBlock: bigint | null }> {
    return { seenBlock: sale.simulated ? null : await refunds.own.seenBlock(sale.network) }
  }

  return {
    list: (caller: Caller, filter: SaleFilter, page: { limit: number; offset: number }) =>
      sales.listOwn(ownerOf(caller), filter, page),

    async get(caller: Caller, id: string): Promise<RefundedPayment> {
      const found = await find(caller, id)
      return { ...found, refunds: await store.ofSale(found.sale.id) }
    },

    async refund(caller: Caller, input: RefundInput, operation: Id<'op'>): Promise<ShownRefund> {
      const { paymentId: saleId, amount, reason, from } = input
      const owner = ownerOf(caller)
      const request = { saleId, amount, reason, by: 'seller', owner } as const
      const own = from === 'own' ? { own: await firstBlock(await find(caller, saleId)) } : {}
      const refund = await refunds.request({ ...request, ...own }, operation)
      return { refund, sale: (await find(caller, saleId)).sale }
    },

    /** For a refund from the seller's own wallet. */
    async sign(caller: Caller, { paymentId, refundId, signature }: SignatureInput): Promise<ShownRefund> {
      const { sale } = await find(caller, paymentId)
      const refund = await store.find(refundId)
      if (refund?.saleId !== sale.id) throw refundMissing()
      await refunds.own.sign(refund, sale, signature)
      return { refund: (await store.find(refundId)) ?? refund, sale }
    },
  }
}

export type Payments = ReturnType<typeof createPayments>

export interface RefundInput {
  paymentId: string
  /** Null: all that is left. */
  amount: Usdc | null
  reason: string
  /** `own`: the wallet that received the payment. */
  from: 'balance' | 'own'
}

export interface SignatureInput {
  paymentId: string
  refundId: string
  signature: Hex
}

interface PaymentDeps {
  sales: Pick<OwnSales, 'listOwn' | 'findOwn'>
  store: Pick<RefundStore, 'ofSale' | 'find'>
  refunds: Pick<Refunds, 'request' | 'own'>
}
