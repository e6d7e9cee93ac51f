import { jsonOrUndefined } from '../kit/json-shape.ts'
import { z } from 'zod'
import type { Offer } from './model.ts'
import type { Hex } from '../chain/model.ts'
import { isRecord, type Raw } from '../kit/schema/merge.ts'
import { readChallenges, type ReceivedChallenge } from '../kit/challenges.ts'
import { INTENT, METHOD, nonceOf } from '../mpp/challenge.ts'
import { toHeader } from './dialects.ts'
import { TIMEOUT_SECONDS } from './requirements.ts'

interface Answered {
  headers: Readonly<Record<string, unknown>>
  body: Buffer
}

/**
 * The offers of a 402: version 2 of x402 in its header, or else version 1 in its body; then the challenges of MPP.
 * Empty when the 402 is of neither protocol.
 */
export function readOffers({ headers, body }: Answered): Offer[] {
  return [...readX402(headers, body), ...readChallenges(headers['www-authenticate'], 'payment').flatMap(chargeOffer)]
}

/** What a 402 of version 2 says besides its terms. */
export function readExtensions({ headers }: Pick<Answered, 'headers'>): Raw {
  const second = v2.safeParse(requiredIn(headers))
  return second.success && isRecord(second.data['extensions']) ? second.data['extensions'] : {}
}

function requiredIn(headers: Answered['headers']): unknown {
  const header = headers['payment-required']
  return typeof header === 'string' ? jsonOrUndefined(Buffer.from(header, 'base64').toString('utf8')) : undefined
}

function readX402(headers: Answered['headers'], body: Buffer): Offer[] {
  const second = v2.safeParse(requiredIn(headers))
  if (second.success) {
    const { accepts, resource } = second.data
    return accepts.flatMap((one) => offerOf(v2Offer, one, 2, resource))
  }
  const first = v1.safeParse(jsonOrUndefined(body.toString('utf8')))
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
  const token = extra == null ? null : { name: extra.name, version: extra.version }
  const terms = { version, scheme, network, asset, payTo, amount, timeoutSeconds: maxTimeoutSeconds }
  const header = version === 1 ? 'x-payment' : 'payment-signature'
  return [{ ...terms, expires: null, header, domain: token, raw, resource }]
}

const OFFER_MAX = 8_192

/** The terms of an `evm/charge`. */
const charge = z.looseObject({
  amount,
  currency: z.string(),
  recipient: z.string(),
  methodDetails: z.looseObject({
    chainId: z.int().positive(),
    credentialTypes: z.array(z.string()).catch([]),
    splits: z.array(z.unknown()).nullish(),
  }),
})

/** The offer in a challenge of MPP, as terms of x402: both are paid by the same kind of authorization. */
function chargeOffer(challenge: ReceivedChallenge): Offer[] {
  const { id = '', realm = '', method, intent, request = '', expires: end, header = 'authorization' } = challenge
  if (method !== METHOD || intent !== INTENT || id === '' || realm === '') return []
  const read = charge.safeParse(jsonOrUndefined(Buffer.from(request, 'base64url').toString('utf8')))
  // The challenge is sent back in a header, as an offer of x402 is.
  if (!read.success || JSON.stringify(challenge).length > OFFER_MAX || !HEADER_NAME.test(header)) return []
  const { currency: asset, recipient: payTo, methodDetails } = read.data
  const { chainId, credentialTypes, splits } = methodDetails
  const isExact = credentialTypes.includes('authorization') && (splits ?? []).length === 0
  const expires = end === undefined ? null : Math.floor(Date.parse(end) / 1_000)
  if (Number.isNaN(expires)) return []
  return [
    {
      version: 'mpp',
      scheme: isExact ? 'exact' : 'evm/charge',
      network: `eip155:${String(chainId)}`,
      asset,
      payTo,
      amount: read.data.amount,
      timeoutSeconds: TIMEOUT_SECONDS,
      expires,
      header: header.toLowerCase(),
      domain: null,
      raw: challenge,
      resource: null,
    },
  ]
}

/** The protocol allows any name. A seller must not choose one that means something else to a proxy. */
const HEADER_NAME = /^(authorization|[\w-]{1,80}-authorization)$/i

/** The nonce that the offer demands. Null when the payer chooses it. */
export function demandedNonce({ version, raw }: Pick<Offer, 'version' | 'raw'>): Hex | null {
  return version === 'mpp' ? nonceOf({ id: String(raw['id']), realm: String(raw['realm']) }) : null
}

/** The seller's receipt, as the seller wrote it: of x402 in either version, or of MPP. Null when there is none. */
export function readReceipt(headers: Answered['headers']): Readonly<Record<string, unknown>> | null {
  const text = headers['payment-response'] ?? headers['x-payment-response'] ?? headers['payment-receipt']
  if (typeof text !== 'string' || text.length > OFFER_MAX) return null
  const receipt = jsonOrUndefined(Buffer.from(text, 'base64').toString('utf8'))
  return isRecord(receipt) ? receipt : null
}

interface Signed {
  asked: Offer
  amount: bigint
  validBefore: bigint
  nonce: Hex
  signature: Hex
}

/** The payment header, in the protocol of the seller's offer. The same payment always gives the same text. */
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
  if (asked.version === 'mpp') {
    const credential = {
      challenge: asked.raw,
      payload: { type: 'authorization', ...authorization, signature },
      source: `did:pkh:${asked.network}:${payer}`,
    }
    return { [asked.header]: `Payment ${Buffer.from(JSON.stringify(credential)).toString('base64url')}` }
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
