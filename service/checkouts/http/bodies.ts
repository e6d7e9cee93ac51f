import { z } from 'zod'
import type { Address } from '../../chain/model.ts'
import { recipientAddress } from '../../kit/address.ts'
import { fieldOut, fieldsSchema, isWebAddress, plainLine, plainText } from '../../kit/fields.ts'
import { ZERO } from '../../kit/money.ts'
import { amountOut, positiveAmount, timestamp } from '../../kit/wire.ts'
import { TOKEN } from '../../sales/service/proof.ts'
import type { Change } from '../service/lifecycle.ts'
import { OUTCOMES, type PaymentView, type Terms } from '../model.ts'

const webAddress = plainText(2_048).refine(isWebAddress, 'must be an http or https address')

const CAPTURES = ['onPayment', 'onSuccess', 'escrow'] as const
const NETWORK_NAMES = ['base', 'base-sepolia'] as const

/** The terms that an owner sends for a checkout. */
export const termsBody = z
  .strictObject({
    callbackUrl: webAddress.meta({ description: 'The address that receives each paid input' }),
    product: z.strictObject({ name: plainLine(200), description: plainText(5_000).nullish() }),
    price: positiveAmount,
    network: z.enum(NETWORK_NAMES),
    recipient: recipientAddress
      .transform((text) => text.toLowerCase() as Address)
      .nullish()
      .meta({ description: "The address that receives the payments; defaults to the owner's wallet" }),
    fields: fieldsSchema.nullish().meta({ description: 'The form that the customer fills in' }),
    redirectUrl: webAddress.nullish().meta({ description: 'Where the customer is sent after paying' }),
    testMode: z.boolean().nullish().meta({ description: 'Payments are simulated; nothing goes on chain' }),
    lifetime: z.enum(['temporary', 'persistent']).nullish().meta({ description: 'Defaults to `persistent`' }),
    responseMode: z.enum(['immediately', 'lastNode']).nullish(),
    preflight: z.boolean().nullish().meta({ description: 'Check that the workflow is available before each payment' }),
    onUnconfirmed: z.enum(['hold', 'redeliver']).nullish(),
    capture: z.enum(CAPTURES).nullish().meta({
      description:
        'When the money moves: `onPayment`, before the workflow runs; `onSuccess`, only once it has succeeded; `escrow`, it waits in a contract until the workflow has ended. Defaults to `onPayment`',
    }),
    runSeconds: z.int().min(10).max(86_400).nullish().meta({
      description:
        'With `onSuccess` and `escrow`: after so many seconds without an outcome nothing is charged. Defaults to 180',
    }),
    refundOnFailure: z.boolean().nullish().meta({
      description: 'With `onPayment`: refund a payment whose delivery or workflow fails',
    }),
    source: z
      .strictObject({ instanceId: plainText(200), workflowId: plainText(200), nodeId: plainText(200) })
      .nullish()
      .meta({
        description: 'The workflow node behind the checkout: the same source gets the same checkout and secret back',
      }),
  })
  .meta({ id: 'CheckoutTerms' })

/** The terms that an owner changes. What is absent stays. */
export const changeBody = termsBody
  .omit({ lifetime: true, source: true })
  .partial()
  .extend({
    version: z.int().min(1).optional().meta({
      description: 'The version that you have read: if there is a newer one, nothing is changed (409)',
    }),
  })
  .meta({ id: 'CheckoutChange' })

export function toChange({ version, ...body }: z.output<typeof changeBody>): Change {
  const isSent = ([name]: [string, unknown]): boolean => body[name as keyof typeof body] !== undefined
  const sent = Object.fromEntries(Object.entries(body).filter(isSent))
  const terms = Object.entries(toTerms({ ...NOTHING, ...sent })).filter(isSent)
  return { ...Object.fromEntries(terms), version: version ?? null }
}

/** For a preview of terms that are not complete yet. */
export function toDraftTerms(body: z.output<typeof changeBody>): Terms {
  return { ...toTerms(NOTHING), ...toChange(body) }
}

/** Stands for the terms that a change leaves as they are. */
const NOTHING = { callbackUrl: '', product: { name: '' }, price: ZERO, network: 'base-sepolia' } as const

export function toTerms(body: z.output<typeof termsBody>): Terms {
  return {
    callbackUrl: body.callbackUrl,
    product: { name: body.product.name, description: body.product.description ?? null },
    price: body.price,
    network: body.network,
    recipient: body.recipient ?? null,
    fields: body.fields ?? [],
    redirectUrl: body.redirectUrl ?? null,
    testMode: body.testMode ?? false,
    lifetime: body.lifetime ?? 'persistent',
    responseMode: body.responseMode ?? 'immediately',
    preflight: body.preflight ?? false,
    onUnconfirmed: body.onUnconfirmed ?? 'hold',
    capture: body.capture ?? 'onPayment',
    runSeconds: body.runSeconds ?? RUN_SECONDS,
    refundOnFailure: body.refundOnFailure ?? false,
    source: body.source ?? null,
  }
}

/** As long as a workflow's answer is waited for. */
const RUN_SECONDS = 180

/** The customer's input. Its fields differ between checkouts, so each checkout validates its own. */
export const inputBody = z.custom<Readonly<Record<string, unknown>>>(isObject, 'must be an object').meta({
  override: { type: 'object', description: "Values of the checkout's fields, by name" },
})

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Number)
}

export const payBody = z
  .strictObject({
    input: inputBody.optional().meta({
      override: { type: 'object', description: "Values of the checkout's fields, by name; required without an order" },
    }),
    order: z.string().max(2_000).optional().meta({
      description:
        'Pay for the call of a model: the order from the link of its page, in place of the input. Needs a token',
    }),
    paymentPayload: inputBody.optional().meta({
      override: { type: 'object', description: 'An x402 payload of either version: the signed authorization' },
    }),
    simulate: z
      .literal(true, 'must be true or absent')
      .optional()
      .meta({ description: 'Simulate the payment instead; test mode only' }),
    outcome: z.enum(OUTCOMES).optional().meta({
      description: 'With simulate: the result of the payment; defaults to `paid`. `slow` is paid after a few seconds',
    }),
    quoteId: z
      .string()
      .max(500)
      .optional()
      .meta({ description: "The quote from GET; without it, today's price applies" }),
    token: z
      .string()
      .regex(TOKEN, 'must be tok_ and 43 characters')
      .optional()
      .meta({ description: 'Choose a token before you pay. If the answer gets lost, fetch it again with this token' }),
    paymentId: z.string().max(100).optional().meta({
      description: 'The id or nonce of a payment made here, to fetch its answer; needs its token or a fresh signature',
    }),
  })
  .refine(({ paymentPayload, simulate, paymentId }) => paidBy(paymentPayload, simulate, paymentId), {
    path: ['paymentPayload'],
    message: 'is required, unless simulate is true in test mode',
  })
  .refine(({ input, order }) => (input === undefined) !== (order === undefined), {
    path: ['input'],
    message: 'is required, unless there is an order',
  })
  .refine(({ order, token }) => order === undefined || token !== undefined, {
    path: ['token'],
    message: 'is required with an order: others may know its link',
  })
  .refine(({ simulate, outcome }) => outcome === undefined || simulate === true, {
    path: ['outcome'],
    message: 'must be absent unless simulate is true',
  })

function paidBy(payload: unknown, simulate: unknown, paymentId: unknown): boolean {
  if (paymentId !== undefined) return simulate === undefined
  return (payload === undefined) !== (simulate === undefined)
}

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
    callbackUrl: z.string(),
    product: z.object({ name: z.string(), description: z.string().nullable() }),
    price: amountOut,
    currency: z.literal('USDC'),
    network: z.enum(NETWORK_NAMES),
    recipient: z.string().nullable(),
    fields: z.array(fieldOut),
    redirectUrl: z.string().nullable(),
    testMode: z.boolean(),
    responseMode: z.enum(['immediately', 'lastNode']),
    preflight: z.boolean(),
    onUnconfirmed: z.enum(['hold', 'redeliver']),
    capture: z.enum(CAPTURES),
    runSeconds: z.int(),
    refundOnFailure: z.boolean(),
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

export const paymentOut = z
  .object({
    payment: z.object({
      id: z.string(),
      checkoutId: z.string(),
      status: z.enum(['created', 'settling', 'paid', 'failed']),
      txHash: z.string().nullable(),
      amount: amountOut,
      refunded: amountOut.meta({ description: 'What went back of it, or is about to' }),
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
      })
      .nullable(),
  })
  .meta({ id: 'CheckoutPayment' })

/** The type check forces every field that is added to the view to be described in the schema too. */
export function shown(view: PaymentView): z.input<typeof paymentOut> {
  return view
}
