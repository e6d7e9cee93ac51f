/** Why a payment is refused: the reasons of `@x402/evm`, each with a sentence for people. */
const SENTENCES = {
  invalid_challenge: 'The credential does not answer a challenge of this address. Pay the challenge in this response.',
  invalid_exact_evm_scheme: 'Only the scheme "exact" is supported.',
  invalid_exact_evm_network_mismatch: 'Payload and requirements must name the same supported network.',
  invalid_exact_evm_missing_eip712_domain: 'The requirements lack the token name or version in `extra`.',
  invalid_exact_evm_token_name_mismatch: 'The token name in `extra` is not that of USDC on this network.',
  invalid_exact_evm_token_version_mismatch: 'The token version in `extra` is not that of USDC on this network.',
  asset_not_deployed_contract: 'The asset is not the USDC contract of this network.',
  unsupported_payload_type: 'Only EIP-3009 authorizations are supported.',
  eip6492_factory_not_allowed: 'A wallet that is not deployed yet cannot pay here.',
  invalid_exact_evm_signature: "The signature is not the payer's.",
  invalid_exact_evm_recipient_mismatch: 'The authorization names another recipient.',
  invalid_exact_evm_payload_authorization_valid_before: 'The authorization has expired, or is about to.',
  invalid_exact_evm_payload_authorization_valid_after: 'The authorization is not valid yet.',
  invalid_exact_evm_payload_authorization_value_mismatch: 'The authorized amount is not the required amount.',
  invalid_exact_evm_payload_authorization_value_too_low: 'The authorized amount is below the minimum for settlement.',
  invalid_exact_evm_authorization_value: 'The authorized amount is not the required amount.',
  invalid_exact_evm_nonce_already_used: "The authorization's nonce has been used already.",
  invalid_exact_evm_insufficient_balance: "The payer's balance is too low.",
  invalid_exact_evm_transaction_simulation_failed: 'The USDC contract would refuse the transfer.',
  invalid_exact_evm_transaction_failed: 'The chain refused the transfer.',
  facilitator_out_of_gas: 'This facilitator cannot pay the gas right now. Nothing was charged; try again later.',
  settlement_pending: 'Settlement is pending. Check again later, or look up the transaction.',
} as const

export type Reason = Exclude<keyof typeof SENTENCES, 'settlement_pending'>

/** For people. Programs use the reason. Another facilitator may have reasons of its own. */
export function sentenceOf(reason: string): string {
  return isReason(reason) ? SENTENCES[reason] : `The payment was refused (${reason}).`
}

function isReason(reason: string): reason is keyof typeof SENTENCES {
  return Object.hasOwn(SENTENCES, reason)
}

/** The reasons that later decisions depend on. */
export const USED = 'invalid_exact_evm_nonce_already_used' satisfies Reason
export const EXPIRED = 'invalid_exact_evm_payload_authorization_valid_before' satisfies Reason
