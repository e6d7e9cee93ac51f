import { accountOf, type Caller } from '../../kit/caller.ts'
import type { Clock } from '../../kit/clock.ts'
import { invalid } from '../../kit/errors.ts'
import type { Owner } from '../../kit/owner.ts'
import { usdc, ZERO } from '../../kit/money.ts'
import { receiptTo, wasPaid, type Sale } from '../../sales/model.ts'
import type { PaymentTokens } from '../../sales/service/proof.ts'
import { invoiceMissing, notPaid, receiptMissing } from '../errors.ts'
import type { Buyer, Invoice, Invoicing } from '../model.ts'
import type { InvoicedSales, InvoiceStore, Page, Printing } from '../ports.ts'
import { assertIssuable, isIssuable, issue, linesOf, sellerOf, shown } from '../rules/issuing.ts'
import { paperOf } from '../rules/paper.ts'

export interface InvoiceDeps {
  store: InvoiceStore
  sales: InvoicedSales
  tokens: Pick<PaymentTokens, 'matches'>
  printing: Printing
  clock: Clock
}

/** Receipts and invoices as documents, and what sellers write on them. */
export function createInvoices({ store, sales, tokens, printing, clock }: InvoiceDeps) {
  /** Only for the one who holds the payment's token. */
  async function proven(id: string, token: string | null): Promise<NamedSale> {
    const sale = (await sales.findAll([id])).get(id)
    if (sale === undefined || !tokens.matches(id, sale.tokenHash, token)) throw receiptMissing()
    return await withName(sale)
  }

  async function withName(sale: Sale): Promise<NamedSale> {
    const { userId, environment, subject } = sale
    // What this service itself sells has no seller whose document it could be.
    if (userId === null) throw receiptMissing()
    const owner = { userId, environment }
    const named = await sales.findOwn(owner, sale.id)
    return { sale, owner, product: named?.name ?? subject, byTransfer: named?.byTransfer ?? false }
  }

  async function receipt({ sale, owner, product }: NamedSale): Promise<Buffer> {
    if (!wasPaid(sale)) throw notPaid()
    const seller = sellerOf(await store.settings(owner))
    const lines = linesOf(sale, product, seller.taxRate)
    const paper = paperOf({ invoice: null, payment: sale.id, seller, lines, refunded: refundedOf(sale) })
    return await printing.render(paper, owner)
  }

  async function print({ sale, owner }: { sale: Sale; owner: Owner }, invoice: Invoice): Promise<Buffer> {
    const { seller, lines } = invoice
    return await printing.render(
      paperOf({ invoice, payment: sale.id, seller, lines, refunded: refundedOf(sale) }),
      owner,
    )
  }

  return {
    settings: (caller: Caller): Promise<Invoicing> => store.settings(accountOf(caller)),

    /** What is absent stays. Invoices that were issued keep what they say. */
    async changeSettings(caller: Caller, change: Partial<Invoicing>): Promise<Invoicing> {
      const owner = accountOf(caller)
      return await store.together(async (inside) => {
        await store.lockSettings(inside, owner)
        const changed = { ...(await store.settings(owner, inside)), ...change }
        if (changed.enabled && (changed.sellerName === '' || changed.sellerAddress === '')) {
          throw invalid({ [changed.sellerName === '' ? 'sellerName' : 'sellerAddress']: 'is required on invoices' })
        }
        await store.saveSettings(inside, owner, changed, clock.now())
        return changed
      })
    },

    list: (caller: Caller, page: Page) => store.list(accountOf(caller), page),

    async ownPdf(caller: Caller, id: string): Promise<{ invoice: Invoice; bytes: Buffer }> {
      const owner = accountOf(caller)
      const named = await sales.findOwn(owner, id)
      const invoice = named === null ? null : await store.ofSale(id)
      if (named === null || invoice === null) throw invoiceMissing()
      return { invoice, bytes: await print({ sale: named.sale, owner }, invoice) }
    },

    /** The invoice, or whether the buyer can ask for one. */
    async status(id: string, token: string | null): Promise<Status> {
      const { sale, owner } = await proven(id, token)
      const [invoice, settings] = await Promise.all([store.ofSale(id), store.settings(owner)])
      const isOffered = invoice === null && isIssuable(sale, settings)
      return { invoice, isOffered, email: wasPaid(sale) ? (receiptTo(sale)?.email ?? null) : null }
    },

    /** A sale has one invoice: whoever asks again gets the first one, as it was issued. */
    async ask(id: string, token: string | null, buyer: Buyer): Promise<{ invoice: Invoice; isNew: boolean }> {
      const { owner, product } = await proven(id, token)
      return await store.together(async (inside) => {
        // First the sale, then the account's counter: in this order they cannot wait for each other.
        const sale = await sales.lock(inside, id)
        const before = await store.ofSale(id, inside)
        if (sale === null) throw receiptMissing()
        if (before !== null) return { invoice: before, isNew: false }
        const invoicing = await store.settings(owner, inside)
        assertIssuable(sale, invoicing)
        const now = clock.now()
        const sequence = await store.nextNumber(inside, owner, now.getUTCFullYear())
        const invoice = issue(sale, { invoicing, buyer, product, sequence, now })
        await store.add(inside, invoice)
        return { invoice, isNew: true }
      })
    },

    async invoicePdf(id: string, token: string | null): Promise<{ invoice: Invoice; bytes: Buffer }> {
      const found = await proven(id, token)
      const invoice = await store.ofSale(id)
      if (invoice === null) throw invoiceMissing()
      return { invoice, bytes: await print(found, invoice) }
    },

    async receiptPdf(id: string, token: string | null): Promise<Buffer> {
      return await receipt(await proven(id, token))
    },

    /** The invoice where there is one, else the receipt. */
    async document(sale: Sale, owner: Owner): Promise<{ name: string; bytes: Buffer }> {
      const invoice = await store.ofSale(sale.id)
      if (invoice !== null) return { name: invoice.number, bytes: await print({ sale, owner }, invoice) }
      return { name: `receipt-${sale.id}`, bytes: await receipt(await withName(sale)) }
    },

    proven,
    named: withName,
  }
}

export type Invoices = ReturnType<typeof createInvoices>

/** `email`: where the receipt is mailed to, once it is paid. */
interface Status {
  invoice: Invoice | null
  isOffered: boolean
  email: string | null
}

/** A sale of an account, with the account's name for what was sold. */
interface NamedSale {
  sale: Sale
  owner: Owner
  product: string
  /** A refund goes to an address of ours, from which its buyer collects it. */
  byTransfer: boolean
}

function refundedOf({ refunded }: Sale): string | null {
  return refunded === ZERO ? null : shown(usdc(refunded))
}
