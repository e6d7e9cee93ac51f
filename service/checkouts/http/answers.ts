import { z } from 'zod'
import { fieldOut } from '../../kit/fields.ts'
import type { Reader } from '../../kit/language.ts'
import { amountOut, timestamp } from '../../kit/wire.ts'
import { PASS_STATUSES } from '../../passes/model.ts'
import { RIGHTS } from '../../sales/model.ts'
import { ON_ERROR } from '../model.ts'
import type { CheckoutPages } from '../ports.ts'
import type { PaymentView } from '../views.ts'
import { CAPTURES, NETWORK_NAMES } from './bodies.ts'
import { linesOut, planOut, pricingOut } from './price.ts'

const afterOut = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('webhook') }),
  z.object({ kind: z.literal('text'), text: z.string() }),
  z.object({ kind: z.literal('link'), url: z.string() }),
  z.object({ kind: z.literal('file'), fileId: z.string(), name: z.string(), mediaType: z.string(), bytes: z.int() }),
])

const resultOut = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('text'), text: z.string().meta({ description: 'Markdown' }) }),
    z.object({ kind: z.literal('link'), url: z.string() }),
    z.object({
      kind: z.literal('file'),
      name: z.string(),
      mediaType: z.string(),
      bytes: z.int(),
      url: z.string().nullable().meta({ description: 'The download; only for the buyer' }),
    }),
  ])
  .nullable()
  .meta({
    description: 'What was bought, where no workflow is called; only for the buyer and the owner, once it is paid',
  })

const source = z.object({ instanceId: z.string(), workflowId: z.string(), nodeId: z.string() })

export const checkoutOut = z
  .object({
    id: z.string(),
    url: z.string().meta({ description: 'The address of the payment page' }),
    x402Url: z.string().meta({ description: 'The same address, for agents' }),
    mcpUrl: z.string().meta({ description: 'The checkout as a tool, for MCP clients' }),
    status: z.enum(['active', 'paused', 'expired']),
    lifetime: z.enum(['temporary', 'persistent']),
    expiresAt: timestamp
      .nullable()
      .meta({ description: 'When a temporary checkout expires unless a heartbeat arrives' }),
    callbackUrl: z.string().nullable(),
    after: afterOut,
    picture: z.object({ fileId: z.string(), width: z.int(), height: z.int() }).nullable(),
    product: z.object({ name: z.string(), description: z.string().nullable() }),
    price: amountOut,
    pricing: pricingOut,
    coupons: z.boolean(),
    currency: z.literal('USDC'),
    network: z.enum(NETWORK_NAMES),
    recipient: z.string().nullable(),
    fields: z.array(fieldOut),
    redirectUrl: z.string().nullable(),
    testMode: z.boolean(),
    responseMode: z.enum(['immediately', 'lastNode']),
    preflight: z.boolean(),
    onUnconfirmed: z.enum(['hold', 'redeliver']),
    onError: z.enum(ON_ERROR),
    capture: z.enum(CAPTURES),
    runSeconds: z.int(),
    refundOnFailure: z.boolean(),
    embedOrigins: z.array(z.string()),
    trialRuns: z.int(),
    trialsPerDay: z.int(),
    plans: z.array(planOut),
    chat: z.object({ greeting: z.string().nullable() }).nullable(),
    notify: z.object({ sale: z.boolean(), failure: z.boolean() }),
    source: source.nullable(),
    version: z.int().meta({ description: 'The number of the version; a change that buyers can see makes a new one' }),
    pausedAt: timestamp
      .nullable()
      .meta({ description: 'When the checkout was paused because its workflow was not found' }),
    expiredAt: timestamp.nullable(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Checkout' })

export const refundOut = z.object({
  id: z.string(),
  state: z.enum(['requested', 'funded', 'sent', 'confirmed', 'failed']),
  amount: amountOut,
  txHash: z.string().nullable(),
  explorerUrl: z.string().nullable(),
})

export const requestOut = z.object({
  id: z.string(),
  status: z.enum(['open', 'paying', 'paid', 'refused', 'expired']),
  amount: amountOut,
  currency: z.literal('USDC'),
  note: z.string(),
  url: z.string().meta({ description: 'The page on which it is paid' }),
  paymentId: z.string().nullable().meta({ description: 'The payment of it; null while none has begun' }),
  expiresAt: timestamp,
})

export const paymentOut = z
  .object({
    payment: z.object({
      id: z.string(),
      checkoutId: z.string(),
      status: z.enum(['created', 'settling', 'paid', 'failed']),
      txHash: z.string().nullable(),
      amount: amountOut,
      lines: linesOut,
      refunded: amountOut.meta({ description: 'What went back of it, or is about to' }),
      refunds: z.array(refundOut).meta({
        description: 'Its refunds, oldest first, at the payment’s own address; for the buyer and the owner',
      }),
      collect: z.object({ addressId: z.string(), token: z.string() }).nullable().meta({
        description:
          'Where an order that was paid by a transfer is refunded: its buyer says where the money goes with POST /p/{chk}/addresses/{addressId}/return and this token. Null for all others',
      }),
      currency: z.literal('USDC'),
      network: z.enum(NETWORK_NAMES),
      payer: z.string(),
      explorerUrl: z.string().nullable(),
      reason: z.object({ code: z.string(), sentence: z.string() }).nullable(),
      statusUrl: z.string(),
      testMode: z.boolean(),
      capture: z.enum(CAPTURES),
      deadline: timestamp.nullable().meta({
        description: 'With `onSuccess` and `escrow`: nothing is charged unless the workflow has succeeded by then',
      }),
      escrow: z
        .object({
          contract: z.string(),
          captureBy: timestamp.meta({ description: 'After it the payer can take back what was not captured' }),
          state: z.enum([
            'authorizing',
            'waiting',
            'capturing',
            'captured',
            'voiding',
            'voided',
            'reclaimable',
            'none',
          ]),
          authorizedTx: z.string().nullable(),
          voidedTx: z.string().nullable(),
        })
        .nullable()
        .meta({ description: 'Where the money waits, or waited, in a contract' }),
      free: z.enum(RIGHTS).nullable().meta({ description: 'Why it cost nothing; null for a payment with money' }),
      pass: z
        .object({
          id: z.string(),
          plan: z.object({ id: z.string(), name: z.string() }),
          status: z.enum(PASS_STATUSES),
          runs: z.int().nullable(),
          runsLeft: z.int().nullable(),
          until: timestamp.nullable(),
          token: z.string().nullable().meta({ description: 'For the buyer of the pass only: uses it' }),
        })
        .nullable()
        .meta({ description: 'The pass that it has bought or used' }),
      createdAt: timestamp,
      paidAt: timestamp.nullable(),
      redirectUrl: z.string().nullable(),
      token: z.string().nullable().meta({ description: 'For the buyer only: fetches the answer again' }),
      receiptUrl: z.string().nullable(),
      signedReceipt: z.string().nullable().meta({
        description: 'The receipt by the x402 extension offer-receipt, as a JWS; for the buyer and the owner',
      }),
      verifyUrl: z.string().nullable().meta({ description: 'A page that verifies the signed receipt' }),
    }),
    result: resultOut,
    requests: z.array(requestOut).meta({
      description: 'The further amounts that the buyer is asked for, oldest first; for the buyer and the owner',
    }),
    delivery: z
      .object({
        id: z.string(),
        status: z.string(),
        attempts: z.int(),
        lastStatus: z.int().nullable(),
        lastError: z.string().nullable().meta({ description: 'Test mode only' }),
        nextAttemptAt: timestamp.nullable(),
        history: z
          .array(z.object({ at: timestamp, status: z.int().nullable(), error: z.string().nullable() }))
          .nullable()
          .meta({ description: 'The last ten attempts, oldest first; test mode only' }),
        answer: z.string().nullable(),
        failure: z
          .string()
          .nullable()
          .meta({ description: 'Why the order has failed, in the seller’s words; for the buyer and the owner' }),
        progress: z
          .array(z.object({ text: z.string(), percent: z.int().nullable(), at: timestamp }))
          .meta({ description: 'What the workflow writes while it works; for the buyer and the owner' }),
      })
      .nullable(),
  })
  .meta({ id: 'CheckoutPayment' })

/** The type check forces every field that is added to the view to be described in the schema too. */
export function shown(view: PaymentView): z.input<typeof paymentOut> {
  return view
}

/** What every route of a checkout's page has. */
export function commonOf(pages: CheckoutPages) {
  return {
    tag: 'Hosted checkout',
    auth: 'anyone',
    errorPage: (error: Parameters<CheckoutPages['missing']>[0], reader: Reader) => pages.missing(error, reader),
  } as const
}

/** The quote in the answer expires after ten minutes, and a browser gets a page at the same address. */
export const FRESH = { 'Cache-Control': 'no-store', Vary: 'Accept' }
export const GONE = {
  404: 'The checkout does not exist or has expired.',
  503: 'The workflow is not available; nothing is charged.',
}
