import { ZERO_ADDRESS } from '../kit/address.ts'
import { z } from 'zod'
import type { Address, EscrowHashes, Hex, PaymentInfo } from '../chain/model.ts'
import { EIP6492_END, ESCROW, NETWORKS, networkOf, type Network } from '../chain/networks.ts'
import type { EscrowPayload, EscrowRequirements, EscrowTerms, PaymentRequest, Presented, Price } from './model.ts'
import type { Reason } from './reasons.ts'
import { TIMEOUT_SECONDS } from './requirements.ts'
import { address, basisPoints, isTooLong, unixTime, type ExactPayload, type LifecyclePayload } from './schema.ts'

/*
 * The scheme `auth-capture`: the payer's money waits in a contract. Its operator, which is this service, captures it for
 * the seller or gives it back; after the capture deadline the payer takes back what is left, and needs no one for it.
 */

/** The seller's terms. Null when something is missing or cannot be read. */
export function termsOf(extra: unknown, maxTimeoutSeconds: number | undefined): EscrowTerms | null {
  const parsed = escrowExtra.safeParse(extra)
  if (!parsed.success || maxTimeoutSeconds === undefined) return null
  const { receiverAuthorizer, policy, autoCapture, paymentFlow, authCaptureEscrow, ...terms } = parsed.data
  if (authCaptureEscrow !== ESCROW.address) return null
  return {
    ...terms,
    // The first version of the scheme asked for a charge in this way.
    paymentFlow: autoCapture === true ? 'charge' : paymentFlow,
    receiverAuthorizer: receiverAuthorizer === ZERO_ADDRESS ? null : receiverAuthorizer,
    hasPolicy: policy !== ZERO_ADDRESS,
    maxTimeoutSeconds,
  }
}

const escrowExtra = z.object({
  captureAuthorizer: address,
  receiverAuthorizer: address.default(ZERO_ADDRESS),
  policy: address.default(ZERO_ADDRESS),
  captureDeadline: unixTime,
  refundDeadline: unixTime,
  feeRecipient: address,
  minFeeBps: basisPoints,
  maxFeeBps: basisPoints,
  name: z.string(),
  version: z.string(),
  operatorType: z.string().default('delegated'),
  paymentFlow: z.string().default('escrow'),
  assetTransferMethod: z.string().default('eip3009'),
  authCaptureEscrow: address.default(ESCROW.address),
  autoCapture: z.unknown().optional(),
})

/** What a payload has for the escrow. Null when it has nothing for it. */
export function escrowPayloadOf(payload: ExactPayload | LifecyclePayload): EscrowPayload | null {
  if (!('paymentInfo' in payload)) {
    const { salt, saltNonce } = payload
    return salt === undefined ? null : { type: 'authorize', salt, saltNonce: saltNonce ?? null }
  }
  const { paymentInfo, saltNonce, authorizerSignature: signature } = payload
  const payer = paymentInfo.payer.toLowerCase() as Address
  const lifecycle = { info: { ...paymentInfo, payer }, saltNonce, signature }
  if (payload.type === 'void') return { type: 'void', ...lifecycle }
  if (payload.type === 'refund') return { type: 'refund', ...lifecycle }
  const { type, amount, feeAmount, feeReceiver, voidAuthorizerSignature } = payload
  const expected = { capturable: payload.expectedCapturableAmount, refundable: payload.expectedRefundableAmount }
  return {
    type,
    ...lifecycle,
    amount,
    feeAmount,
    feeReceiver,
    expected,
    voidSignature: voidAuthorizerSignature ?? null,
  }
}

/**
 * The terms of one of our own sales: no fee, and no key of the seller that signs messages, since the service acts for
 * it. No refund either once the money was captured, so refunds end with captures.
 */
export function escrowRequirementsOf(price: Price, operator: Address, captureDeadline: number): EscrowRequirements {
  const { caip2, usdc } = NETWORKS[price.network]
  return {
    scheme: 'auth-capture',
    network: caip2,
    amount: String(price.amount),
    payTo: price.recipient,
    maxTimeoutSeconds: TIMEOUT_SECONDS,
    asset: usdc.checksummed,
    extra: {
      name: usdc.name,
      version: usdc.version,
      captureAuthorizer: operator,
      captureDeadline,
      refundDeadline: captureDeadline,
      feeRecipient: ZERO_ADDRESS,
      minFeeBps: 0,
      maxFeeBps: 0,
      paymentFlow: 'escrow',
      captureMode: 'deferred',
      authCaptureEscrow: ESCROW.address,
    },
  }
}

/**
 * What a wallet signs for these terms, for a page that cannot hash: the nonce names the whole agreement except the
 * payer.
 */
export function prepareEscrow(
  { payTo, asset, amount, network, extra }: EscrowRequirements,
  { salt, now, hashes }: { salt: Hex; now: Date; hashes: EscrowHashes },
): { to: Address; salt: Hex; nonce: Hex; validBefore: number } {
  const on = networkOf(network)
  if (on === null) throw new Error('the terms name an unknown network')
  const validBefore = Math.floor(now.getTime() / 1_000) + SIGNABLE_SECONDS
  const info = {
    operator: extra.captureAuthorizer,
    payer: ZERO_ADDRESS,
    receiver: payTo,
    token: asset.toLowerCase() as Address,
    maxAmount: BigInt(amount),
    preApprovalExpiry: BigInt(validBefore),
    authorizationExpiry: BigInt(extra.captureDeadline),
    refundExpiry: BigInt(extra.refundDeadline),
    minFeeBps: extra.minFeeBps,
    maxFeeBps: extra.maxFeeBps,
    feeReceiver: extra.feeRecipient,
    salt,
  } as const
  return { to: ESCROW.collector, salt, nonce: hashes.nonce(on, info), validBefore }
}

/** For a person who reads it in the wallet before signing. */
const SIGNABLE_SECONDS = 900

/** Until when money that is offered now waits: for the signature, the work, and a capture that meets trouble. */
export function captureDeadlineOf(workMs: number, now: Date): number {
  return leastDeadline(workMs, now) + TIMEOUT_SECONDS
}

/**
 * The deadline in the terms that the payer accepted, since each 402 has a later one. Null when it leaves too little time
 * for the work, or when it is later than any that was offered.
 */
export function acceptedDeadline({ payload }: Presented, workMs: number, now: Date): number | null {
  const parsed = accepted.safeParse(payload)
  if (!parsed.success) return null
  const { captureDeadline } = parsed.data.accepted.extra
  const fits = captureDeadline >= leastDeadline(workMs, now) && captureDeadline <= captureDeadlineOf(workMs, now)
  return fits ? captureDeadline : null
}

const accepted = z.object({ accepted: z.object({ extra: z.object({ captureDeadline: z.int() }) }) })

function leastDeadline(workMs: number, now: Date): number {
  return Math.floor(now.getTime() / 1_000) + Math.ceil(workMs / 1_000) + CAPTURE_SECONDS
}

/** For the capture after the work: an hour, so that neither a slow chain nor a restart costs the seller its money. */
const CAPTURE_SECONDS = 3_600

/** A payment for the escrow whose terms are right, and what its payer agreed to. */
export interface EscrowPayment {
  terms: EscrowTerms
  payload: EscrowPayload
  network: Network
  info: PaymentInfo
}

/** Refuses terms that are wrong regardless of the chain and the clock, in the order of the specification. */
export function readEscrowPayment(
  payment: PaymentRequest,
  operators: readonly Address[],
  hashes: EscrowHashes,
): EscrowPayment | Reason {
  const { offered, required, network, authorization, escrow } = payment
  const { terms = null, payload = null } = escrow ?? {}
  if (payload === null) return 'invalid_auth_capture_evm_payload_format'
  if (offered.scheme !== 'auth-capture' || payment.version !== 2) return 'invalid_auth_capture_evm_scheme'
  if (network === null || offered.network !== required.network) return 'invalid_auth_capture_evm_network_mismatch'
  if (terms === null) return 'invalid_auth_capture_evm_extra'
  const refusal = refuseTerms(terms, operators) ?? refuseToken(required, network)
  if (refusal !== null) return refusal
  if (payload.type === 'authorize') {
    if (authorization === null) return 'invalid_auth_capture_evm_payload_format'
    const info = infoOf(payment, terms, { ...authorization, salt: payload.salt })
    const refused = refuseAuthorization(payment, terms, hashes.nonce(network, info))
    const bound = refused ?? refuseBinding(terms, payload.salt, payload.saltNonce, hashes)
    return bound ?? { terms, payload, network, info }
  }
  if (terms.receiverAuthorizer === null) return 'invalid_auth_capture_evm_lifecycle_not_relayed'
  // Refunds come from the operator's own money, and it holds none of the seller's.
  if (payload.type === 'refund') return 'invalid_auth_capture_evm_refund_funding_unavailable'
  const { info } = payload
  if (info.operator !== terms.captureAuthorizer) return 'invalid_auth_capture_evm_operator_mismatch'
  const bound = refuseBinding(terms, info.salt, payload.saltNonce, hashes)
  if (bound !== null) return bound
  const agreed = infoOf(payment, terms, { from: info.payer, validBefore: info.preApprovalExpiry, salt: info.salt })
  if (hashes.paymentHash(network, agreed) !== hashes.paymentHash(network, info)) {
    return 'invalid_auth_capture_evm_requirements_mismatch'
  }
  return refuseCapture(payload) ?? { terms, payload, network, info }
}

function refuseTerms(terms: EscrowTerms, operators: readonly Address[]): Reason | null {
  const { paymentFlow, operatorType, minFeeBps, maxFeeBps, feeRecipient } = terms
  // The fee that is submitted is always zero. Without a recipient in the terms, an operator could name itself.
  if (minFeeBps > 0 || (feeRecipient === ZERO_ADDRESS && maxFeeBps > 0)) return 'invalid_auth_capture_evm_extra'
  if (paymentFlow !== 'escrow') return 'invalid_auth_capture_evm_unsupported_payment_flow'
  if (operatorType !== 'delegated') return 'invalid_auth_capture_evm_unsupported_operator_type'
  if (terms.hasPolicy) return 'invalid_auth_capture_evm_policy'
  if (!operators.includes(terms.captureAuthorizer)) return 'invalid_auth_capture_evm_operator_not_admitted'
  if (terms.assetTransferMethod !== 'eip3009') return 'invalid_auth_capture_evm_unsupported_asset_transfer_method'
  if (terms.refundDeadline < terms.captureDeadline) return 'invalid_auth_capture_evm_deadline_ordering'
  return null
}

function refuseToken({ asset, domain }: PaymentRequest['required'], { usdc }: Network): Reason | null {
  if (asset !== usdc.address) return 'asset_not_deployed_contract'
  const { name, version } = domain
  return name === usdc.name && version === usdc.version ? null : 'invalid_auth_capture_evm_extra'
}

function refuseAuthorization(payment: PaymentRequest, terms: EscrowTerms, nonce: Hex): Reason | null {
  const { authorization, required } = payment
  if (authorization === null) return 'invalid_auth_capture_evm_payload_format'
  if (authorization.signature.endsWith(EIP6492_END)) return 'invalid_auth_capture_evm_erc6492_factory_not_allowed'
  if (isTooLong(authorization)) return 'invalid_auth_capture_evm_signature'
  if (authorization.validBefore > terms.captureDeadline) return 'invalid_auth_capture_evm_deadline_ordering'
  // The collector writes zero into what it has the token check.
  if (authorization.validAfter !== 0n) return 'invalid_auth_capture_evm_authorization_not_yet_valid'
  if (authorization.to !== ESCROW.collector) return 'invalid_auth_capture_evm_token_collector_mismatch'
  if (authorization.value !== required.amount || required.amount >= 2n ** 120n) {
    return 'invalid_auth_capture_evm_amount_mismatch'
  }
  return authorization.nonce === nonce ? null : 'invalid_auth_capture_evm_nonce_mismatch'
}

/** The salt proves to which address the payer bound the seller's messages. */
function refuseBinding(terms: EscrowTerms, salt: Hex, saltNonce: Hex | null, hashes: EscrowHashes): Reason | null {
  const { receiverAuthorizer } = terms
  if ((saltNonce === null) !== (receiverAuthorizer === null)) return 'invalid_auth_capture_evm_payload_format'
  if (saltNonce === null || receiverAuthorizer === null) return null
  return hashes.boundSalt(receiverAuthorizer, saltNonce) === salt
    ? null
    : 'invalid_auth_capture_evm_salt_binding_mismatch'
}

function refuseCapture(payload: EscrowPayload): Reason | null {
  if (payload.type !== 'capture') return null
  const { info, feeAmount, feeReceiver, amount, expected, voidSignature } = payload
  if (feeAmount !== 0n) return 'invalid_auth_capture_evm_fee_bps_out_of_range'
  if (info.feeReceiver !== ZERO_ADDRESS && feeReceiver !== info.feeReceiver)
    return 'invalid_auth_capture_evm_fee_receiver'
  if (amount === 0n) return 'invalid_auth_capture_evm_amount_mismatch'
  if (amount > expected.capturable) return 'invalid_auth_capture_evm_insufficient_authorization'
  if (voidSignature !== null && amount === expected.capturable) {
    return 'invalid_auth_capture_evm_void_remainder_full_capture'
  }
  return null
}

/** What the terms make of a payment. `validBefore` is the payer's choice. */
function infoOf(
  { required }: PaymentRequest,
  terms: EscrowTerms,
  { from, validBefore, salt }: { from: Address; validBefore: bigint; salt: Hex },
): PaymentInfo {
  return {
    operator: terms.captureAuthorizer,
    payer: from,
    receiver: required.payTo,
    token: required.asset,
    maxAmount: required.amount,
    preApprovalExpiry: validBefore,
    authorizationExpiry: terms.captureDeadline,
    refundExpiry: terms.refundDeadline,
    minFeeBps: terms.minFeeBps,
    maxFeeBps: terms.maxFeeBps,
    feeReceiver: terms.feeRecipient,
    salt,
  }
}
