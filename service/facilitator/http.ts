import { z } from 'zod'
import { NETWORKS, networkOf } from '../chain/networks.ts'
import { reply, route, type AnyRoute } from '../api/route.ts'
import { addressGroup } from '../kit/http.ts'
import { DomainError, invalid } from '../kit/errors.ts'
import { timestamp } from '../kit/wire.ts'
import { settlementFailed } from './errors.ts'
import { sentenceOf } from '../x402/reasons.ts'
import type { SettleResult, Settlement, Verification } from './model.ts'
import type { PaymentRequest } from '../x402/model.ts'
import { bazaarOf, extensionHeader, type Listing, type Outcome, type SoldResource } from '../x402/bazaar.ts'
import { isRecord } from '../kit/schema/merge.ts'
import { toRequest } from '../x402/payload.ts'
import { address, bytes32, paymentRequest } from '../x402/schema.ts'
import type { Facilitator } from './service/facilitator.ts'

export function facilitatorRoutes(facilitator: Facilitator, listing: Listing): AnyRoute[] {
  return [
    ...readings(facilitator),
    verifyRoute(facilitator, listing),
    settleRoute(facilitator, listing),
    settlementRoute(facilitator),
  ]
}

function readings(facilitator: Facilitator): AnyRoute[] {
  const common = { method: 'get', tag: 'Facilitator', auth: 'anyone', limit: null } as const
  return [
    route({
      ...common,
      path: '/health',
      summary: 'Status of the facilitator, and who pays the gas',
      answers: { 200: healthBody },
      handle: () =>
        Promise.resolve(
          reply(200, {
            status:
              facilitator.gas().some(({ empty }) => !empty) || facilitator.gas().length === 0 ? 'ok' : 'out_of_gas',
            facilitator: facilitator.sponsors()[0] ?? null,
            networks: facilitator.networks.map(({ caip2 }) => caip2),
            versions: ['v1', 'v2'],
          }),
        ),
    }),
    route({
      ...common,
      path: '/supported',
      summary: 'Networks and protocol versions',
      answers: { 200: supportedBody },
      handle: () => Promise.resolve(reply(200, toSupported(facilitator))),
    }),
  ]
}

function verifyRoute(facilitator: Facilitator, listing: Listing): AnyRoute {
  return route({
    method: 'post',
    path: '/verify',
    direct: true,
    summary: 'Verify a payment authorization; no money moves',
    tag: 'Facilitator',
    auth: 'anyone',
    limit: 'verify',
    bodyBytesMax: BODY_BYTES_MAX,
    body: paymentRequest,
    answers: { 200: verifyBody },
    errors: { 503: 'The network has no RPC or sponsor here, or does not answer.' },
    errorFields: ({ code, sentence }) => ({ ...NOT_VALID, invalidReason: reasonOf(code), reason: sentence }),
    async handle({ body }) {
      const payment = toRequest(body)
      const verification = await facilitator.verify(payment, true)
      const { isListed } = facilitator.schemes.for(payment)
      const listed = isListed ? listing.verified(soldIn(body, payment), verification.refusal) : {}
      return { ...reply(200, toVerification(verification)), headers: extensionHeader(listed) }
    },
  })
}

function settleRoute(facilitator: Facilitator, listing: Listing): AnyRoute {
  return route({
    method: 'post',
    path: '/settle',
    direct: true,
    summary: 'Settle a payment authorization; success is reported only once',
    tag: 'Facilitator',
    auth: 'anyone',
    idempotent: 'anyone',
    limit: 'settle',
    bodyBytesMax: BODY_BYTES_MAX,
    body: paymentRequest,
    answers: { 200: settleBody },
    errors: {
      500: 'The settlement failed because of the facilitator, not because of the authorization.',
      503: 'The network has no RPC or sponsor here, or does not answer.',
    },
    errorFields: ({ code, sentence }) => {
      const reason = reasonOf(code)
      return { ...NOT_SETTLED, errorReason: reason, error_reason: reason, errorMessage: sentence }
    },
    async handle({ body, operation, keyHash, address: from }) {
      const payment = toRequest(body)
      const answer = await facilitator
        .settle(payment, { operation, ownsResult: keyHash !== null, isExternal: true, caller: addressGroup(from) })
        .catch((error: unknown) => {
          throw outOfGasHere(error, payment)
        })
      const scheme = facilitator.schemes.for(payment)
      const moved = answer.success ? scheme.movedBy(payment) : null
      const encoded = {
        ...toSettled(answer, payment.required.network),
        ...(moved === null ? {} : { amount: String(moved) }),
      }
      if (answer.status === 'failed' && answer.ours) throw settlementFailed(answer, encoded)
      const { success, digest } = answer
      const listed = scheme.isListed ? await listing.settled(soldIn(body, payment), outcomeOf(answer)) : {}
      const headers = extensionHeader(listed)
      if (!success || digest === null || keyHash !== null) return { ...reply(200, encoded), headers }
      // The caller counts as having received the success once the whole response was sent.
      return {
        ...reply(200, encoded),
        headers,
        whenSent: (arrived) => facilitator.delivered(digest, operation, arrived),
      }
    },
  })
}

/** What the seller says about the resource: version 1 in its terms, version 2 in what the payer sends back. */
function soldIn(body: z.output<typeof paymentRequest>, payment: PaymentRequest): SoldResource {
  const timeoutSeconds = body.paymentRequirements.maxTimeoutSeconds ?? null
  if (body.x402Version === 2) {
    const { resource, extensions } = body.paymentPayload
    return { payment, timeoutSeconds, resource, extensions: extensions ?? {} }
  }
  const { resource: url, description, mimeType, outputSchema } = body.paymentRequirements
  const bazaar = isRecord(outputSchema) ? bazaarOf(outputSchema) : null
  const extensions = bazaar === null ? {} : { bazaar }
  return { payment, timeoutSeconds, resource: { url, description, mimeType }, extensions }
}

function outcomeOf(answer: SettleResult): Outcome {
  if (answer.success) return { status: 'settled' }
  if (answer.status === 'failed') return { status: 'failed', reason: answer.reason }
  return { status: answer.status === 'pending' ? 'pending' : 'repeated' }
}

/** The result is not `pending`: nothing was submitted, so there is nothing to wait for. */
function outOfGasHere(error: unknown, { payer, required }: PaymentRequest): unknown {
  const reason = 'facilitator_out_of_gas'
  if (!(error instanceof DomainError) || error.code !== reason) return error
  const answer: SettleResult & { status: 'failed' } = {
    status: 'failed',
    success: false,
    payer,
    txHash: null,
    reason,
    ours: true,
  }
  return settlementFailed(answer, toSettled(answer, required.network))
}

function settlementRoute(facilitator: Facilitator): AnyRoute {
  return route({
    method: 'get',
    path: '/settlements/:network/:payer/:nonce',
    summary: 'Settlement status of an authorization, for anyone who has it',
    tag: 'Facilitator',
    auth: 'anyone',
    limit: null,
    params: z.object({ network: z.string(), payer: address, nonce: bytes32 }),
    answers: { 200: settlementBody },
    errors: { 404: 'This facilitator has no settlement of this authorization.' },
    async handle({ params }) {
      const network = networkOf(params.network)
      if (network === null) throw invalid({ network: `must be one of ${NAMES.join(', ')}` })
      const settlement = await facilitator.find(network.name, params.payer, params.nonce)
      return reply(200, toSettlement(settlement, params.network))
    },
  })
}

const BODY_BYTES_MAX = 65_536
const NAMES = Object.values(NETWORKS).flatMap(({ name, caip2 }) => [name, caip2])

const healthBody = z.object({
  status: z.enum(['ok', 'out_of_gas']),
  facilitator: z.string().nullable(),
  networks: z.array(z.string()),
  versions: z.array(z.string()),
})

const supportedBody = z.object({
  kinds: z.array(
    z.object({
      x402Version: z.int(),
      scheme: z.string(),
      network: z.string(),
      extra: z.object({ captureAuthorizer: z.string() }).optional(),
    }),
  ),
  extensions: z.array(z.string()),
  signers: z.record(z.string(), z.array(z.string())),
  supportedNetworks: z.array(z.object({ networkId: z.string(), version: z.string() })),
})

/** The extensions of x402 that this facilitator takes part in, by their keys. */
const EXTENSIONS = ['bazaar'] as const

function toSupported(facilitator: Facilitator): z.input<typeof supportedBody> {
  const ids = facilitator.networks.flatMap(({ name, caip2 }) => [
    { network: name, x402Version: 1 as const },
    { network: caip2, x402Version: 2 as const },
  ])
  const sponsors = facilitator.sponsors()
  const kinds = facilitator.schemes.all.map((scheme) => scheme.kind(sponsors)).filter((kind) => kind !== null)
  return {
    kinds: kinds.flatMap(({ versions, ...kind }) =>
      ids.filter(({ x402Version }) => versions.includes(x402Version)).map((id) => ({ ...id, ...kind })),
    ),
    extensions: [...EXTENSIONS],
    signers: { 'eip155:*': [...sponsors] },
    supportedNetworks: ids.map(({ network, x402Version }) => ({
      networkId: network,
      version: `v${String(x402Version)}`,
    })),
  }
}

const verifyBody = z.object({
  isValid: z.boolean(),
  invalidReason: z.string().nullable(),
  payer: z.string().nullable(),
  valid: z.boolean(),
  reason: z.string().nullable(),
})

function toVerification({ payer, refusal }: Verification): z.input<typeof verifyBody> {
  const isValid = refusal === null
  return {
    isValid,
    invalidReason: refusal,
    payer,
    valid: isValid,
    reason: refusal === null ? null : sentenceOf(refusal),
  }
}

const NOT_VALID = { isValid: false, invalidReason: null, payer: null, valid: false, reason: null }

/** The protocol's reason for a request that cannot be read. The protocol has no reasons for other errors. */
function reasonOf(code: string): string {
  return code === 'invalid_input' || code === 'invalid_json' ? 'invalid_payload' : code
}

const settleBody = z.object({
  success: z.boolean(),
  transaction: z.string().meta({ description: 'Empty unless the payment is settled' }),
  txHash: z.string().nullable(),
  network: z.string(),
  payer: z.string().nullable(),
  errorReason: z.string().nullable(),
  error_reason: z.string().nullable(),
  errorMessage: z.string().nullable(),
  settled: z.boolean(),
  status: z.enum(['settled', 'pending', 'failed']),
  amount: z
    .string()
    .optional()
    .meta({ description: 'Micro-USDC that the escrow took or gave to the seller. Only for the scheme auth-capture' }),
})

const NOT_SETTLED = {
  success: false,
  transaction: '',
  txHash: null,
  network: '',
  payer: null,
  settled: false,
  status: 'failed',
}

function toSettled(answer: SettleResult, network: string): z.input<typeof settleBody> {
  const { success, txHash, payer, status } = answer
  const reason = answer.success ? null : answer.reason
  return {
    success,
    transaction: (answer.success ? answer.txHash : null) ?? '',
    txHash,
    network,
    payer,
    errorReason: reason,
    error_reason: reason,
    errorMessage: reason === null ? null : sentenceOf(reason),
    settled: success,
    status,
  }
}

const settlementBody = z.object({
  network: z.string(),
  payer: z.string(),
  nonce: z.string(),
  payTo: z.string(),
  value: z.string().meta({ description: 'Micro-USDC' }),
  status: z.enum(['settled', 'pending', 'failed']),
  txHash: z.string().nullable(),
  errorReason: z.string().nullable(),
  errorMessage: z.string().nullable(),
  confirmed: z.boolean().meta({ description: 'Deep enough in the chain to be final' }),
  claimedAt: timestamp,
  endedAt: timestamp.nullable(),
})

function toSettlement(settlement: Settlement, network: string): z.input<typeof settlementBody> {
  const { authorization, state, txHash, reason, final, claimedAt, endedAt } = settlement
  return {
    network,
    payer: authorization.from,
    nonce: authorization.nonce,
    payTo: authorization.to,
    value: String(authorization.value),
    status: state === 'settled' || state === 'failed' ? state : 'pending',
    txHash: state === 'failed' ? null : txHash,
    errorReason: reason,
    errorMessage: reason === null ? null : sentenceOf(reason),
    confirmed: final,
    claimedAt: claimedAt.toISOString(),
    endedAt: endedAt === null ? null : endedAt.toISOString(),
  }
}
