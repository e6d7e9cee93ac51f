import { z } from 'zod'
import type { Address, Hex } from '../../chain/model.ts'
import { recipientAddress } from '../../kit/address.ts'
import { fieldsSchema, isWebAddress, plainLine, plainText } from '../../kit/fields.ts'
import { ZERO } from '../../kit/money.ts'
import { positiveAmount } from '../../kit/wire.ts'
import { TOKEN_FAULT } from '../../sales/errors.ts'
import { TOKEN } from '../../sales/service/proof.ts'
import type { Change } from '../service/lifecycle.ts'
import { isOrigin } from '../rules/embedding.ts'
import { planWith, type Plan } from '../../passes/model.ts'
import { OUTCOMES } from '../../methods/simulated/outcome.ts'
import { ON_ERROR, type After, type Terms } from '../model.ts'
import { choiceBody, inputBody, receiptBody } from '../service/bodies.ts'
import { plansBody, pricingBody } from './price.ts'

const webAddress = plainText(2_048).refine(isWebAddress, 'must be an http or https address')

const embedOrigin = plainLine(260).refine(
  isOrigin,
  'must be an origin such as https://shop.example.com, without a path',
)

const GREETING_CHARACTERS_MAX = 1_000
const TEXT_BYTES_MAX = 50_000
const DRAFT_CHARACTERS_MAX = 20_000

/** The most that a buyer sends. */
export const PAYER_BYTES_MAX = 65_536

export const CAPTURES = ['onPayment', 'onSuccess', 'escrow'] as const
export const NETWORK_NAMES = ['base', 'base-sepolia'] as const

/** What a payment leads to. */
const afterBody = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('webhook') }),
    z.strictObject({
      kind: z.literal('text'),
      text: plainText(TEXT_BYTES_MAX).refine(
        (text) => Buffer.byteLength(text) <= TEXT_BYTES_MAX,
        'must be at most 50 kB',
      ),
    }),
    z.strictObject({
      kind: z.literal('link'),
      url: webAddress.refine((url) => url.startsWith('https:'), 'must be an https address'),
    }),
    z.strictObject({ kind: z.literal('file'), fileId: z.string().max(100) }),
  ])
  .meta({
    id: 'CheckoutAfter',
    description:
      'What the buyer gets: `webhook`, what the workflow at `callbackUrl` makes; `text` (Markdown), `link` or `file` at once, and only after paying',
  })

/** The terms that an owner sends for a checkout. */
export const termsBody = z
  .strictObject({
    callbackUrl: webAddress
      .nullish()
      .meta({ description: 'The address that receives each paid input; required unless `after` is something else' }),
    after: afterBody.nullish(),
    picture: z.string().max(100).nullish().meta({
      description: 'The id of an uploaded picture of the product (`purpose=picture`)',
    }),
    product: z.strictObject({ name: plainLine(200), description: plainText(5_000).nullish() }),
    price: positiveAmount.optional().meta({
      description:
        'Required with `fixed`, and for each with `quantity`. With the other kinds of `pricing` it follows from them',
    }),
    pricing: pricingBody.nullish(),
    coupons: z.boolean().nullish().meta({ description: "Whether buyers may use the account's coupons" }),
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
    onError: z.enum(ON_ERROR).nullish().meta({
      description:
        'What an answer of 4xx or 5xx means: `fail`, the order has failed, unless it is 408, 425, 429, or 503 with Retry-After; `retry`, it is delivered again. Defaults to `fail` with `lastNode` and without `source`, otherwise to `retry`',
    }),
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
    embedOrigins: z.array(embedOrigin).max(20).nullish().meta({
      description: 'The sites that may show the payment page in a frame, as origins: `https://shop.example.com`',
    }),
    trialRuns: z.int().min(0).max(100).nullish().meta({
      description: 'How many runs each wallet gets for nothing. Defaults to 0',
    }),
    trialsPerDay: z.int().min(1).max(10_000).nullish().meta({
      description: 'How many such runs all wallets together get on a day (UTC). Defaults to 50',
    }),
    plans: plansBody.nullish().meta({
      description: 'What buyers can pay for ahead: a number of runs, or a period. At most 10',
    }),
    chat: z
      .strictObject({ greeting: plainText(GREETING_CHARACTERS_MAX).nullish() })
      .nullish()
      .meta({
        description:
          'A conversation whose turns are paid ahead: the runs of a plan. Its form is one field, `message`. Needs a plan, `responseMode` `lastNode` and `capture` `onPayment`',
      }),
    notify: z.strictObject({ sale: z.boolean(), failure: z.boolean() }).nullish().meta({
      description:
        'About what your own e-mail address is told: each sale, and each sale whose delivery failed. After five mails in an hour one mail has the others. Defaults to failures alone',
    }),
    source: z
      .strictObject({ instanceId: plainText(200), workflowId: plainText(200), nodeId: plainText(200) })
      .nullish()
      .meta({
        description: 'The workflow node behind the checkout: the same source gets the same checkout and secret back',
      }),
  })
  .meta({ id: 'CheckoutTerms' })

/** The smallest checkout. */
export const termsExample: z.input<typeof termsBody> = {
  callbackUrl: 'https://example.com/hook',
  product: { name: 'SEO audit' },
  price: 5,
  network: 'base-sepolia',
  testMode: true,
}

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
const NOTHING = { product: { name: '' }, network: 'base-sepolia' } as const

export function toTerms(body: z.output<typeof termsBody>): Terms {
  return {
    callbackUrl: body.callbackUrl ?? null,
    after: toAfter(body.after ?? { kind: 'webhook' }),
    picture: body.picture == null ? null : { fileId: body.picture, width: 0, height: 0 },
    product: { name: body.product.name, description: body.product.description ?? null },
    price: body.price ?? ZERO,
    pricing: body.pricing ?? { kind: 'fixed' },
    coupons: body.coupons ?? false,
    network: body.network,
    recipient: body.recipient ?? null,
    fields: body.fields ?? [],
    redirectUrl: body.redirectUrl ?? null,
    testMode: body.testMode ?? false,
    lifetime: body.lifetime ?? 'persistent',
    responseMode: body.responseMode ?? 'immediately',
    preflight: body.preflight ?? false,
    onUnconfirmed: body.onUnconfirmed ?? 'hold',
    onError: body.onError ?? null,
    capture: body.capture ?? 'onPayment',
    runSeconds: body.runSeconds ?? RUN_SECONDS,
    refundOnFailure: body.refundOnFailure ?? false,
    embedOrigins: [...new Set(body.embedOrigins)],
    trialRuns: body.trialRuns ?? 0,
    trialsPerDay: body.trialsPerDay ?? TRIALS_PER_DAY,
    plans: (body.plans ?? []).map((plan) => planWith({ runs: null, ...plan } as Plan, (price) => price)),
    chat: body.chat == null ? null : { greeting: body.chat.greeting ?? null },
    notify: body.notify ?? { sale: false, failure: true },
    source: body.source ?? null,
  }
}

/** Wallets cost nothing to make, so that many runs can be given away on a day. */
const TRIALS_PER_DAY = 50
/** The service adds what it knows of a file. */
function toAfter(after: z.output<typeof afterBody>): After {
  return after.kind === 'file' ? { ...after, name: '', mediaType: '', bytes: 0 } : after
}

/** As long as a workflow's answer is waited for. */
const RUN_SECONDS = 180

/** The customer's input. Its fields differ between checkouts, so each checkout validates its own. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Number)
}

export const langQuery = z
  .string()
  .max(100)
  .optional()
  .meta({ description: 'For a browser: the language of the page, before Accept-Language' })

export const payBody = z
  .strictObject({
    input: inputBody.optional().meta({
      override: { type: 'object', description: "Values of the checkout's fields, by name; required without an order" },
    }),
    order: z.string().max(2_000).optional().meta({
      description:
        'Pay for the call of a model: the order from the link of its page, in place of the input. Needs a token',
    }),
    choice: choiceBody.optional(),
    ...receiptBody,
    paymentPayload: inputBody.optional().meta({
      override: { type: 'object', description: 'An x402 payload of either version: the signed authorization' },
    }),
    pass: z.string().max(100).optional().meta({
      description: 'The token of a pass (`pst_…`), in place of a payment: uses one of its runs',
    }),
    proof: z
      .strictObject({
        address: z
          .string()
          .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address')
          .transform((text) => text as Address),
        expires: z.iso.datetime().meta({ description: 'At most ten minutes from now' }),
        signature: z
          .string()
          .regex(/^0x([0-9a-fA-F]{2}){1,4096}$/, 'must be a signature in hexadecimal')
          .transform((text) => text as Hex),
      })
      .optional()
      .meta({
        description: "A wallet's fresh signature, in place of a payment: uses its pass, or else its trial",
      }),
    simulate: z
      .literal(true, 'must be true or absent')
      .optional()
      .meta({ description: 'Simulate the payment instead; test mode only' }),
    outcome: z.enum(OUTCOMES).optional().meta({
      description: 'With simulate: the result of the payment; defaults to `paid`. `slow` is paid after a few seconds',
    }),
    free: z.literal(true, 'must be true or absent').optional().meta({
      description:
        'Take what `choice.coupon` makes free, in place of a payment. Needs a token; with an Idempotency-Key a repeat takes it once',
    }),
    quoteId: z
      .string()
      .max(500)
      .optional()
      .meta({ description: "The quote from GET; without it, today's price applies" }),
    token: z
      .string()
      .regex(TOKEN, TOKEN_FAULT)
      .optional()
      .meta({ description: 'Choose a token before you pay. If the answer gets lost, fetch it again with this token' }),
    paymentId: z.string().max(100).optional().meta({
      description: 'The id or nonce of a payment made here, to fetch its answer; needs its token or a fresh signature',
    }),
  })
  .refine((body) => isPaidOnce(body), {
    path: ['paymentPayload'],
    message: 'is required, unless there is a pass or a proof, free is true, or simulate is true in test mode',
  })
  .refine(({ input, order }) => (input === undefined) !== (order === undefined), {
    path: ['input'],
    message: 'is required, unless there is an order',
  })
  .refine(({ order, choice }) => order === undefined || choice === undefined, {
    path: ['choice'],
    message: 'must be absent with an order, which has its own',
  })
  .refine(({ order, token }) => order === undefined || token !== undefined, {
    path: ['token'],
    message: 'is required with an order: others may know its link',
  })
  .refine(({ free, token }) => free === undefined || token !== undefined, {
    path: ['token'],
    message: 'is required with free: it is the only proof of who bought it',
  })
  .refine(({ simulate, outcome }) => outcome === undefined || simulate === true, {
    path: ['outcome'],
    message: 'must be absent unless simulate is true',
  })

/** What the payment page stores for another device. Only the page reads what it wrote. */
export const draftBody = z.strictObject({
  token: z.string().regex(TOKEN, TOKEN_FAULT).meta({ description: 'Choose a random one: it opens what you store' }),
  content: z
    .string()
    .min(2, 'must be JSON')
    .max(DRAFT_CHARACTERS_MAX, `must have at most ${String(DRAFT_CHARACTERS_MAX)} characters`)
    .meta({ description: 'As the page of another device is to get it' }),
})

function isPaidOnce({
  paymentPayload,
  simulate,
  paymentId,
  pass,
  proof,
  free,
}: Readonly<Record<string, unknown>>): boolean {
  const isFound = paymentId !== undefined
  const ways = [isFound ? paymentId : paymentPayload, simulate, pass, proof, free]
  return ways.filter((way) => way !== undefined).length === 1
}
