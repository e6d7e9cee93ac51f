import type { PaymentEventData } from '../../deliveries/model.ts'
import type { Presented } from '../../x402/model.ts'
import type { Reason } from '../../x402/reasons.ts'
import type { Address } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import { toWire, type Usdc } from '../../kit/money.ts'
import type { Payment } from '../model.ts'
import { linesWith } from './price.ts'

/** The event data of a failed payment for the seller's endpoints. */
type FailureData = PaymentEventData & { reason: string | null }

export function failureOf(payment: Payment, endpoint: string, now: Date): FailureData {
  return { ...paymentDataOf(payment, endpoint, now), reason: payment.reason }
}

/** The data of a payment, completed or failed. */
export function paymentDataOf(payment: Payment, endpoint: string, now: Date): PaymentEventData {
  const { id, txHash, simulated, right, lines } = payment
  const isPass = right?.kind === 'pass' && right.id !== null
  return {
    ...dataOf(payment, { endpoint, customerId: payment.payer, now }),
    id,
    txHash,
    lines: linesWith(lines, toWire),
    ...(simulated ? { test: true } : {}),
    ...(right === null ? {} : { free: right.kind, ...(isPass ? { passId: right.id ?? '' } : {}) }),
  }
}

/** The same for an authorization that was refused before it became a payment. */
export function refusalDataOf(refused: Refused, endpoint: string, now: Date): FailureData {
  const { checkoutId, terms, presented, reason } = refused
  const customerId = UNPROVEN.has(reason) ? null : (presented.authorization?.from ?? null)
  const payment = { checkoutId, amount: terms.amount, network: terms.network }
  return { ...dataOf(payment, { endpoint, customerId, now }), reason }
}

interface Refused {
  checkoutId: Payment['checkoutId']
  terms: { amount: Usdc; network: NetworkName; recipient: Address }
  presented: Presented
  reason: string
}

/**
 * Whether a refusal is worth an event. An authorization for another recipient or network is no payment to this seller,
 * and one with a used nonce has paid already: any client can copy both from the chain.
 */
export function isFailedPayment({ terms, presented, reason }: Omit<Refused, 'checkoutId'>): boolean {
  const { authorization, network } = presented
  if (authorization === null || reason === 'invalid_exact_evm_nonce_already_used') return false
  return network?.name === terms.network && authorization.to === terms.recipient
}

/** Refused because of the signature or before it was verified: the payer's address is unproven. */
const UNPROVEN: ReadonlySet<string> = new Set<Reason>([
  'invalid_exact_evm_scheme',
  'invalid_exact_evm_network_mismatch',
  'invalid_exact_evm_missing_eip712_domain',
  'invalid_exact_evm_token_name_mismatch',
  'invalid_exact_evm_token_version_mismatch',
  'asset_not_deployed_contract',
  'unsupported_payload_type',
  'eip6492_factory_not_allowed',
  'smart_wallet_deployment_failed',
  'invalid_exact_evm_signature',
])

/**
 * Any client can sign any number of authorizations, so a seller's endpoints receive at most this many failures per hour
 * and checkout.
 */
export const FAILURES_PER_HOUR = 30

function dataOf(
  { checkoutId, amount, network }: Pick<Payment, 'checkoutId' | 'amount' | 'network'>,
  about: { endpoint: string; customerId: string | null; now: Date },
): PaymentEventData {
  const { endpoint, customerId, now } = about
  return {
    id: null,
    checkoutId,
    paywallId: null,
    customerId,
    amount: toWire(amount),
    currency: 'USDC',
    endpoint,
    route: null,
    network,
    txHash: null,
    at: now.toISOString(),
  }
}
