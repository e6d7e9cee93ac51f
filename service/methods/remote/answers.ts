import { networkOf } from '../../chain/networks.ts'
import type { PaymentRequest } from '../../x402/model.ts'
import { EXPIRED, type Reason } from '../../x402/reasons.ts'
import type { Settled } from '../../sales/model.ts'

/**
 * Checks that need no facilitator: an authorization for something else is refused, even if a facilitator accepts it.
 */
export function refuseHere(request: PaymentRequest, now: Date): Reason | null {
  const { network, required, offered, authorization, permit } = request
  if (authorization === null || permit !== null) return 'unsupported_payload_type'
  if (network === null || networkOf(offered.network)?.name !== network.name) return 'invalid_exact_evm_network_mismatch'
  if (authorization.to !== required.payTo) return 'invalid_exact_evm_recipient_mismatch'
  if (authorization.value !== required.amount) return 'invalid_exact_evm_payload_authorization_value_mismatch'
  const seconds = BigInt(Math.floor(now.getTime() / 1000))
  if (authorization.validBefore < seconds + 6n) return EXPIRED
  if (authorization.validAfter > seconds) return 'invalid_exact_evm_payload_authorization_valid_after'
  return null
}

/** Null when the answer does not have the form of a verdict. */
export function readVerdict(status: number, json: unknown): { refusal: string | null } | null {
  if (typeof json !== 'object' || json === null || (status !== 200 && status !== 400)) return null
  const { isValid, valid, invalidReason, reason } = json as Record<string, unknown>
  const said = isValid ?? valid
  if (typeof said !== 'boolean') return null
  if (said) return status === 200 ? { refusal: null } : null
  const why = invalidReason ?? reason
  return { refusal: typeof why === 'string' && REASON.test(why) ? why : 'invalid_payment' }
}

/** Pending unless a well-formed answer reports another outcome clearly. */
export function readSettled(status: number, json: unknown): Settled {
  if (status !== 200 || typeof json !== 'object' || json === null) return { status: 'pending' }
  const { success, settled, transaction, txHash, errorReason } = json as Record<string, unknown>
  const said = success ?? settled
  const hash = typeof transaction === 'string' && transaction !== '' ? transaction : txHash
  if (said === true) {
    return typeof hash === 'string' && /^0x[0-9a-fA-F]{64}$/.test(hash)
      ? { status: 'settled', txHash: hash.toLowerCase() }
      : { status: 'pending' }
  }
  if (said !== false || typeof errorReason !== 'string' || !REASON.test(errorReason)) return { status: 'pending' }
  // The authorization may have been used by the very settlement whose answer got lost.
  return UNCLEAR.test(errorReason) ? { status: 'pending' } : { status: 'failed', reason: errorReason }
}

const REASON = /^[a-z0-9_]{1,100}$/
const UNCLEAR = /pending|nonce_already_used|unexpected|timeout/
