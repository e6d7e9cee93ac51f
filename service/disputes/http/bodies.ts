import { z } from 'zod'
import type { Address, Hex } from '../../chain/model.ts'
import { plainText } from '../../kit/fields.ts'
import { toWire, usdc } from '../../kit/money.ts'
import { amount, amountOut, positiveAmount, timestamp } from '../../kit/wire.ts'
import { PRODUCTS } from '../../sales/model.ts'
import {
  AGENTS,
  DENIALS,
  DISPUTE_STATES,
  REASONS,
  UNANSWERED,
  type Dispute,
  type RefundAnswer,
  type RefundClaim,
  type RefundPolicy,
  type ShownDispute,
} from '../model.ts'

const TEXT_MAX = 1_000
const text = plainText(TEXT_MAX)

const moment = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2026-01-31T12:00:00Z' })
  .transform((value) => new Date(value))
  .meta({ format: 'date-time', description: 'When the signature ends: within an hour. The signed text contains it' })

const signature = z
  .string()
  .regex(/^0x([0-9a-fA-F]{2}){1,4096}$/, 'must be 0x and at most 4096 bytes in hexadecimal digits')
  .transform((value) => value as Hex)
  .meta({ description: 'Of the text in docs/disputes.md (EIP-191), by the key or the contract that paid' })

export const reportBody = z
  .strictObject({
    reason: z.enum(REASONS),
    text: text.nullish().meta({ description: 'What happened, for the seller' }),
    signature: signature.optional(),
    expiresAt: moment.optional(),
  })
  .refine(({ signature, expiresAt }) => (signature === undefined) === (expiresAt === undefined), {
    path: ['expiresAt'],
    message: 'must be sent with a signature, and only then',
  })

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address: 0x and 40 hexadecimal digits')
  .transform((value) => value.toLowerCase() as Address)

/** Clients may send fields of later versions of the proposal, so unknown ones are ignored. */
export const requestBody = z.object({
  x402Version: z.literal(2),
  paymentReference: z.object({
    txHash: z
      .string()
      .regex(/^0x[0-9a-fA-F]{64}$/, 'must be a transaction hash')
      .transform((value) => value.toLowerCase()),
    network: z
      .string()
      .max(50)
      .meta({ description: 'CAIP-2', examples: ['eip155:8453'] }),
    paymentId: plainText(200).nullish().meta({
      description: 'The payment (`pay_…`), or your own identifier of it: needed if you paid twice in one transaction',
    }),
  }),
  amount: z
    .string()
    .regex(/^[1-9]\d{0,15}$/, 'must be a whole number of micro-USDC, as a string')
    .transform((value) => usdc(BigInt(value)))
    .meta({ description: 'In micro-USDC', examples: ['10000'] }),
  reason: z.enum(REASONS),
  reasonDetail: text.nullish(),
  refundTo: address.nullish().meta({ description: 'The address that paid. Every other one is denied' }),
  idempotencyKey: z.uuid('must be a UUID').transform((value) => value.toLowerCase()),
  payerSignature: signature.optional(),
  expiresAt: moment.optional(),
})

export function toClaim(body: z.output<typeof requestBody>, token: string | null): RefundClaim {
  const { paymentReference, payerSignature, expiresAt } = body
  return {
    txHash: paymentReference.txHash,
    network: paymentReference.network,
    paymentId: paymentReference.paymentId ?? null,
    amount: body.amount,
    reason: body.reason,
    detail: body.reasonDetail ?? null,
    refundTo: body.refundTo ?? null,
    key: body.idempotencyKey,
    proof: payerSignature === undefined || expiresAt === undefined ? null : { signature: payerSignature, expiresAt },
    token,
  }
}

export const requestOut = z
  .object({
    status: z.enum(['executed', 'pending', 'denied']),
    amount: z.string().meta({ description: 'In micro-USDC' }),
    refundTxHash: z
      .string()
      .nullable()
      .optional()
      .meta({ description: 'Null where the buyer has an account here, and its balance got the money' }),
    denialReason: z.enum(DENIALS).optional(),
  })
  .meta({ id: 'RefundRequestAnswer' })

export function toRequestOut(answer: RefundAnswer): z.input<typeof requestOut> {
  return { ...answer, amount: String(answer.amount) }
}

export const answerBody = z
  .strictObject({
    action: z.enum(['refund', 'decline']),
    amount: positiveAmount
      .nullish()
      .meta({ description: 'With `refund`: what goes back; all that is left when absent' }),
    text: text.nullish().meta({ description: 'For the buyer' }),
  })
  .refine(({ action, amount }) => action === 'refund' || amount == null, {
    path: ['amount'],
    message: 'is for the action refund only',
  })

export const policyBody = z
  .strictObject({
    windowDays: z.int().min(0).max(365).meta({
      description: 'How long after the payment a buyer can report a problem. 0: not at all',
    }),
    answerDays: z.int().min(1).max(30).meta({ description: 'How long you have to answer' }),
    unanswered: z.enum(UNANSWERED).meta({ description: 'What happens to a report that you do not answer' }),
    partialRefunds: z.boolean().meta({ description: 'Whether programs may ask for a part of a payment' }),
    agents: z.enum(AGENTS).meta({
      description:
        '`automatic`: requests of programs are refunded at once, within the limits and twice in 24 hours for a wallet. `asked`: you answer them',
    }),
    automaticPerSale: amount.meta({ description: 'The most that is refunded of one payment without asking you' }),
    automaticPerDay: amount.meta({ description: 'The same for all payments together, in 24 hours' }),
  })
  .partial()

export const policyOut = z
  .object({
    windowDays: z.int(),
    answerDays: z.int(),
    unanswered: z.enum(UNANSWERED),
    partialRefunds: z.boolean(),
    agents: z.enum(AGENTS),
    automaticPerSale: amountOut,
    automaticPerDay: amountOut,
  })
  .meta({ id: 'RefundPolicy' })

export function toPolicy({ automaticPerSale, automaticPerDay, ...body }: z.output<typeof policyBody>) {
  const all = { ...body, perSale: automaticPerSale, perDay: automaticPerDay }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Partial<RefundPolicy>
}

export function toPolicyOut({ perSale, perDay, ...policy }: RefundPolicy): z.input<typeof policyOut> {
  return { ...policy, automaticPerSale: toWire(perSale), automaticPerDay: toWire(perDay) }
}

const buyerFields = {
  id: z.string(),
  state: z.enum(DISPUTE_STATES).meta({
    description:
      '`open`: the seller has not answered. `refunding`: a refund is on its way. `refunded`: the buyer has the money. `declined`: the seller said no. `closed`: it was not answered in time',
  }),
  reason: z.enum(REASONS),
  text: z.string().nullable(),
  answer: z.string().nullable().meta({ description: "The seller's words" }),
  answerBy: timestamp,
  refundId: z.string().nullable(),
  createdAt: timestamp,
  endedAt: timestamp.nullable(),
}

/** A dispute as its buyer sees it. */
export const reportOut = z.object(buyerFields).meta({ id: 'Report' })

export function toReportOut(dispute: Dispute): z.input<typeof reportOut> {
  const { id, state, reason, text, answer, answerBy, refundId, createdAt, endedAt } = dispute
  return {
    id,
    state,
    reason,
    text,
    answer,
    refundId,
    answerBy: answerBy.toISOString(),
    createdAt: createdAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
  }
}

export const disputeOut = z
  .object({
    ...buyerFields,
    openedBy: z.enum(['buyer', 'agent']),
    amount: amountOut.meta({ description: 'What the buyer asks for' }),
    unanswered: z.enum(UNANSWERED).meta({ description: 'What happens without an answer' }),
    decidedBy: z.enum(['seller', 'deadline', 'policy']).nullable(),
    refundFailure: z.string().nullable().meta({ description: 'Why the last refund failed. You can answer again' }),
    payment: z.object({
      id: z.string(),
      product: z.enum(PRODUCTS),
      subject: z.string(),
      amount: amountOut,
      refundable: amountOut,
      payer: z.string(),
      network: z.string(),
      test: z.boolean(),
    }),
  })
  .meta({ id: 'Dispute' })

export function toDisputeOut({ dispute, sale }: ShownDispute): z.input<typeof disputeOut> {
  const { openedBy, unanswered, decidedBy, refundFailure, payer } = dispute
  const { id, product, subject, network, simulated: test } = sale
  const paid = toWire(sale.amount)
  return {
    ...toReportOut(dispute),
    openedBy,
    unanswered,
    decidedBy,
    refundFailure,
    amount: dispute.amount === null ? paid : toWire(dispute.amount),
    payment: {
      id,
      product,
      subject,
      payer,
      network,
      test,
      amount: paid,
      refundable: toWire(usdc(sale.amount - sale.refunded)),
    },
  }
}
