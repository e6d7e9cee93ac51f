import type { z } from 'zod'
import type { Address, SignedAuthorization } from '../chain/model.ts'
import { NETWORKS, networkOf, type Network } from '../chain/networks.ts'
import { invalid } from '../kit/errors.ts'
import { canonicalJson } from '../kit/hash.ts'
import { faultOfJsonShape } from '../kit/json-shape.ts'
import { isRecord } from '../kit/schema/merge.ts'
import type { Challenge } from '../mpp/challenge.ts'
import { credentialText, readCredential } from '../mpp/credential.ts'
import type { EscrowRequest, Headers, PaymentRequest, Presented, RequestBody, Requirements, Version } from './model.ts'
import { withoutOffers } from './offer-receipt.ts'
import { escrowPayloadOf, termsOf } from './escrow.ts'
import { chargeRequest, exactPayload, payloadV1, payloadV2, paymentRequest, type AnyPayload } from './schema.ts'
import { permittedBy, tokenPermitIn } from './upto.ts'

type Read = Readonly<Record<string, unknown>>

/** The payment in a request's headers: x402 of either version, or MPP. Null when there is none. */
export function presentedIn(header: Headers): Presented | null {
  for (const [name, version] of HEADERS) {
    const text = version === 'mpp' ? credentialText(header(name)) : header(name)
    if (text == null) continue
    const fault = faultIn(name)
    const json = jsonIn(text, fault)
    return { field: name, ...(version === 'mpp' ? fromCredential(json, fault) : readVersion(json, version, fault)) }
  }
  return null
}

/** Whether a request presents a payment, readable or not. */
export function presentsPayment(header: Headers): boolean {
  return paymentHeaderIn(header) !== null
}

/** The name of the header with the payment; null when there is none. */
export function paymentHeaderIn(header: Headers): string | null {
  const found = HEADERS.find(([name, version]) =>
    version === 'mpp' ? credentialText(header(name)) !== null : header(name) !== undefined,
  )
  return found?.[0] ?? null
}

/** Whether the request pays by MPP, or wants to. */
export function speaksMpp(header: Headers): boolean {
  const name = paymentHeaderIn(header)
  if (name !== null) return name.endsWith('authorization')
  return /(^|,)\s*evm\//i.test(header('accept-payment') ?? '')
}

const HEADERS = [
  ['payment-signature', 2],
  ['x-payment', 1],
  ['payment-authorization', 'mpp'],
  ['authorization', 'mpp'],
] as const

/** The payment in a body, under that field. */
export function presentedAs(field: string, payload: unknown): Presented {
  const named = (path: string): string => (path === '' ? field : `${field}.${path}`)
  const fault: Fault = (...faults) =>
    invalid(Object.fromEntries(faults.map(([path, why]) => [named(path), why])), 'invalid_payment')
  if (!isRecord(payload)) throw fault(['', 'must be an object'])
  return { field, ...readVersion(payload, payload['accepted'] == null ? 1 : 2, fault) }
}

/** The payment in the `_meta` of an MCP request: of x402 as an object or as base64, or of MPP. Null when there is none. */
export function presentedInMeta(meta: Read): Presented | null {
  const [payment, credential] = [meta[PAYMENT_META], meta[CREDENTIAL_META]]
  const fieldOf = (name: string): string => `_meta["${name}"]`
  if (payment !== undefined) {
    const field = fieldOf(PAYMENT_META)
    if (typeof payment !== 'string') return presentedAs(field, payment)
    return presentedAs(field, jsonIn(payment, faultIn(field)))
  }
  if (credential === undefined) return null
  const fault = faultIn(fieldOf(CREDENTIAL_META))
  if (!isRecord(credential)) throw fault(['', 'must be an object'])
  return { field: fieldOf(CREDENTIAL_META), ...fromCredential(withWrittenRequest(credential), fault) }
}

const PAYMENT_META = 'x402/payment'
const CREDENTIAL_META = 'org.paymentauth/credential'
/** Where a payment over MCP is. */
export const PRESENTED_META = [PAYMENT_META, CREDENTIAL_META] as const

/** In MCP a challenge has its terms as an object; the id covers them as they are written in a header. */
function withWrittenRequest(credential: Read): Read {
  const { challenge } = credential
  if (!isRecord(challenge) || !isRecord(challenge['request'])) return credential
  return { ...credential, challenge: { ...challenge, request: canonicalText(challenge['request']) } }
}

function canonicalText(value: unknown): string {
  return Buffer.from(canonicalJson(value)).toString('base64url')
}

function faultIn(field: string): Fault {
  return (...faults) =>
    invalid(
      { [field]: faults.map(([path, why]) => `${path}${path === '' ? '' : ': '}${why}`).join('; ') },
      'invalid_payment',
    )
}

type Decoded = Omit<Presented, 'field'>

type Fault = (...faults: (readonly [path: string, why: string])[]) => Error

function jsonIn(text: string, fault: Fault): Read {
  // Node ignores characters that are not base64, so the decoded text must be checked as JSON.
  const json = Buffer.from(text, 'base64').toString('utf8')
  const shape = faultOfJsonShape(json)
  if (shape !== null) throw fault(['', shape])
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    throw fault(['', 'must be base64 of JSON'])
  }
  if (!isRecord(value)) throw fault(['', 'must be base64 of a JSON object'])
  return value
}

function readVersion(payload: Read, expected: Version, fault: Fault): Decoded {
  const version = payload['x402Version'] ?? expected
  const read = (schema: typeof payloadV1 | typeof payloadV2) => {
    const parsed = schema.safeParse(payload)
    if (parsed.success) return parsed.data
    throw fault(...parsed.error.issues.map(({ path, message }) => [path.join('.'), message] as const))
  }
  if (version === 1) return fromV1(payload, read(payloadV1) as z.output<typeof payloadV1>)
  if (version === 2) return fromV2(payload, read(payloadV2) as z.output<typeof payloadV2>)
  throw fault(['x402Version', 'must be 1 or 2'])
}

function fromV1(payload: Read, { scheme, network, payload: signed }: z.output<typeof payloadV1>): Decoded {
  const known = networkOf(network)
  const rest = { challenge: null, extensions: {}, ...signedBy(signed) }
  return { version: 1, payload, scheme, networkName: network, network: known, ...rest }
}

function fromV2(payload: Read, { accepted, payload: signed, extensions }: z.output<typeof payloadV2>): Decoded {
  const { scheme, network } = accepted
  const rest = { challenge: null, extensions: extensions ?? {}, ...signedBy(signed) }
  return { version: 2, payload, scheme, networkName: network, network: networkOf(network), ...rest }
}

/** A charge of MPP, as the payment of x402 version 2 with the same authorization: both settle in the same way. */
function fromCredential(json: Read, fault: Fault): Decoded {
  const read = readCredential(json)
  if ('faults' in read) throw fault(...read.faults)
  const { challenge, payload } = read.credential
  const { request, network } = chargeIn(challenge, fault)
  const networkName = `eip155:${String(request.methodDetails.chainId)}`
  if (payload.type !== 'authorization') {
    const unsigned = { challenge, extensions: {}, ...UNSIGNED }
    return { version: 2, payload: {}, scheme: 'exact', networkName, network, ...unsigned }
  }
  const { signature, ...rest } = payload
  const authorization = Object.fromEntries(Object.entries(rest).filter(([name]) => name !== 'type'))
  const parsed = exactPayload.safeParse({ signature, authorization })
  if (!parsed.success) {
    throw fault(...parsed.error.issues.map(({ path, message }) => [['payload', ...path].join('.'), message] as const))
  }
  const signed = { challenge, extensions: {}, ...signedBy(parsed.data) }
  const exact = { signature, authorization }
  return { version: 2, payload: { payload: exact }, scheme: 'exact', networkName, network, ...signed }
}

function chargeIn(challenge: Challenge, fault: Fault) {
  const parsed = chargeRequest.safeParse(
    jsonIn(challenge.request, (...faults) =>
      fault(...faults.map(([path, why]) => [path === '' ? 'challenge.request' : path, why] as const)),
    ),
  )
  if (!parsed.success) throw fault(['challenge.request', 'must be the terms of an evm charge'])
  return { request: parsed.data, network: networkOf(`eip155:${String(parsed.data.methodDetails.chainId)}`) }
}

function signedBy(payload: AnyPayload | null): Pick<Presented, 'authorization' | 'payer' | 'escrow' | 'permit'> {
  if (payload === null) return UNSIGNED
  if ('permit2Authorization' in payload) return { ...UNSIGNED, ...permittedBy(payload) }
  const escrow = escrowPayloadOf(payload)
  if ('paymentInfo' in payload) return { ...UNSIGNED, payer: payload.paymentInfo.payer, escrow }
  const { authorization, signature } = payload
  const from = authorization.from.toLowerCase() as Address
  return { ...UNSIGNED, authorization: { ...authorization, from, signature }, payer: authorization.from, escrow }
}

const UNSIGNED = { authorization: null, payer: null, escrow: null, permit: null } as const

/**
 * The request to a facilitator about this payment, for our own terms. The parsed form is cached, so that it is not
 * decoded again.
 */
export function requestOf(presented: Presented, requirements: Requirements): RequestBody {
  const { v1, v2, upto, escrow, listed = v2.amount } = requirements
  const { version, challenge, permit } = presented
  const written = withoutOffers(presented.payload)
  const payload = challenge === null ? written : { ...written, x402Version: 2, accepted: v2 }
  const byUse = permit === null ? undefined : upto
  const terms = escrow ?? byUse ?? (version === 1 ? v1 : v2)
  const request = { x402Version: version, paymentPayload: payload, paymentRequirements: terms }
  const { scheme, network, payTo, asset, extra } = terms
  const amount = BigInt('amount' in terms ? terms.amount : terms.maxAmountRequired)
  const required = {
    scheme,
    network,
    amount,
    domain: extra,
    payTo: payTo.toLowerCase() as Address,
    asset: asset.toLowerCase() as Address,
  }
  const held = escrow === undefined ? null : { terms: termsOf(extra, escrow.maxTimeoutSeconds) }
  READ.set(request, combined(presented, required, held))
  // Terms with absolute times have no place in a catalogue, and neither has what one buyer used.
  if (escrow === undefined && byUse === undefined) OFFERED.set(request, { v1, v2, listed })
  return request
}

/** The terms for which a request was made here. Null for a request that was read from the database. */
export function offeredIn(request: RequestBody): Offered | null {
  return OFFERED.get(request) ?? null
}

export type Offered = Pick<Requirements, 'v1' | 'v2'> & { listed: string }

const OFFERED = new WeakMap<RequestBody, Offered>()

/** Parses a request that was stored, or made here. */
export function readRequest(request: RequestBody): PaymentRequest {
  const known = READ.get(request)
  if (known !== undefined) return known
  const parsed = paymentRequest.safeParse(request)
  if (!parsed.success) {
    const { path = [], message = 'is not an x402 payment' } = parsed.error.issues[0] ?? {}
    throw invalid({ [['payment', ...path].join('.')]: message }, 'invalid_payment')
  }
  const read = toRequest(parsed.data)
  READ.set(request, read)
  return read
}

const READ = new WeakMap<RequestBody, PaymentRequest>()

/** A request from the wire, decoded by its schema. */
export function toRequest(request: z.output<typeof paymentRequest>): PaymentRequest {
  const presented = request.x402Version === 1 ? fromV1({}, request.paymentPayload) : fromV2({}, request.paymentPayload)
  const { scheme, network, payTo, asset, extra, maxTimeoutSeconds } = request.paymentRequirements
  const domain = { name: extra?.name ?? null, version: extra?.version ?? null }
  const amount =
    request.x402Version === 1 ? request.paymentRequirements.maxAmountRequired : request.paymentRequirements.amount
  const terms = scheme === 'auth-capture' ? { terms: termsOf(extra, maxTimeoutSeconds) } : null
  return combined(presented, { scheme, network, payTo, asset, amount, domain }, terms)
}

function combined(
  { version, scheme, networkName, authorization, payer, escrow, permit, extensions }: Decoded,
  required: PaymentRequest['required'],
  terms: Pick<EscrowRequest, 'terms'> | null,
): PaymentRequest {
  return {
    version,
    offered: { scheme, network: networkName },
    required,
    network: named(version, required.network),
    authorization,
    payer,
    escrow: terms === null ? null : { ...terms, payload: escrow },
    permit,
    tokenPermit: permit === null ? null : tokenPermitIn(extensions),
    valueMismatch:
      version === 1
        ? 'invalid_exact_evm_authorization_value'
        : 'invalid_exact_evm_payload_authorization_value_mismatch',
  }
}

/** Each version has its own network names. */
function named(version: Version, name: string): Network | null {
  const network = networkOf(name)
  return network !== null && name === (version === 1 ? network.name : network.caip2) ? network : null
}

/** A transfer that its payer signed for our own purposes and not for a seller, as a request to a facilitator. */
export function transferRequest(network: Network, signed: SignedAuthorization): PaymentRequest {
  const { from, to, value } = signed
  const { address: asset, name, version } = network.usdc
  return {
    version: 2,
    offered: { scheme: 'exact', network: network.caip2 },
    required: { scheme: 'exact', network: network.caip2, payTo: to, asset, amount: value, domain: { name, version } },
    network: NETWORKS[network.name],
    authorization: signed,
    payer: from,
    escrow: null,
    permit: null,
    tokenPermit: null,
    valueMismatch: 'invalid_exact_evm_payload_authorization_value_mismatch',
  }
}
