import { accountOf, type Caller } from '../../kit/caller.ts'
import { usdc, type Usdc } from '../../kit/money.ts'
import type { Owner } from '../../kit/owner.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Announcement, JsonObject } from '../../queue/model.ts'
import { receiptTo, wasPaid, type ReceiptTo, type Sale } from '../../sales/model.ts'
import { noReceiptAddress, notPaid, receiptMissing, tooManyMails } from '../errors.ts'
import type { MailDeps } from '../ports.ts'
import { linesOf, sellerOf, shown } from '../rules/issuing.ts'
import { receiptMail, refundMail } from '../rules/mail.ts'
import type { Invoices } from './invoices.ts'

/**
 * Mails about a sale to the address that its buyer entered. Each is announced in the transaction of what it tells, so that
 * there is one of it, whatever process ends.
 */
export function createReceiptMails(deps: MailDeps & { invoices: Pick<Invoices, 'document' | 'named' | 'proven'> }) {
  const { sales, store, invoices, mailer, brandName, addressOf, announce, limits, log } = deps

  /** Whether one more mail may go to this address, and from this account. */
  async function isWithin({ userId }: Owner, to: string): Promise<boolean> {
    return (await limits.account(userId)) && (await mailer.mayMail(to))
  }

  /** Simulated payments cost nothing, so on a live server they reach nobody but their seller. */
  async function mayReceive(sale: Sale, owner: Owner, to: string): Promise<boolean> {
    return !sale.simulated || (await mailer.reachesTestBuyer(owner.userId, to))
  }

  async function again(sale: Sale, owner: Owner): Promise<string> {
    const to = receiptTo(sale)
    if (!wasPaid(sale)) throw notPaid()
    if (to === null || !(await mayReceive(sale, owner, to.email))) throw noReceiptAddress()
    if (!(await limits.sale(sale.id)) || !(await isWithin(owner, to.email))) throw tooManyMails()
    await store.together((inside) =>
      announce(inside, [mailOf(sale, { saleId: sale.id, refunded: null, isCounted: true })]),
    )
    return to.email
  }

  async function write({ refunded }: MailPayload, { sale, to, owner }: Addressed) {
    const { product, byTransfer } = await invoices.named(sale)
    const [seller, brand] = await Promise.all([store.settings(owner), brandName(owner)])
    const about = {
      seller: brand ?? (seller.sellerName === '' ? null : seller.sellerName),
      lines: linesOf(sale, product, sellerOf(seller).taxRate),
      link: addressOf(sale.id),
      language: to.language,
    }
    if (refunded !== null)
      return { ...refundMail(about, { amount: shown(usdc(BigInt(refunded))), byTransfer }), files: [] }
    const { name, bytes } = await invoices.document(sale, owner)
    return { ...receiptMail(about), files: [{ name: `${name}.pdf`, type: 'application/pdf', bytes }] }
  }

  return {
    /** Handles an announced mail. */
    async send(payload: MailPayload, { id, attempt }: { id: string; attempt: number }): Promise<void> {
      const sale = (await sales.findAll([payload.saleId])).get(payload.saleId)
      const to = sale === undefined ? null : receiptTo(sale)
      if (sale?.userId == null || to === null) return
      const owner = { userId: sale.userId, environment: sale.environment }
      if (!(await mayReceive(sale, owner, to.email))) return
      // A mail that could not be sent is tried again, and counts once.
      if (!payload.isCounted && attempt === 0 && !(await isWithin(owner, to.email))) {
        log.info({ sale: sale.id }, 'a receipt was not mailed: too many mails in an hour')
        return
      }
      await mailer.send({ id, to: to.email, ...(await write(payload, { sale, to, owner })) })
    },

    /** For the one who holds the payment's token. Returns the address. */
    async sendAgain(id: string, token: string | null): Promise<string> {
      const { sale, owner } = await invoices.proven(id, token)
      return await again(sale, owner)
    },

    /** For the seller. */
    async sendOwn(caller: Caller, id: string): Promise<string> {
      const owner = accountOf(caller)
      const named = await sales.findOwn(owner, id)
      if (named === null) throw receiptMissing()
      return await again(named.sale, owner)
    },

    /** Where the seller's buyer wants the receipt, and the number of the invoice; null where there is none. */
    async ofOwn(caller: Caller, id: string): Promise<{ email: string | null; invoice: string | null }> {
      const named = await sales.findOwn(accountOf(caller), id)
      if (named === null) throw receiptMissing()
      return { email: receiptTo(named.sale)?.email ?? null, invoice: (await store.ofSale(id))?.number ?? null }
    },
  }
}

export type ReceiptMails = ReturnType<typeof createReceiptMails>

/** What sales and refunds write in their own transactions. */
export function createReceiptHooks(announce: MailDeps['announce']) {
  return {
    async paid(inside: Statements, sale: Sale): Promise<void> {
      if (receiptTo(sale) === null || sale.userId === null) return
      await announce(inside, [mailOf(sale, { saleId: sale.id, refunded: null, isCounted: false })])
    },

    /** So much of it went back. */
    async refunded(inside: Statements, sale: Sale, amount: Usdc): Promise<void> {
      if (receiptTo(sale) === null || sale.userId === null) return
      await announce(inside, [mailOf(sale, { saleId: sale.id, refunded: String(amount), isCounted: false })])
    },
  }
}

export type ReceiptHooks = ReturnType<typeof createReceiptHooks>

/** The topic of the mails. */
export const RECEIPT_MAIL = 'receipts.mail'

export interface MailPayload {
  saleId: string
  /** In micro-USDC, where the mail is about a refund. */
  refunded: string | null
  /** The limits have counted it already. */
  isCounted: boolean
}

interface Addressed {
  sale: Sale
  to: ReceiptTo
  owner: Owner
}

function mailOf({ userId }: Sale, payload: MailPayload): Announcement {
  return { topic: RECEIPT_MAIL, payload: { ...payload } satisfies JsonObject, turn: { account: userId ?? '' } }
}
