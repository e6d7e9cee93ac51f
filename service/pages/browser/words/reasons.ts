import { say, type PlainKey } from './say.ts'

/** Why a payment or a call was refused, in the reader's language; the server's English where the code is not known. */
export function sentenceOf({ code, sentence }: { code: string; sentence: string }): string {
  const key = REASONS[code]
  if (key !== undefined) return say(key)
  const work = WORK[code]
  // A seller's own explanation stays as it is written.
  if (work !== undefined) return sentence === work.english ? say(work.key) : charged(sentence)
  return charged(sentence)
}

/** The server's own end of a sentence, in the reader's language. */
function charged(sentence: string): string {
  return sentence.replace('Nothing was charged.', say('common.noCharge'))
}

/** `workflow_failed` and its like also stand for what the seller wrote. */
const WORK: Readonly<Record<string, { english: string; key: PlainKey }>> = {
  workflow_failed: {
    english: 'The order could not be completed. Nothing was charged.',
    key: 'error.workflow_failed',
  },
  workflow_unreachable: {
    english: 'The order could not be delivered to the seller. Nothing was charged.',
    key: 'error.workflow_unreachable',
  },
  workflow_timeout: { english: 'The order took too long. Nothing was charged.', key: 'error.workflow_timeout' },
}

/** The codes of x402 and of this service that a person at a page can meet. */
const REASONS: Readonly<Record<string, PlainKey>> = {
  invalid_exact_evm_signature: 'error.signature',
  invalid_auth_capture_evm_signature: 'error.signature',
  eip6492_factory_not_allowed: 'error.undeployed',
  smart_wallet_deployment_failed: 'error.undeployed',
  invalid_auth_capture_evm_erc6492_factory_not_allowed: 'error.undeployed',
  invalid_exact_evm_payload_authorization_valid_before: 'error.expired',
  invalid_auth_capture_evm_authorization_expired: 'error.expired',
  invalid_auth_capture_evm_capture_deadline_expired: 'error.expired',
  payment_expired: 'error.expired',
  invalid_exact_evm_nonce_already_used: 'error.used',
  invalid_auth_capture_evm_payment_already_collected: 'error.used',
  authorization_used: 'error.used',
  invalid_exact_evm_insufficient_balance: 'error.balance',
  invalid_auth_capture_evm_insufficient_balance: 'error.balance',
  insufficient_funds: 'error.balance',
  invalid_exact_evm_transaction_simulation_failed: 'error.transfer',
  invalid_exact_evm_transaction_failed: 'error.transfer',
  invalid_auth_capture_evm_simulation_failed: 'error.transfer',
  invalid_auth_capture_evm_transaction_reverted: 'error.transfer',
  authorization_busy: 'error.busy',
  payment_busy: 'error.busy',
  rpc_unavailable: 'error.network',
  network_unavailable: 'error.network',
  gas_budget_spent: 'error.network',
  gas_too_dear: 'error.network',
  facilitator_out_of_gas: 'error.network',
  payments_unavailable: 'error.impossible',
  escrow_unavailable: 'error.impossible',
  payer_defaulted: 'error.defaulted',
  rate_limited: 'error.limited',
}
