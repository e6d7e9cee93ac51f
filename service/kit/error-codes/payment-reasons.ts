/** Why a payment is refused: the reasons of `@x402/evm`, each with a sentence for people. */
export const PAYMENT_REASONS = {
  invalid_challenge: 'The credential does not answer a challenge of this address. Pay the challenge in this response.',
  invalid_exact_evm_scheme: 'Only the scheme "exact" is supported.',
  invalid_exact_evm_network_mismatch: 'Payload and requirements must name the same supported network.',
  invalid_exact_evm_missing_eip712_domain: 'The requirements lack the token name or version in `extra`.',
  invalid_exact_evm_token_name_mismatch: 'The token name in `extra` is not that of USDC on this network.',
  invalid_exact_evm_token_version_mismatch: 'The token version in `extra` is not that of USDC on this network.',
  asset_not_deployed_contract: 'The asset is not the USDC contract of this network.',
  unsupported_payload_type: 'Only EIP-3009 authorizations are supported.',
  eip6492_factory_not_allowed:
    'This wallet is not deployed yet, and this service does not deploy it. Send any transaction with the wallet once, or pay with another one.',
  smart_wallet_deployment_failed:
    'The wallet is not deployed yet, and its factory would not deploy it at the address that pays.',
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
  invalid_auth_capture_evm_scheme: 'Payload and requirements must both be of the scheme "auth-capture", in version 2.',
  invalid_auth_capture_evm_payload_format:
    'The payload must have an EIP-3009 authorization and a salt, and a saltNonce exactly when the requirements name a receiverAuthorizer.',
  invalid_auth_capture_evm_network_mismatch: 'Payload and requirements must name the same supported network.',
  invalid_auth_capture_evm_extra:
    'The `extra` of the requirements lacks a field, has one of another kind, or allows a fee that this facilitator does not take.',
  invalid_auth_capture_evm_unsupported_payment_flow: 'Only the payment flow "escrow" is supported.',
  invalid_auth_capture_evm_unsupported_operator_type: 'Only the operator type "delegated" is supported.',
  invalid_auth_capture_evm_policy: 'An operator of the type "delegated" has no policy.',
  invalid_auth_capture_evm_operator_not_admitted:
    'The captureAuthorizer is not an operator of this facilitator. Use the one that /supported names.',
  invalid_auth_capture_evm_operator_mismatch: "The payment's operator is not the captureAuthorizer.",
  invalid_auth_capture_evm_unsupported_asset_transfer_method: 'Only the transfer method "eip3009" is supported.',
  invalid_auth_capture_evm_requirements_mismatch: 'The payment is not the one that the requirements describe.',
  invalid_auth_capture_evm_deadline_ordering:
    'The authorization must end before the captureDeadline, and that before the refundDeadline.',
  invalid_auth_capture_evm_capture_deadline_expired: 'The captureDeadline has passed, or is about to.',
  invalid_auth_capture_evm_authorization_expired: 'The authorization has expired, or is about to.',
  invalid_auth_capture_evm_authorization_not_yet_valid: 'The authorization must be valid from 0.',
  invalid_auth_capture_evm_token_collector_mismatch: "The authorization's recipient is not the escrow's collector.",
  invalid_auth_capture_evm_erc6492_factory_not_allowed:
    'A wallet that is not deployed yet cannot pay into the escrow. Send any transaction with it once, or pay with another one.',
  invalid_auth_capture_evm_signature: "The signature is not the payer's.",
  invalid_auth_capture_evm_amount_mismatch: 'The amount is not the required one, or is below the minimum.',
  invalid_auth_capture_evm_nonce_mismatch: 'The nonce is not that of the payment that the requirements describe.',
  invalid_auth_capture_evm_salt_binding_mismatch: 'The salt does not bind the payment to the receiverAuthorizer.',
  invalid_auth_capture_evm_insufficient_balance: "The payer's balance is too low.",
  invalid_auth_capture_evm_payment_already_collected: "The payment's money was taken already, or was cancelled.",
  invalid_auth_capture_evm_lifecycle_not_relayed:
    'The requirements name no receiverAuthorizer, so no one can ask for a capture or a void here.',
  invalid_auth_capture_evm_authorizer_signature: "The message is not signed by the payment's receiverAuthorizer.",
  invalid_auth_capture_evm_void_authorizer_signature:
    "The request to void the rest is not signed by the payment's receiverAuthorizer.",
  invalid_auth_capture_evm_void_remainder_full_capture: 'The capture takes everything, so there is nothing to void.',
  invalid_auth_capture_evm_fee_bps_out_of_range: 'This facilitator takes no fee: feeAmount must be 0.',
  invalid_auth_capture_evm_fee_receiver: "The feeReceiver is not the payment's.",
  invalid_auth_capture_evm_unexpected_payment_state:
    'The payment does not hold the expected amounts, or another message about it is under way. Read its state and sign a new message.',
  invalid_auth_capture_evm_insufficient_authorization: 'The escrow holds less than the capture asks for.',
  invalid_auth_capture_evm_zero_authorization: 'The escrow holds nothing of this payment.',
  invalid_auth_capture_evm_refund_funding_unavailable:
    'This facilitator makes no refunds of captured money, since it would pay them itself. Send the refund as a payment of your own.',
  invalid_auth_capture_evm_simulation_failed: 'The escrow would refuse the call.',
  invalid_auth_capture_evm_transaction_reverted: 'The chain refused the call of the escrow.',
  facilitator_out_of_gas: 'This facilitator cannot pay the gas right now. Nothing was charged; try again later.',
  settlement_pending: 'Settlement is pending. Check again later, or look up the transaction.',
} as const
