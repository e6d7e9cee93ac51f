import type { Address, Hex } from '../../chain/model.ts'
import type { Presented } from '../../x402/model.ts'
import { isUsed, type Reason } from '../../x402/reasons.ts'
import type { Terms } from './deps.ts'

export interface Refused {
  terms: Pick<Terms, 'amount' | 'network' | 'recipient'>
  presented: Presented
  reason: string
  digest: Hex | null
}

/** What a seller learns of a refused authorization. The key is the same each time it is presented. */
export interface FailedPayment {
  /** Null where the signature does not prove it. */
  payer: Address | null
  key: Buffer
}

/**
 * Null for a refusal that is not worth an event. An authorization for another recipient or network is no payment to this
 * seller, and one with a used nonce has paid already: any client can copy both from the chain.
 */
export function failedPaymentOf({ terms, presented, reason, digest }: Refused): FailedPayment | null {
  const { authorization, network } = presented
  if (digest === null || authorization === null || isUsed(reason)) return null
  if (network?.name !== terms.network || authorization.to !== terms.recipient) return null
  return { payer: UNPROVEN.has(reason) ? null : authorization.from, key: Buffer.from(digest.slice(2), 'hex') }
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
  'invalid_upto_evm_scheme',
  'invalid_upto_evm_network_mismatch',
  'upto_facilitator_mismatch',
  'invalid_permit2_spender',
  'invalid_permit2_recipient_mismatch',
  'permit2_token_mismatch',
  'permit2_amount_mismatch',
  'invalid_permit2_signature',
])

/**
 * Any client can sign any number of authorizations, so a seller's endpoints receive at most this many failures per hour
 * and checkout or paywall.
 */
export const FAILURES_PER_HOUR = 30
