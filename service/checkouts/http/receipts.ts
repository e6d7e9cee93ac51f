import { z } from 'zod'
import { reply, route, type AnyRoute } from '../../api/route.ts'
import { amountOut, timestamp } from '../../kit/wire.ts'
import { PRODUCTS } from '../../sales/model.ts'
import { receiptMissing } from '../errors.ts'
import { paymentOut, refundOut } from './answers.ts'
import { langQuery } from './bodies.ts'
import type { CheckoutPages, Receipts } from '../ports.ts'

/** `/receipts/{pay}`: the receipts for all products, available as long as the payment is stored. */
export function receiptRoutes(
  receipts: Receipts,
  pages: CheckoutPages,
  { issuers, address }: { issuers: Readonly<Record<string, string>>; address: string },
): AnyRoute[] {
  return [
    route({
      method: 'get',
      path: '/verify',
      summary: 'The page that verifies a signed receipt in the browser; for a program, where the keys are published',
      tag: 'Receipts',
      auth: 'anyone',
      query: z.object({ lang: langQuery }),
      answers: { 200: z.object({ issuers: z.record(z.string(), z.string()) }) },
      async handle({ wantsPage, reader }) {
        if (!wantsPage) return { ...reply(200, { issuers }), headers: FRESH }
        return { ...reply(200, null), page: pages.verify(issuers, new URL(address).origin, reader), headers: FRESH }
      },
    }),
    route({
      method: 'get',
      path: '/:pay',
      summary: 'The receipt of a payment, for its buyer: a page for a browser, JSON for a program',
      tag: 'Receipts',
      auth: 'anyone',
      errorPage: (error, reader) => pages.missing(error, reader),
      params: z.object({ pay: z.string() }),
      query: z.object({
        token: z.string().optional().meta({ description: 'The token from the receipt link' }),
        lang: langQuery,
      }),
      answers: { 200: receiptOut },
      errors: { 404: 'There is no such payment, or the token belongs to another one.' },
      async handle({ params: { pay }, query, header, wantsPage, reader }) {
        const found = await receipts(pay, header('x-payment-token') ?? query.token ?? null)
        if (found === null) throw receiptMissing()
        if (!wantsPage) return { ...reply(200, found.body), headers: FRESH }
        const { checkout, brand } = found
        const { receipt, dispute, signed } = found.body
        const page =
          checkout === null
            ? pages.receipt({ ...receipt, dispute, brand }, signed, reader)
            : pages.payment(checkout.view, checkout.payment, reader)
        return { ...reply(200, null), page, headers: FRESH }
      },
    }),
  ]
}

const FRESH = { 'Cache-Control': 'no-store', Vary: 'Accept' }

const jsonSigned = z.object({ format: z.literal('jws'), signature: z.string() })

const receiptOut = z
  .object({
    receipt: z.object({
      id: z.string(),
      product: z.enum(PRODUCTS),
      name: z.string(),
      status: z.string(),
      amount: amountOut,
      currency: z.literal('USDC'),
      network: z.string(),
      payer: z.string(),
      txHash: z.string().nullable(),
      testMode: z.boolean(),
      createdAt: timestamp,
      paidAt: timestamp.nullable(),
      refunds: z.array(refundOut).meta({ description: 'What went back of it, is about to, or did not, oldest first' }),
    }),
    delivery: paymentOut.shape.delivery.meta({ description: 'The delivery, if it was paid at a checkout' }),
    result: paymentOut.shape.result,
    dispute: z
      .object({
        id: z.string(),
        state: z.string(),
        reason: z.string(),
        answer: z.string().nullable().meta({ description: "The seller's words" }),
        answerBy: timestamp,
        createdAt: timestamp,
      })
      .nullable()
      .meta({ description: 'The report of a problem with the payment; null if there is none' }),
    signed: z
      .object({
        eip712: z.object({
          format: z.literal('eip712'),
          payload: z.object({
            version: z.literal(1),
            network: z.string(),
            resourceUrl: z.string(),
            payer: z.string(),
            issuedAt: z.int(),
            transaction: z.string(),
          }),
          signature: z.string(),
        }),
        jws: jsonSigned,
        terms: jsonSigned.nullable().meta({ description: 'The terms that were paid, as a signed offer' }),
        verifyUrl: z.string().meta({ description: 'A page that verifies the receipt in the browser' }),
      })
      .nullable()
      .meta({
        description: 'The receipt by the x402 extension offer-receipt; null unless it was paid on a chain',
      }),
  })
  .meta({ id: 'Receipt' })
