import { z } from 'zod'
import { reply, route, type AnyRoute } from '../../api/route.ts'
import { amountOut, timestamp } from '../../kit/wire.ts'
import { PRODUCTS } from '../../sales/model.ts'
import { receiptMissing } from '../errors.ts'
import { paymentOut } from './bodies.ts'
import type { CheckoutPages, Receipts } from '../ports.ts'

/** `/receipts/{pay}`: the receipts for all products, available as long as the payment is stored. */
export function receiptRoutes(receipts: Receipts, pages: CheckoutPages): AnyRoute[] {
  return [
    route({
      method: 'get',
      path: '/:pay',
      summary: 'The receipt of a payment, for its buyer: a page for a browser, JSON for a program',
      tag: 'Receipts',
      auth: 'anyone',
      errorPage: (error) => pages.missing(error),
      params: z.object({ pay: z.string() }),
      query: z.object({ token: z.string().optional().meta({ description: 'The token from the receipt link' }) }),
      answers: { 200: receiptOut },
      errors: { 404: 'There is no such payment, or the token belongs to another one.' },
      async handle({ params: { pay }, query, header, wantsPage }) {
        const found = await receipts(pay, header('x-payment-token') ?? query.token ?? null)
        if (found === null) throw receiptMissing()
        if (!wantsPage) return { ...reply(200, found.body), headers: FRESH }
        const { checkout } = found
        const page =
          checkout === null ? pages.receipt(found.body.receipt) : pages.payment(checkout.view, checkout.payment)
        return { ...reply(200, null), page, headers: FRESH }
      },
    }),
  ]
}

const FRESH = { 'Cache-Control': 'no-store', Vary: 'Accept' }

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
    }),
    delivery: paymentOut.shape.delivery.meta({ description: 'The delivery, if it was paid at a checkout' }),
  })
  .meta({ id: 'Receipt' })
