import type { CheckoutPage, Requirements } from '../../model.ts'
import type { Hex } from '../../../ui-kit/provider.ts'

/** A permission to move this amount of USDC once (EIP-3009). Numbers are text, as they are sent. */
export interface Authorization {
  from: Hex
  to: string
  value: string
  validAfter: string
  validBefore: string
  nonce: Hex
}

/** The payment payload of x402 version 2. */
export interface PaymentPayload {
  x402Version: 2
  resource: { url: string; description: string; mimeType: string }
  accepted: Requirements
  /** `salt`: for the escrow, whose nonce names the whole agreement. */
  payload: { signature: Hex; authorization: Authorization; salt?: string }
}

/** Valid long enough to read it in the wallet before signing. */
export function authorize(terms: Requirements, from: Hex, nowMs: number): Authorization {
  return {
    from,
    to: terms.payTo,
    value: terms.amount,
    // Zero, so that a wallet's or chain's slow clock does not refuse it.
    validAfter: '0',
    validBefore: String(Math.floor(nowMs / 1000) + Math.max(terms.maxTimeoutSeconds, VALID_SECONDS)),
    nonce: randomHex(),
  }
}

/** For the escrow: the service has computed the nonce, and the money goes to the contract that collects it. */
export function authorizePrepared(
  terms: Requirements,
  from: Hex,
  { to, nonce, validBefore }: NonNullable<CheckoutPage['prepared']>,
): Authorization {
  return { from, to, value: terms.amount, validAfter: '0', validBefore: String(validBefore), nonce: nonce as Hex }
}

export function typedData(terms: Requirements, message: Authorization) {
  // The escrow's collector takes the money itself; for a transfer anyone may send the signature.
  const primaryType = terms.scheme === 'exact' ? 'TransferWithAuthorization' : 'ReceiveWithAuthorization'
  return {
    types: {
      EIP712Domain: [
        { name: 'name', type: 'string' },
        { name: 'version', type: 'string' },
        { name: 'chainId', type: 'uint256' },
        { name: 'verifyingContract', type: 'address' },
      ],
      [primaryType]: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'validAfter', type: 'uint256' },
        { name: 'validBefore', type: 'uint256' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType,
    domain: {
      name: terms.extra.name,
      version: terms.extra.version,
      chainId: Number(terms.network.replace('eip155:', '')),
      verifyingContract: terms.asset,
    },
    message,
  }
}

/** Whether the signature still pays exactly these terms, and stays valid until a slow chain has settled it. */
export function stillPays({ accepted, payload }: PaymentPayload, terms: Requirements, nowMs: number): boolean {
  const { to, value, validBefore } = payload.authorization
  // The escrow's terms have other times at each look, so its signature is never used for a second order.
  if (accepted.scheme !== 'exact' || terms.scheme !== 'exact') return false
  return (
    same(to, terms.payTo) &&
    value === terms.amount &&
    accepted.network === terms.network &&
    same(accepted.asset, terms.asset) &&
    Number(validBefore) > nowMs / 1000 + MARGIN_SECONDS
  )
}

const VALID_SECONDS = 900
const MARGIN_SECONDS = 60

function same(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

/** Only the buyer has this token, which fetches a payment's answer again. */
export function randomToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  const text = btoa(String.fromCharCode(...bytes))
  return `tok_${text
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/={1,2}$/, '')}`
}

export function randomHex(): Hex {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return `0x${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
