import { z } from 'zod'
import type { Offer } from './model.ts'
import type { Hex } from '../chain/model.ts'
import { toHeader } from './dialects.ts'

interface Answered {
  headers: Readonly<Record<string, unknown>>
  body: Buffer
}

/** The offers of a 402: version 2 in its header, version 1 in its body. Empty when the 402 is not of x402. */
export function readOffers({ headers, body }: Answered): Offer[] {
  const header = headers['payment-required']
  const inHeader = typeof header === 'string' ? parse(Buffer.from(header, 'base64').toString('utf8')) : undefined
  const second = v2.safeParse(inHeader)
  if (second.success) {
    const { accepts, resource } = second.data
    return accepts.flatMap((one) => offerOf(v2Offer, one, 2, resource))
  }
  const first = v1.safeParse(parse(body.toString('utf8')))
  return first.success ? first.data.accepts.flatMap((one) => offerOf(v1Offer, one, 1, null)) : []
}

const list = z.array(z.record(z.string(), z.unknown())).max(50)
const v1 = z.looseObject({ x402Version: z.literal(1), accepts: list })
const v2 = z.looseObject({ x402Version: z.literal(2), accepts: list, resource: z.unknown() })

const amount = z
  .string()
  .regex(/^\d{1,30}$/)
  .transform(BigInt)
const domain = z.looseObject({ name: z.string(), version: z.string() }).nullish().catch(null)
const common = {
  scheme: z.string(),
  network: z.string(),
  asset: z.string(),
  payTo: z.string(),
  maxTimeoutSeconds: z.number().positive().catch(60),
  extra: domain,
}
const v1Offer = z
  .looseObject({ ...common, maxAmountRequired: amount })
  .transform(({ maxAmountRequired, ...rest }) => ({ ...rest, amount: maxAmountRequired }))
const v2Offer = z.looseObject({ ...common, amount })

type Read = z.ZodType<z.output<typeof v2Offer>>

/** An offer that cannot be read is ignored. The seller's other offers stay valid. */
function offerOf(schema: Read, raw: Record<string, unknown>, version: 1 | 2, resource: unknown): Offer[] {
  const read = schema.safeParse(raw)
  // The offer is sent back in a header, so a seller with an oversized offer gets no payment.
  if (!read.success || JSON.stringify([raw, resource]).length > OFFER_MAX) return []
  const { scheme, network, asset, payTo, amount, maxTimeoutSeconds, extra } = read.data
  const said = extra == null ? null : { name: extra.name, version: extra.version }
  return [
    { version, scheme, network, asset, payTo, amount, timeoutSeconds: maxTimeoutSeconds, domain: said, raw, resource },
  ]
}

const OFFER_MAX = 8_192

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

interface Signed {
  asked: Offer
  amount: bigint
  validBefore: bigint
  nonce: Hex
  signature: Hex
}

/** The payment header, in the version of the seller's offer. The same payment always gives the same text. */
export function paymentHeader(payment: Signed, payer: string): Record<string, string> {
  const { asked, amount, validBefore, nonce, signature } = payment
  const authorization = {
    from: payer,
    to: asked.payTo,
    value: String(amount),
    validAfter: '0',
    validBefore: String(validBefore),
    nonce,
  }
  if (asked.version === 1) {
    const { scheme, network } = asked
    return { 'x-payment': toHeader({ x402Version: 1, scheme, network, payload: { signature, authorization } }) }
  }
  const payload = { authorization, signature }
  return {
    'payment-signature': toHeader({
      x402Version: 2,
      payload,
      resource: asked.resource ?? undefined,
      accepted: asked.raw,
    }),
  }
}
