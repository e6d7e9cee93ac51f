import { z } from 'zod'
import type { Described } from '../../api/route.ts'
import { timestamp } from '../../kit/wire.ts'
import { paymentOut } from './owner.ts'

/** The gate's endpoints for buyers, as the API reference shows them, under the gateway's address. */
export function gateReference({ address, bodyBytes }: { address: string; bodyBytes: number }): Described[] {
  return [throughGate(address, bodyBytes), status()]
}

const tag = 'Gate'

/** The body as the gate writes it; `http/page.ts` and clients of both versions read it. */
const offer = z.object({
  x402Version: z.literal(1),
  error: z.string(),
  reason: z.string().nullable().meta({ description: 'Why a payment was refused; null when none was sent' }),
  code: z.enum(['payment_required', 'payment_refused']),
  accepts: z.array(z.looseObject({})).meta({ description: 'What to sign, in the format of x402 version 1' }),
  type: z.literal('x402'),
  amount: z.string().meta({ description: 'USDC as decimal text', examples: ['0.01'] }),
  currency: z.literal('USDC'),
  facilitator: z.string(),
  recipient: z.string(),
  memo: z.string(),
  expires: timestamp.meta({ description: 'The price is valid until then, for ten minutes' }),
  pricing: z.enum(['per-request', 'tiered', 'per-token', 'per-minute']),
  testMode: z.boolean(),
})

const headers = z.object({
  'X-PAYMENT': z.string().optional().meta({ description: 'A signed payment of x402 version 1, base64' }),
  'PAYMENT-SIGNATURE': z.string().optional().meta({ description: 'A signed payment of x402 version 2, base64' }),
  'X-Payment-ID': z.string().max(100).optional().meta({
    description:
      '`pay_…`, or the signed nonce: fetches the answer of a payment made here; send its token or a fresh signature too',
  }),
  'X-Payment-Token': z.string().optional().meta({
    description:
      'The token of a prepaid balance, or of the payment in `X-Payment-ID`; in test mode the owner’s `test_…`',
    pattern: '^(tok|test)_[A-Za-z0-9_-]{1,128}$',
  }),
  'X-Payment-Payer': z.string().optional().meta({
    description: 'The payer’s address, without a signature: a tiered price is then quoted for this payer',
    pattern: '^0x[0-9a-fA-F]{40}$',
  }),
})

function throughGate(address: string, bodyBytes: number): Described {
  return {
    tag,
    auth: 'anyone',
    method: 'get',
    path: '/:slug/:path',
    summary: 'A request through a gate, of any method and to any path below the slug',
    description: [
      'The first route of the paywall that matches the method and path applies; without a match the answer is 404. Matching ignores case and a trailing slash; an ambiguous path is a 400.',
      'Without a payment the answer is 402 with the price: the body below for x402 version 1, the header `PAYMENT-REQUIRED` for version 2, and `X-Payment-Required`, `X-Payment-Amount`, `X-Payment-Currency`, `X-Payment-Facilitator`. A browser gets a page instead. Stock x402 clients sign and send the request again.',
      'With a payment the request is forwarded, and the answer is the API’s own, settled before its first byte: with `X-PAYMENT-RESPONSE` or `PAYMENT-RESPONSE` (the result of the payment) and `X-Payment-ID`. If the API answers 400 or above, or does not answer, nothing is charged, unless the payment was settled before: then the answer has `X-Payment-Status: paid`, or `paid` in its body. An answer is stored until it is delivered completely, for at most ten minutes, or 26 hours where the payment ended without its buyer.',
      'Prepaid: for prices per token and per minute, the payer signs for the `maximum`, which goes into the payer’s balance at this paywall. Each answer has `X-Payment-Cost` and `X-Payment-Balance`. Only the first answer has `X-Payment-Token`: with it the next calls need no signature.',
      'The API gets your request without cookies, payment headers and an `Authorization` with a Coinslot key, and with `X-Forwarded-For`, `X-Forwarded-Host` and `-Proto` of the public address, `Via` and a signed `Coinslot-Payment`. Headers that some servers read as another method, path or user are removed too: `X-HTTP-Method-Override`, `X-Method-Override`, `X-Original-URL`, `X-Rewrite-URL`, `X-Remote-User` and the like.',
      `On a paid route, a body has at most ${String(bodyBytes)} bytes.`,
    ].join('\n\n'),
    params: z.object({
      slug: z
        .string()
        .max(64)
        .meta({ description: 'The slug of the paywall', examples: ['weather'] }),
      path: z.string().meta({ description: 'Any path below the slug' }),
    }),
    headers,
    answers: {},
    errors: {
      402: 'Not paid, or the price has changed: sign for the current price.',
      404: 'There is no such paywall, or it has no such route.',
      409: 'The payment is for another request, its answer was already sent (`paid`, `deliverable: false`), or it is being processed.',
      410: 'The authorization has expired: sign a new one. If `paid`, its answer was not made or not fetched in time: ask the seller for a refund.',
      413: 'The body is too large.',
      502: 'The API failed or could not be reached. Nothing was charged, unless `paid`: then send the same request again with `paymentId` as X-Payment-ID and `paymentToken` as X-Payment-Token.',
      503: 'The paywall is paused; or `settlement_pending`: send the same request later with `paymentId` as X-Payment-ID and `paymentToken` as X-Payment-Token; you are not charged twice. `statusUrl` shows its status.',
      504: 'The API did not answer in time. Nothing was charged, unless `paid`.',
    },
    refusals: { 402: offer },
    samples: [
      {
        title: 'Ask for the price',
        text: [
          `curl -i ${address}/weather/today/bern`,
          '# HTTP/1.1 402 Payment Required',
          '# PAYMENT-REQUIRED: eyJ4NDAyVmVyc2lvbiI6Mi…',
          '# X-Payment-Amount: 0.01',
        ].join('\n'),
      },
      {
        title: 'Pay the price',
        text: [
          `curl -i ${address}/weather/today/bern -H "PAYMENT-SIGNATURE: $SIGNED"`,
          '# HTTP/1.1 200 OK',
          '# PAYMENT-RESPONSE: eyJzdWNjZXNzIjp0cnVl…',
          '# X-Payment-ID: pay_01k…',
        ].join('\n'),
      },
      {
        title: 'Pay from a prepaid balance',
        text: [
          `curl -i ${address}/models/chat -H "X-Payment-Token: $TOKEN" -d @question.json`,
          '# HTTP/1.1 200 OK',
          '# X-Payment-Cost: 0.0042',
          '# X-Payment-Balance: 0.0958',
        ].join('\n'),
      },
    ],
  }
}

function status(): Described {
  return {
    tag,
    auth: 'anyone',
    method: 'get',
    path: '/payments/:id',
    summary: 'Status of a payment at a gate',
    description: 'All of this is public on the chain. The paid answer is not included.',
    params: z.object({ id: z.string().meta({ examples: ['pay_01k…'] }) }),
    answers: {
      200: z.object({
        payment: paymentOut.omit({ kind: true, route: true, endpoint: true }).extend({ paywallId: z.string() }),
      }),
    },
    errors: { 404: 'There is no such payment at this gate.' },
  }
}
