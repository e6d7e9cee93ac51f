import { z } from 'zod'
import { createRateLimit } from '../api/limits.ts'
import type { Brands } from '../brands/service.ts'
import type { Identity } from '../identity/service/identity.ts'
import { createPdf } from '../pdf/pdf.ts'
import type { Part, Platform } from './platform.ts'
import type { Topic } from '../queue/model.ts'
import { openPaymentTokens } from './sales.ts'
import { createOwnSales } from '../sales/store/payments.ts'
import { createSaleStore } from '../sales/store/sales.ts'
import { documentRoutes, invoiceRoutes } from '../invoices/http.ts'
import type { MailDeps } from '../invoices/ports.ts'
import { createInvoices, type Invoices } from '../invoices/service/invoices.ts'
import {
  createReceiptHooks,
  createReceiptMails,
  RECEIPT_MAIL,
  type MailPayload,
  type ReceiptHooks,
  type ReceiptMails,
} from '../invoices/service/mails.ts'
import { createInvoiceStore } from '../invoices/store.ts'

/** Receipts and invoices as documents, and the mails that bring them. */
export function openInvoices(platform: Platform, { brands, identity }: Others): Opened {
  const { config, database, clock, secret, outbox, log, facts } = platform
  const { findOwn, lock } = createOwnSales(database.statements)
  const { findAll } = createSaleStore(database.statements)
  const store = createInvoiceStore(database.statements)
  const tokens = openPaymentTokens(secret)
  const pdf = createPdf()
  const invoices = createInvoices({ store, sales: { findOwn, lock, findAll }, tokens, printing: pdf, clock })
  const receiptMails = createReceiptMails({
    sales: { findOwn, findAll },
    store,
    invoices,
    mailer: {
      mayMail: (to) => identity.mayMailCustomer(to),
      reachesTestBuyer: (userId, to) => identity.reachesTestBuyer(userId, to),
      send: (mail) => identity.sendCounted(mail),
    },
    brandName: async (owner) => (await brands.shown(owner))?.name ?? null,
    addressOf: (sale) => `${config.addresses.receipts}/${sale}?token=${tokens.of(sale)}`,
    announce: (inside, announcements) => outbox.add(inside, announcements),
    limits: limitsOf(platform),
    log,
  })
  const hooks = openReceiptHooks(platform)
  facts.subscribe('refund.ended', async (inside, { refund, sale }) => {
    if (refund.state === 'confirmed') await hooks.refunded(inside, sale, refund.amount)
  })
  return {
    invoices,
    receiptMails,
    part: {
      routes: [
        { surface: 'api', routes: invoiceRoutes(invoices, receiptMails) },
        { surface: 'receipts', routes: documentRoutes(invoices, receiptMails) },
      ],
      topics: [mailTopic(receiptMails)],
      stop: () => pdf.close(),
    },
  }
}

/** What sales and refunds write for these mails. */
export function openReceiptHooks({ outbox }: Pick<Platform, 'outbox'>): ReceiptHooks {
  return createReceiptHooks((inside, announcements) => outbox.add(inside, announcements))
}

interface Others {
  brands: Pick<Brands, 'shown'>
  identity: Pick<Identity, 'mayMailCustomer' | 'reachesTestBuyer' | 'sendCounted'>
}

interface Opened {
  invoices: Invoices
  receiptMails: ReceiptMails
  part: Part
}

function limitsOf({ config, redis }: Platform): MailDeps['limits'] {
  const perAccount = createRateLimit('receipt-mails', config.RECEIPT_MAILS_PER_HOUR, redis, 3_600)
  const perSale = createRateLimit('receipt-again', AGAIN_PER_HOUR, redis, 3_600)
  return {
    account: async (userId) => (await perAccount(userId)).refusal === null,
    sale: async (id) => (await perSale(id)).refusal === null,
  }
}

function mailTopic(mails: ReceiptMails): Topic<MailPayload> {
  return {
    topic: RECEIPT_MAIL,
    decode: z.object({ saleId: z.string(), refunded: z.string().nullable(), isCounted: z.boolean() }),
    handle: (payload, context) => mails.send(payload, context),
    concurrency: 4,
    // A document is set for each, and those of an account wait for each other.
    turns: { perAccount: 8 },
    timeoutMs: 60_000,
  }
}

/** How often the mail of one sale is sent again. */
const AGAIN_PER_HOUR = 3
