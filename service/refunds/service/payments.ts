import { ownerOf, type Caller } from '../../kit/caller.ts'
import type { Hex } from '../../chain/model.ts'
import type { Id } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Span } from '../../kit/clock.ts'
import type { Customer, CustomerPage, NamedSale, OwnSales, SaleFilter, SaleSummary } from '../../sales/model.ts'
import { customerMissing, paymentMissing, refundMissing } from '../errors.ts'
import type { RefundedPayment, RefundRequest, ShownRefund } from '../model.ts'
import type { RefundMethods, RefundStore } from '../ports.ts'
import type { Refunds } from './refunds.ts'

/** The payments of all products as their seller sees them. */
export function createPayments({ sales, summary, store, refunds, methods }: PaymentDeps) {
  async function find(caller: Caller, id: string): Promise<NamedSale> {
    const found = await sales.findOwn(ownerOf(caller), id)
    if (found === null) throw paymentMissing()
    return found
  }

  async function firstBlock({ sale }: NamedSale): Promise<{ seenBlock: bigint | null }> {
    return { seenBlock: methods.of(sale).signed ? await refunds.own.seenBlock(sale.network) : null }
  }

  return {
    list: (caller: Caller, filter: SaleFilter, page: { limit: number; offset: number }) =>
      sales.listOwn(ownerOf(caller), filter, page),

    /** Without their number: reading a page takes no longer where there are many. */
    async older(caller: Caller, filter: SaleFilter, { limit, before }: { limit: number; before: string | null }) {
      const found = await sales.olderOwn(ownerOf(caller), filter, { limit: limit + 1, before })
      const page = found.slice(0, limit)
      return { sales: page, next: found.length > limit ? (page.at(-1)?.sale.id ?? null) : null }
    },

    async customers(caller: Caller, wanted: CustomerPage) {
      const { limit } = wanted
      const found = await sales.customers(ownerOf(caller), { ...wanted, limit: limit + 1 })
      const page = found.slice(0, limit)
      return { customers: page, next: found.length > limit ? (page.at(-1)?.key ?? null) : null }
    },

    async customer(caller: Caller, key: string): Promise<Customer> {
      const found = await sales.findCustomer(ownerOf(caller), key)
      if (found === null) throw customerMissing()
      return found
    },

    /** Revenue, customers and failures of a span of days, beside those of as many days before. */
    async summary(caller: Caller, span: Span) {
      const owner = ownerOf(caller)
      const [days, customers, failures] = await Promise.all([
        summary.days(owner, span),
        summary.customers(owner, span),
        summary.failures(owner, span),
      ])
      return { days, customers, failures }
    },

    async get(caller: Caller, id: string): Promise<RefundedPayment> {
      const found = await find(caller, id)
      return { ...found, refunds: await store.ofSales([found.sale.id]) }
    },

    async refund(caller: Caller, input: RefundInput, operation: Id<'op'>): Promise<ShownRefund> {
      const { paymentId: saleId, amount, reason, from, keyHash, mayHaveBegun } = input
      const owner = ownerOf(caller)
      const request = { saleId, amount, reason, by: 'seller', owner, keyHash, mayHaveBegun } as const
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

export interface RefundInput extends Required<Pick<RefundRequest, 'keyHash' | 'mayHaveBegun'>> {
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
  sales: Pick<OwnSales, 'listOwn' | 'olderOwn' | 'customers' | 'findCustomer' | 'findOwn'>
  summary: SaleSummary
  store: Pick<RefundStore, 'ofSales' | 'find'>
  refunds: Pick<Refunds, 'request' | 'own'>
  methods: RefundMethods
}
