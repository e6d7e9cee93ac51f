import type { Address, Hex, SignedAuthorization } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { Reason } from '../x402/reasons.ts'

export interface Verification {
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
export interface SponsorTransaction {
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
export type SettleResult =
  | { status: 'settled'; success: true; payer: string; txHash: Hex }
  | { status: 'settled'; success: false; payer: string; txHash: Hex; reason: Reason }
  | { status: 'pending'; success: false; payer: string; txHash: Hex | null; reason: 'settlement_pending' }
  /** `ours`: neither buyer nor seller did anything wrong. */
  | { status: 'failed'; success: false; payer: string | null; txHash: null; reason: Reason; ours: boolean }

/** Who is told of a success, so that asking again under the same name gives the same answer. */
export interface SettleRequester {
  operation: string
  /**
   * True: the name is kept and asked with again, so the success is theirs for good. False: they are told by a
   * connection that may break, and must be confirmed or withdrawn.
   */
  ownsResult: boolean
  /** How long they wait for the outcome; the service's own time when absent. */
  waitMs?: number
  /**
   * True: they signed for themselves and sold nothing, so a failure was no reason to give up. What failed is tried anew
   * as soon as the token would take it. For a sale it stays failed: the seller has sent the buyer away.
   */
  retryFailed?: boolean
  /** True: they ask over HTTP, and sell elsewhere. The gas that is reserved for the house's own sales is not theirs. */
  isExternal?: boolean
  /** Where a stranger asks from, by the group of its address. */
  caller?: string
}

/** What an authorization was spent on, by whom that is sold: one thing, ever. */
export interface Purchase {
  /** EIP-712: the authorization's identity. */
  digest: Hex
  /** The name under which it is settled. */
  purchaseId: string
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
