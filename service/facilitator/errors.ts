import { DomainError } from '../kit/errors.ts'
import type { Answer, GasShares, Reason } from './model.ts'

/** For people; programs go by the reason. */
const SENTENCES: Readonly<Record<Reason | 'settlement_pending', string>> = {
  invalid_exact_evm_scheme: 'Only the scheme "exact" is served.',
  invalid_exact_evm_network_mismatch: 'Payload and requirements must name the same supported network.',
  invalid_exact_evm_missing_eip712_domain: 'The requirements lack the token name or version in `extra`.',
  invalid_exact_evm_token_name_mismatch: 'The token name in `extra` is not that of USDC on this network.',
  invalid_exact_evm_token_version_mismatch: 'The token version in `extra` is not that of USDC on this network.',
  asset_not_deployed_contract: 'The asset is not the USDC contract of this network.',
  unsupported_payload_type: 'Only EIP-3009 authorizations are served.',
  eip6492_factory_not_allowed: 'A wallet that is not deployed yet cannot pay here.',
  invalid_exact_evm_signature: "The signature is not the payer's.",
  invalid_exact_evm_recipient_mismatch: 'The authorization names another recipient.',
  invalid_exact_evm_payload_authorization_valid_before: 'The authorization has expired, or is about to.',
  invalid_exact_evm_payload_authorization_valid_after: 'The authorization is not valid yet.',
  invalid_exact_evm_payload_authorization_value_mismatch: 'The authorized amount is not the required one.',
  invalid_exact_evm_payload_authorization_value_too_low:
    'The authorized amount is below the least that is settled here.',
  invalid_exact_evm_authorization_value: 'The authorized amount is not the required one.',
  invalid_exact_evm_nonce_already_used: "The authorization's nonce has been used already.",
  invalid_exact_evm_insufficient_balance: "The payer's balance is too low.",
  invalid_exact_evm_transaction_simulation_failed: 'The transfer would be refused by the USDC contract.',
  invalid_exact_evm_transaction_failed: 'The chain refused the transfer.',
  facilitator_out_of_gas: 'This facilitator cannot pay the gas right now. Nothing was charged; try again later.',
  settlement_pending: 'The transfer is on its way; ask again, or look at its transaction.',
}

export function sentenceOf(reason: Reason | 'settlement_pending'): string {
  return SENTENCES[reason]
}

export function networkUnavailable(network: string, lacks: 'RPC' | 'sponsor'): DomainError {
  const sentence = `Payments on ${network} are not available: this facilitator has no ${lacks} for it.`
  return new DomainError('unavailable', 'network_unavailable', sentence, { retryAfterSeconds: 60 })
}

/** For those who sell: said before any work is done. */
export function outOfGas(network: string): DomainError {
  const sentence = `Payments on ${network} are not possible right now: the gas cannot be paid. Nothing was charged; try again later.`
  return new DomainError('unavailable', 'facilitator_out_of_gas', sentence, { retryAfterSeconds: 60 })
}

export function gasSpent(network: string, of: keyof GasShares, retryAfterSeconds: number): DomainError {
  return of === 'network'
    ? new DomainError('unavailable', 'gas_budget_spent', `Today's gas for ${network} is spent.`, { retryAfterSeconds })
    : new DomainError('limited', `${of}_gas_budget_spent`, `Today's gas for this ${of} on ${network} is spent.`, {
        retryAfterSeconds,
      })
}

/** The chain refused for a reason of ours: sellers and buyers did nothing wrong, so the answer is a 500. */
export function settlementFailed(
  answer: Answer & { status: 'failed' },
  body: Readonly<Record<string, unknown>>,
): DomainError {
  return new DomainError('failed', answer.reason, SENTENCES[answer.reason], body)
}

export function settlementMissing(): DomainError {
  return new DomainError('missing', 'settlement_not_found', 'No settlement of this authorization is known here.')
}

/** One authorization buys one thing. */
export function authorizationUsed(): DomainError {
  return new DomainError('conflict', 'authorization_used', 'This authorization has paid for something else already.')
}

/** A submitted authorization can be read on the chain by everybody: the answer is the same for every state of its sale. */
export function paymentSubmitted(): DomainError {
  return new DomainError(
    'conflict',
    'payment_submitted',
    'This authorization was submitted already and proves nothing any more. Send the payment token beside it as ' +
      'X-Payment-Token, or its nonce as X-Payment-ID with a fresh signature of the payer. You are not charged twice.',
  )
}
