import { z } from 'zod'
import { NETWORKS, transactionUrl } from '../chain/networks.ts'
import { reply, route, type AnyRoute } from '../api/route.ts'
import { toWire } from '../kit/money.ts'
import { amountOut, page, positiveAmount, timestamp } from '../kit/wire.ts'
import { PRODUCTS, wasPaid, type NamedSale, type SaleFilter, type SaleState } from '../sales/model.ts'
import { sentenceOf } from '../x402/reasons.ts'
import { transferTypedData, transferTypedDataOut } from '../x402/typed-data.ts'
import { failureSentence, WAIT_SENTENCES } from './errors.ts'
import { REFUND_STATES, REFUND_WAYS, REQUESTERS, WAITS, type RefundedPayment, type ShownRefund } from './model.ts'
import { leftOf, ownAuthorization, signBeforeOf, WAIT_MS } from './rules.ts'
import type { Payments } from './service/payments.ts'

const common = { tag: 'Payments', auth: 'person' } as const

/** What was paid for products of the caller, and what goes back of it. */
export function paymentRoutes(payments: Payments): AnyRoute[] {
  return [
    route({
      ...common,
      method: 'get',
      path: '/payments',
      summary: 'Payments for your checkouts, paywalls and assets, newest first',
      query: page.extend(filters),
      answers: { 200: z.object({ payments: z.array(paymentOut), total: z.int(), limit: z.int(), offset: z.int() }) },
      async handle({ caller, query: { limit, offset, ...filter } }) {
        const { sales, total } = await payments.list(caller, toFilter(filter), { limit, offset })
        return reply(200, { payments: sales.map(toPayment), total, limit, offset })
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/payments/:id',
      summary: 'One payment with its refunds',
      params: z.object({ id: z.string() }),
      answers: { 200: z.object({ payment: wholeOut }) },
      errors: { 404: 'You have no such payment.' },
      handle: async ({ caller, params }) =>
        reply(200, { payment: toWholePayment(await payments.get(caller, params.id)) }),
    }),
    route({
      ...common,
      method: 'post',
      path: '/payments/:id/refund',
      summary: 'Send a payment back to its payer, whole or in part, from your balance or from your own wallet',
      idempotent: true,
      params: z.object({ id: z.string() }),
      body: refundBody,
      answers: { 202: z.object({ refund: refundOut }) },
      errors: {
        403: "An agent's key may not refund, or payouts to the payer's address are not allowed.",
        404: 'You have no such payment.',
        409: 'The payment has not arrived, less is left of it, or it cannot be paid from there.',
        503: 'This server has no chain to pay out on, or cannot read it now.',
      },
      async handle({ caller, params, body, operation, keyHash, mayHaveBegun }) {
        const { amount = null, reason, from } = body
        const input = { paymentId: params.id, amount, reason, from, keyHash, mayHaveBegun }
        return reply(202, { refund: toRefund(await payments.refund(caller, input, operation)) })
      },
    }),
    route({
      ...common,
      method: 'post',
      path: '/payments/:id/refunds/:refundId/signature',
      summary: 'Hand in the signature for a refund from your own wallet; the server carries it out and pays the gas',
      params: z.object({ id: z.string(), refundId: z.string() }),
      body: signatureBody,
      answers: { 202: z.object({ refund: refundOut }) },
      errors: {
        400: 'The signature is not one of `toSign` by the wallet that received the payment.',
        403: "An agent's key may not refund.",
        404: 'You have no such payment, or it has no such refund.',
        409: 'The refund is not paid from your own wallet, has failed, the time to sign it is over, or that wallet has too little USDC.',
        503: 'The chain cannot be read now.',
      },
      async handle({ caller, params: { id: paymentId, refundId }, body: { signature } }) {
        return reply(202, { refund: toRefund(await payments.sign(caller, { paymentId, refundId, signature })) })
      },
    }),
  ]
}

export const refundBody = z.strictObject({
  amount: positiveAmount.nullish().meta({
    description: 'What goes back: at least 0.05 USDC, or all that is left of the payment. All that is left when absent',
  }),
  reason: z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(500, 'must have at most 500 characters')
    // PostgreSQL cannot hold it.
    .refine((text) => !text.includes('\0'), 'must not contain the character NUL')
    .meta({ description: 'Why, for your records and your webhook endpoints' }),
  from: z.enum(['balance', 'own']).default('balance').meta({
    description:
      '`balance`: your Coinslot balance. `own`: the wallet that received the payment; the answer says what to sign in it',
  }),
})

export const signatureBody = z.strictObject({
  signature: z
    .string()
    // A contract wallet's signature is longer than the 65 bytes of a key's.
    .max(16_384, 'must have at most 16384 characters')
    .regex(/^0x(?:[0-9a-fA-F]{2}){65,}$/, 'must be 0x and at least 65 pairs of hexadecimal digits')
    .meta({ examples: [`0x${'1b'.repeat(65)}`] })
    .transform((text) => text.toLowerCase() as `0x${string}`)
    .meta({ description: 'Of the typed data in `toSign`, by the wallet that received the payment' }),
})

const PAYMENT_STATES = ['created', 'settling', 'paid', 'refunded', 'released', 'failed'] as const
type PaymentState = (typeof PAYMENT_STATES)[number]

const STATES = {
  claimed: 'created',
  held: 'created',
  settling: 'settling',
  paid: 'paid',
  refunded: 'refunded',
  released: 'released',
  failed: 'failed',
} as const satisfies Record<SaleState, PaymentState>

const time = z
  .string()
  .refine(
    (text) => z.iso.datetime({ offset: true }).safeParse(text).success,
    'must be a time such as 2026-01-31T12:00:00Z',
  )
  .transform((text) => new Date(text))
  // The ids of payments begin with their times, and have no room for others.
  .refine((at) => at.getUTCFullYear() >= 1970 && at.getUTCFullYear() < 9999, 'must be a time from 1970 on')
  .meta({ format: 'date-time' })

export const filters = {
  product: z.enum(PRODUCTS).optional(),
  state: z.enum(PAYMENT_STATES).optional(),
  payer: z
    .string()
    .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address: 0x and 40 hexadecimal digits')
    .transform((text) => text.toLowerCase() as `0x${string}`)
    .optional()
    .meta({ description: 'The address that paid' }),
  from: time.optional().meta({ description: 'Began at this time or later', format: 'date-time' }),
  to: time.optional().meta({ description: 'Began before this time', format: 'date-time' }),
  refunded: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: 'Whether something of it went back, or is about to' }),
}

export function toFilter(filter: z.output<z.ZodObject<typeof filters>>): SaleFilter {
  const { product, state, payer, from, to, refunded } = filter
  const states = (Object.keys(STATES) as SaleState[]).filter((name) => STATES[name] === state)
  return {
    product: product ?? null,
    states: state === undefined ? null : states,
    payer: payer ?? null,
    email: null,
    from: from ?? null,
    to: to ?? null,
    refunded: refunded === undefined ? null : refunded === 'true',
  }
}

const reasonOut = z.object({ code: z.string(), sentence: z.string() })

const paymentOut = z
  .object({
    id: z.string(),
    product: z.enum(PRODUCTS),
    subject: z.string().meta({ description: 'The checkout, paywall or asset that was paid for' }),
    name: z.string().nullable().meta({ description: 'Your name for it' }),
    state: z.enum(PAYMENT_STATES).meta({
      description:
        '`created`: accepted. `settling`: the chain was asked. `paid`: the money arrived. `refunded`: all of it went back. `released`: it was not delivered, so nothing was charged. `failed`: no money arrived',
    }),
    amount: amountOut,
    refunded: amountOut.meta({ description: 'The sum of its refunds that have not failed' }),
    refundable: amountOut.meta({ description: 'What can still be refunded' }),
    currency: z.literal('USDC'),
    network: z.string(),
    payer: z.string(),
    recipient: z.string().nullable(),
    txHash: z.string().nullable(),
    explorerUrl: z.string().nullable(),
    reason: reasonOut.nullable().meta({ description: 'Why it failed' }),
    test: z.boolean().meta({ description: 'Simulated: no money moved' }),
    createdAt: timestamp,
    paidAt: timestamp.nullable(),
  })
  .meta({ id: 'Payment' })

const refundOut = z
  .object({
    id: z.string(),
    paymentId: z.string(),
    state: z.enum(REFUND_STATES).meta({
      description:
        '`requested`: it waits, see `waitsFor`. `funded`: its money is set aside. `sent`: the transfer is on its way. `confirmed`: the payer has the money. `failed`: nothing left your balance',
    }),
    amount: amountOut,
    currency: z.literal('USDC'),
    network: z.string(),
    to: z.string().meta({ description: 'The address that paid. Money goes nowhere else' }),
    from: z.enum(REFUND_WAYS).meta({
      description:
        "`wallet`: your balance, sent on the network of the payment. `account`: your balance, into the balance of the buyer's account here. `simulated`: no money moved. `own`: the wallet that received the payment",
    }),
    reason: z.string().nullable(),
    requestedBy: z.enum(REQUESTERS),
    waitsFor: z
      .object({ code: z.enum(WAITS), sentence: z.string(), missing: amountOut.nullable() })
      .nullable()
      .meta({ description: 'What a requested refund waits for, and how much your balance lacks' }),
    failure: reasonOut.nullable(),
    txHash: z.string().nullable(),
    explorerUrl: z.string().nullable(),
    test: z.boolean(),
    createdAt: timestamp,
    expiresAt: timestamp.nullable().meta({ description: 'A refund that still waits then fails' }),
    toSign: transferTypedDataOut.nullable().meta({
      description:
        'For a refund from your own wallet, until `expiresAt`: what `message.from` signs with `eth_signTypedData_v4`. You may also send that transfer yourself',
    }),
    fundedAt: timestamp.nullable(),
    sentAt: timestamp.nullable(),
    endedAt: timestamp.nullable(),
  })
  .meta({ id: 'Refund' })

const wholeOut = paymentOut.extend({ refunds: z.array(refundOut) }).meta({ id: 'PaymentWithRefunds' })

export function toPayment({ sale, name }: NamedSale): z.input<typeof paymentOut> {
  const { id, product, subject, state, network, payer, recipient, txHash, reason, simulated } = sale
  return {
    id,
    product,
    subject,
    name,
    state: STATES[state],
    amount: toWire(sale.amount),
    refunded: toWire(sale.refunded),
    refundable: sale.userId === null ? 0 : toWire(leftOf(sale)),
    currency: 'USDC',
    network,
    payer,
    recipient,
    txHash,
    explorerUrl: transactionUrl(sale.network, sale.txHash),
    reason: reason === null ? null : { code: reason, sentence: sentenceOf(reason) },
    test: simulated,
    createdAt: sale.createdAt.toISOString(),
    paidAt: wasPaid(sale) ? (sale.endedAt?.toISOString() ?? null) : null,
  }
}

export function toWholePayment(payment: RefundedPayment): z.input<typeof wholeOut> {
  const { sale, refunds } = payment
  return { ...toPayment(payment), refunds: refunds.map((refund) => toRefund({ refund, sale })) }
}

export function toRefund({ refund, sale }: ShownRefund): z.input<typeof refundOut> {
  const { id, state, waitsFor, missing, failure, txHash, createdAt } = refund
  return {
    id,
    paymentId: sale.id,
    state,
    amount: toWire(refund.amount),
    currency: 'USDC',
    network: sale.network,
    to: sale.payer,
    from: refund.way,
    reason: refund.reason,
    requestedBy: refund.requestedBy,
    waitsFor:
      waitsFor === null
        ? null
        : { code: waitsFor, sentence: WAIT_SENTENCES[waitsFor], missing: missing === null ? null : toWire(missing) },
    failure: failure === null ? null : { code: failure, sentence: failureSentence(failure) },
    txHash,
    explorerUrl: transactionUrl(sale.network, refund.txHash),
    test: sale.simulated,
    createdAt: createdAt.toISOString(),
    expiresAt:
      state === 'requested' ? (signBeforeOf(refund) ?? new Date(createdAt.getTime() + WAIT_MS)).toISOString() : null,
    toSign:
      state === 'requested' && refund.way === 'own'
        ? transferTypedData(NETWORKS[sale.network], ownAuthorization(refund, sale))
        : null,
    fundedAt: refund.fundedAt?.toISOString() ?? null,
    sentAt: refund.sentAt?.toISOString() ?? null,
    endedAt: refund.endedAt?.toISOString() ?? null,
  }
}
