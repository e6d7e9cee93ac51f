import type { PaymentEventData } from '../../deliveries/model.ts'
import type { Presented } from '../../x402/model.ts'
import type { Reason } from '../../x402/reasons.ts'
import type { Address } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import { toWire, type Usdc } from '../../kit/money.ts'
import type { Payment } from '../model.ts'

/** What the seller's endpoints receive of a payment that failed. */
type FailureData = PaymentEventData & { reason: string | null }

export function failureOf(payment: Payment, endpoint: string, now: Date): FailureData {
  const { simulated } = payment
  return {
    ...dataOf(payment, { endpoint, customerId: payment.payer, reason: payment.reason, now }),
    id: payment.id,
    txHash: payment.txHash,
    ...(simulated ? { test: true } : {}),
  }
}

/** Of an authorization that was refused before it became a payment. */
export function refusalDataOf(refused: Refused, endpoint: string, now: Date): FailureData {
  const { checkoutId, terms, presented, reason } = refused
  const customerId = UNPROVEN.has(reason) ? null : (presented.authorization?.from ?? null)
  const payment = { checkoutId, amount: terms.amount, network: terms.network }
  return dataOf(payment, { endpoint, customerId, reason, now })
}

interface Refused {
  checkoutId: Payment['checkoutId']
  terms: { amount: Usdc; network: NetworkName; recipient: Address }
  presented: Presented
  reason: string
}

/**
 * Whether a refusal is worth an event. What was signed for another recipient or network is no payment to this seller,
 * and one whose nonce is used has paid already: both can be copied from the chain by anybody.
 */
export function isFailedPayment({ terms, presented, reason }: Omit<Refused, 'checkoutId'>): boolean {
  const { authorization, network } = presented
  if (authorization === null || reason === 'invalid_exact_evm_nonce_already_used') return false
  return network?.name === terms.network && authorization.to === terms.recipient
}

/** Refused before the signature was judged, or because of it: the address is anybody's word. */
const UNPROVEN: ReadonlySet<string> = new Set<Reason>([
  'invalid_exact_evm_scheme',
  'invalid_exact_evm_network_mismatch',
  'invalid_exact_evm_missing_eip712_domain',
  'invalid_exact_evm_token_name_mismatch',
  'invalid_exact_evm_token_version_mismatch',
  'asset_not_deployed_contract',
  'unsupported_payload_type',
  'eip6492_factory_not_allowed',
  'invalid_exact_evm_signature',
])

/** A stranger can sign as many as they like; a seller's endpoints receive so many an hour of one checkout. */
export const FAILURES_PER_HOUR = 30

function dataOf(
  { checkoutId, amount, network }: Pick<Payment, 'checkoutId' | 'amount' | 'network'>,
  about: { endpoint: string; customerId: string | null; reason: string | null; now: Date },
): FailureData {
  const { endpoint, customerId, reason, now } = about
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
    reason,
  }
}
