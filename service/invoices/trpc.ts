import { asked, named, person, router } from '../api/trpc.ts'
import { settingsBody, settingsExample, toSettings, toSettingsOut } from './http.ts'
import type { Invoices } from './service/invoices.ts'
import type { ReceiptMails } from './service/mails.ts'

/** The dashboard's procedures for receipts and invoices. */
export function invoicesRouter(invoices: Invoices, mails: ReceiptMails) {
  return router({
    settings: person.query(async ({ ctx }) => toSettingsOut(await invoices.settings(ctx.caller))),
    changeSettings: person
      .input(asked(settingsBody, settingsExample))
      .mutation(async ({ ctx, input }) => toSettingsOut(await invoices.changeSettings(ctx.caller, toSettings(input)))),
    receiptAddress: person.input(asked(named)).query(async ({ ctx, input }) => await mails.ofOwn(ctx.caller, input.id)),
    /** The dashboard's address need not be the API's, so it cannot read the document from there. */
    pdf: person.input(asked(named)).query(async ({ ctx, input }) => {
      const { invoice, bytes } = await invoices.ownPdf(ctx.caller, input.id)
      return { number: invoice.number, base64: bytes.toString('base64') }
    }),
    mailReceipt: person
      .input(asked(named))
      .mutation(async ({ ctx, input }) => ({ email: await mails.sendOwn(ctx.caller, input.id) })),
  })
}
