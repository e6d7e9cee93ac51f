import type { Address, Hex, SignedAuthorization } from '../chain/model.ts'
import type { Network, NetworkName } from '../chain/networks.ts'

/** What either version of the protocol says, in one shape. */
export interface Payment {
  version: 1 | 2
  /** What the buyer chose to pay by. */
  offered: Way
  /** What the seller wants. */
  asked: Terms
  /** Both speak of this one; null where the version does not know the name. */
  network: Network | null
  /** Null when it is a payload of another kind than EIP-3009. */
  authorization: SignedAuthorization | null
  /** As it was written, for the answer. */
  payer: string | null
  /** The one reason that the versions call differently. */
  valueMismatch: Reason
}

export interface Way {
  scheme: string
  /** As it was written, for the answer. */
  network: string
}

export interface Terms extends Way {
  payTo: Address
  asset: Address
  /** Micro-USDC. */
  amount: bigint
  domain: { name: string | null; version: string | null }
}

/** Why a payment is not valid, in the words of `@x402/evm`. */
export type Reason =
  | 'invalid_exact_evm_scheme'
  | 'invalid_exact_evm_network_mismatch'
  | 'invalid_exact_evm_missing_eip712_domain'
  | 'invalid_exact_evm_token_name_mismatch'
  | 'invalid_exact_evm_token_version_mismatch'
  | 'asset_not_deployed_contract'
  | 'unsupported_payload_type'
  | 'eip6492_factory_not_allowed'
  | 'invalid_exact_evm_signature'
  | 'invalid_exact_evm_recipient_mismatch'
  | 'invalid_exact_evm_payload_authorization_valid_before'
  | 'invalid_exact_evm_payload_authorization_valid_after'
  | 'invalid_exact_evm_payload_authorization_value_mismatch'
  | 'invalid_exact_evm_payload_authorization_value_too_low'
  | 'invalid_exact_evm_authorization_value'
  | 'invalid_exact_evm_nonce_already_used'
  | 'invalid_exact_evm_insufficient_balance'
  | 'invalid_exact_evm_transaction_simulation_failed'
  | 'invalid_exact_evm_transaction_failed'
  | 'facilitator_out_of_gas'

export interface Verdict {
  payer: string | null
  /** Null when the payment is valid now. */
  refusal: Reason | null
  /** Its code decides whether the signature counts, and may decide otherwise a moment later. */
  payerHasCode: boolean
}

export type State = 'claimed' | 'signed' | 'broadcast' | 'settled' | 'failed'

/** An authorization that was claimed here, and how far it has come. */
export interface Settlement {
  /** EIP-712: its identity. */
  digest: Hex
  network: NetworkName
  authorization: SignedAuthorization
  payerHasCode: boolean
  /** Not to be batched: the payer has code, or the item failed among others. */
  alone: boolean
  gas: bigint
  seenBlock: bigint
  state: State
  attempts: number
  transactionId: bigint | null
  txHash: Hex | null
  blockNumber: bigint | null
  external: boolean
  final: boolean
  reason: Reason | null
  ours: boolean
  claimedAt: Date
  endedAt: Date | null
  offeredTo: string | null
  handedOutAt: Date | null
}

/** One nonce of a sponsor, with what is sent under it now. */
export interface Carrier {
  id: bigint
  network: NetworkName
  sponsor: Address
  nonce: number
  state: 'signed' | 'broadcast' | 'mined' | 'final' | 'lost'
  target: Address
  data: Hex
  gas: bigint
  maxFee: bigint
  priorityFee: bigint
  hash: Hex
  raw: Hex
  bumps: number
  signedAt: Date
  sentAt: Date | null
  blockNumber: bigint | null
  blockHash: Hex | null
  /** All that it was ever signed under, the newest first. */
  hashes: readonly Hex[]
}

/** What a caller of settle is told. Success is told once. */
export type Answer =
  | { status: 'settled'; success: true; payer: string; txHash: Hex }
  | { status: 'settled'; success: false; payer: string; txHash: Hex; reason: Reason }
  | { status: 'pending'; success: false; payer: string; txHash: Hex | null; reason: 'settlement_pending' }
  /** `ours`: neither buyer nor seller did anything wrong. */
  | { status: 'failed'; success: false; payer: string | null; txHash: null; reason: Reason; ours: boolean }

/** Who is told of a success, so that asking again under the same name gives the same answer. */
export interface Asker {
  operation: string
  /**
   * True: the name is kept and asked with again, so the success is theirs for good. False: they are told by a
   * connection that may break, and must be confirmed or withdrawn.
   */
  keeps: boolean
  /** How long they wait for the outcome; the service's own time when absent. */
  waitMs?: number
  /**
   * True: they signed for themselves and sold nothing, so a failure was no reason to give up. What failed is tried anew
   * as soon as the token would take it. For a sale it stays failed: the seller has sent the buyer away.
   */
  again?: boolean
  /** True: they ask over HTTP, and sell elsewhere. The gas that is reserved for the house's own sales is not theirs. */
  stranger?: boolean
  /** Where a stranger asks from, by the group of its address. */
  caller?: string
}

/** What an authorization was spent on, by whom that is sold: one thing, ever. */
export interface Purchase {
  /** EIP-712: the authorization's identity. */
  digest: Hex
  /** The name under which it is settled. */
  buys: string
}

export interface GasUsed {
  spent: GasShares
  /** Gas, not wei: its price is known once it is mined. */
  pending: GasShares
}

export interface GasShares {
  network: bigint
  payer: bigint
  recipient: bigint
  caller: bigint
}
