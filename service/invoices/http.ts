import { z } from 'zod'
import { reply, route, type AnyRoute, type Reply } from '../api/route.ts'
import { plainLine, plainText } from '../kit/fields.ts'
import { page, timestamp } from '../kit/wire.ts'
import type { Invoice, Invoicing } from './model.ts'
import type { Invoices } from './service/invoices.ts'
import type { ReceiptMails } from './service/mails.ts'

/** An empty text stands for none. */
const settings = z.strictObject({
  enabled: z.boolean().meta({ description: 'Buyers can ask for an invoice on their receipt' }),
  sellerName: plainLine(200).or(z.literal('')),
  sellerAddress: plainText(500).or(z.literal('')),
  sellerTaxId: plainLine(60).or(z.literal('')),
  taxLabel: plainLine(30),
  taxPercent: z
    .number()
    .min(0)
    .max(100)
    .refine((percent) => Number.isInteger(Math.round(percent * 1e6) / 1e4), 'must have at most two decimals')
    .meta({ description: 'The tax that prices include. 0 prints no tax' }),
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9]{0,12}$/, 'must be at most 12 letters and digits')
    .meta({ description: 'Before the year in each number: `ACME-2026-000123`' }),
  note: plainText(1_000).or(z.literal('')).meta({ description: 'Printed at the end of receipts and invoices' }),
})

export const settingsBody = settings.partial().meta({ id: 'InvoicingChange' })
export const settingsExample = { prefix: 'ACME' }
export const settingsOut = settings.meta({ id: 'Invoicing' })

export function toSettings({ taxPercent, ...rest }: z.output<typeof settingsBody>): Partial<Invoicing> {
  const sent = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  return { ...sent, ...(taxPercent === undefined ? {} : { taxRate: Math.round(taxPercent * 100) }) }
}

export function toSettingsOut({ taxRate, ...rest }: Invoicing): z.input<typeof settingsOut> {
  return { ...rest, taxPercent: taxRate / 100 }
}

const buyerBody = z.strictObject({
  name: plainLine(200),
  address: plainText(500),
  country: z.string().regex(/^[A-Z]{2}$/, 'must be a country in two capital letters, like DE'),
  taxId: plainLine(60).nullish(),
})

const invoiceOut = z
  .object({
    number: z.string(),
    paymentId: z.string(),
    issuedAt: timestamp,
    buyer: z.object({ name: z.string(), address: z.string(), country: z.string(), taxId: z.string() }),
    product: z.string(),
    total: z.string().meta({ description: 'USDC, as printed' }),
    tax: z.string().nullable().meta({ description: 'Contained in the total' }),
  })
  .meta({ id: 'Invoice' })

function toInvoiceOut({ number, saleId, issuedAt, buyer, lines }: Invoice): z.input<typeof invoiceOut> {
  const { product, total, tax } = lines
  return { number, paymentId: saleId, issuedAt: issuedAt.toISOString(), buyer, product, total, tax }
}

const mailedOut = z.object({ email: z.string().meta({ description: 'Where it goes', maxLength: 254 }) })

/** For sellers. */
export function invoiceRoutes(invoices: Invoices, mails: ReceiptMails): AnyRoute[] {
  const common = { tag: 'Payments', auth: 'person' } as const
  return [
    route({
      ...common,
      method: 'get',
      path: '/invoicing',
      summary: 'What you write on receipts and invoices',
      answers: { 200: z.object({ invoicing: settingsOut }) },
      handle: async ({ caller }) => reply(200, { invoicing: toSettingsOut(await invoices.settings(caller)) }),
    }),
    route({
      ...common,
      method: 'patch',
      path: '/invoicing',
      summary: 'Change what you write on receipts and invoices; issued invoices stay as they are',
      body: settingsBody,
      example: settingsExample,
      answers: { 200: z.object({ invoicing: settingsOut }) },
      async handle({ caller, body }) {
        return reply(200, { invoicing: toSettingsOut(await invoices.changeSettings(caller, toSettings(body))) })
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/invoices',
      summary: 'Your invoices, newest first',
      query: page,
      answers: { 200: z.object({ invoices: z.array(invoiceOut), total: z.int(), limit: z.int(), offset: z.int() }) },
      async handle({ caller, query: { limit, offset } }) {
        const { invoices: found, total } = await invoices.list(caller, { limit, offset })
        return reply(200, { invoices: found.map(toInvoiceOut), total, limit, offset })
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/invoices/:payment/pdf',
      summary: 'The invoice of a payment, as PDF',
      params: z.object({ payment: z.string() }),
      answers: { 200: z.string().meta({ description: 'application/pdf' }) },
      errors: { 404: 'You have no such payment, or it has no invoice.' },
      async handle({ caller, params }) {
        const { invoice, bytes } = await invoices.ownPdf(caller, params.payment)
        return pdf(bytes, invoice.number)
      },
    }),
    route({
      ...common,
      method: 'post',
      path: '/payments/:id/receipt',
      summary: 'Mail the receipt, or the invoice, again to the address that the buyer entered',
      params: z.object({ id: z.string() }),
      answers: { 202: mailedOut },
      errors: { 404: 'You have no such payment.', 409: 'Its buyer entered no address, or nothing was paid.' },
      handle: async ({ caller, params }) => reply(202, { email: await mails.sendOwn(caller, params.id) }),
    }),
  ]
}

/** `/receipts/…`, for buyers. */
export function documentRoutes(invoices: Invoices, mails: ReceiptMails): AnyRoute[] {
  const common = {
    tag: 'Receipts',
    auth: 'anyone',
    limit: 'pay',
    params: z.object({ pay: z.string() }),
    query: z.object({ token: z.string().optional().meta({ description: 'The token from the receipt link' }) }),
  } as const
  const unknown = 'There is no such payment, or the token belongs to another one.'
  return [
    route({
      ...common,
      method: 'get',
      path: '/:pay/receipt.pdf',
      summary: 'The receipt of a payment to a seller, as PDF',
      answers: { 200: z.string().meta({ description: 'application/pdf' }) },
      errors: { 404: unknown, 409: 'Nothing was paid yet.' },
      async handle({ params: { pay }, query, header }) {
        return pdf(await invoices.receiptPdf(pay, header('x-payment-token') ?? query.token ?? null), `receipt-${pay}`)
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/:pay/invoice',
      summary: 'The invoice of a payment; or whether its buyer can ask for one',
      answers: {
        200: z.object({
          invoice: invoiceOut.nullable(),
          offered: z.boolean(),
          email: z.string().nullable().meta({ description: 'Where the receipt is mailed to', maxLength: 254 }),
        }),
      },
      errors: { 404: unknown },
      async handle({ params: { pay }, query, header }) {
        const { invoice, isOffered, email } = await invoices.status(
          pay,
          header('x-payment-token') ?? query.token ?? null,
        )
        const body = { invoice: invoice === null ? null : toInvoiceOut(invoice), offered: isOffered, email }
        return { ...reply(200, body), headers: FRESH }
      },
    }),
    route({
      ...common,
      method: 'post',
      path: '/:pay/invoice',
      summary: 'Ask for the invoice of a payment. It is issued once and never changed: asking again returns the first',
      bodyBytesMax: 8_192,
      body: buyerBody,
      answers: { 200: z.object({ invoice: invoiceOut }), 201: z.object({ invoice: invoiceOut }) },
      errors: { 404: unknown, 409: 'The seller issues no invoices, or nothing was paid.' },
      async handle({ params: { pay }, query, header, body: { taxId, ...buyer } }) {
        const token = header('x-payment-token') ?? query.token ?? null
        const { invoice, isNew } = await invoices.ask(pay, token, { ...buyer, taxId: taxId ?? '' })
        return { ...reply(isNew ? 201 : 200, { invoice: toInvoiceOut(invoice) }), headers: FRESH }
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/:pay/invoice.pdf',
      summary: 'The invoice of a payment, as PDF',
      answers: { 200: z.string().meta({ description: 'application/pdf' }) },
      errors: { 404: 'There is no such payment, the token belongs to another one, or no invoice was issued.' },
      async handle({ params: { pay }, query, header }) {
        const token = header('x-payment-token') ?? query.token ?? null
        const { invoice, bytes } = await invoices.invoicePdf(pay, token)
        return pdf(bytes, invoice.number)
      },
    }),
    route({
      ...common,
      method: 'post',
      path: '/:pay/mail',
      summary: 'Mail the receipt, or the invoice, again to the address that was entered at the payment',
      answers: { 202: mailedOut },
      errors: { 404: unknown, 409: 'No address was entered, or nothing was paid.' },
      async handle({ params: { pay }, query, header }) {
        const email = await mails.sendAgain(pay, header('x-payment-token') ?? query.token ?? null)
        return { ...reply(202, { email }), headers: FRESH }
      },
    }),
  ]
}

/** The name has letters, digits and hyphens only. */
function pdf(content: Buffer, name: string): Reply {
  const headers = { ...FRESH, 'Content-Disposition': `inline; filename="${name}.pdf"` }
  return { ...reply(200, null), page: { type: 'application/pdf', content, headers } }
}

const FRESH = { 'Cache-Control': 'no-store' }
