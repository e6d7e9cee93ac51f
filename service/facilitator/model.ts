import type { Address, Hex, SignedAuthorization } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { Reason } from '../x402/reasons.ts'

export interface Verification {
  payer: string | null
  /** Null when the payment is valid now. */
  refusal: Reason | null
  /** The payer's own code decides whether the signature counts, and may decide differently a moment later. */
  payerHasCode: boolean
  /** What the payer had at that moment. Null where the payment was refused. */
  balance: bigint | null
}

export type State = 'claimed' | 'signed' | 'broadcast' | 'settled' | 'failed'

/** `authorize`, `capture` and `void` are of the scheme `auth-capture`; the last two are a seller's messages. */
export type OperationType = 'authorize' | 'capture' | 'void' | 'upto'

/**
 * A call that a contract takes from one address only, which is one of the sponsors: it has a transaction of its own from
 * that sponsor.
 */
export interface Operation {
  type: OperationType
  operator: Address
  /** One operation on a payment is under way at a time. */
  paymentHash: Hex
  /** Who gets the money: the gas counts for it. */
  recipient: Address
  data: Hex
  /**
   * Of an authorization: who may ask for captures and voids; the zero address is nobody. Null for captures and voids, and
   * for what an earlier version authorized.
   */
  authorizer: Address | null
}

/** The reasons that all schemes have, each with its own name. */
export interface Reasons {
  used: Reason
  /** Nothing was claimed: the nonce is used, or what the message names has changed. */
  taken: Reason
  expired: Reason
  signature: Reason
  failed: Reason
  /** Their cause may go away with time. */
  mendable: ReadonlySet<Reason>
}

/** An authorization that was claimed here, and its progress. Or a seller's message to its operator. */
export interface Settlement {
  /** EIP-712: its identity. */
  digest: Hex
  network: NetworkName
  /** Of a seller's message: the payment's payer and receiver, the amount, and the digest as the nonce. */
  authorization: SignedAuthorization
  /** Null for a plain transfer, which any sponsor may send. */
  operation: Operation | null
  payerHasCode: boolean
  /** Not to be batched: the payer has code, or the item failed inside a batch. */
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

/** One nonce of a sponsor, and the transaction that is sent under it now. */
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
  /** Every hash it was signed under, newest first. */
  hashes: readonly Hex[]
}

/** The result of a settle call. Only one operation gets the success of a settlement. */
export type SettleResult =
  /** `txHash` is null where nothing was to be moved. */
  | { status: 'settled'; success: true; payer: string; txHash: Hex | null }
  | { status: 'settled'; success: false; payer: string; txHash: Hex; reason: Reason }
  | { status: 'pending'; success: false; payer: string; txHash: Hex | null; reason: 'settlement_pending' }
  /** `ours`: the failure is neither the buyer's nor the seller's fault. */
  | { status: 'failed'; success: false; payer: string | null; txHash: null; reason: Reason; ours: boolean }

/** The caller of settle. The same operation gets the same result again. */
export interface SettleRequester {
  operation: string
  /**
   * True: the caller stores the operation's name and repeats the call with it, so it owns the success for good. False:
   * the success goes out over a connection that may break, so its delivery must be confirmed or withdrawn.
   */
  ownsResult: boolean
  /** How long the caller waits for the outcome. The service's own time when absent. */
  waitMs?: number
  /**
   * True: the caller signed for itself and sold nothing, so a failed transfer is retried as soon as the token would
   * accept it, and it counts for no payer's gas. For a sale a failure is final, because the seller has already refused
   * the buyer.
   */
  retryFailed?: boolean
  /** True: the caller asks over HTTP and sells elsewhere. It may not use the gas that is reserved for our own sales. */
  isExternal?: boolean
  /** The address group of an external caller. */
  caller?: string
}

/** The one thing that an authorization was spent on. */
export interface Purchase {
  /** EIP-712: the authorization's identity. */
  digest: Hex
  /** The name under which it is settled. */
  purchaseId: string
}

export interface GasUsed {
  spent: GasShares
  /** Gas, not wei: its price is known only once the transaction is mined. */
  pending: GasShares
}

export interface GasShares {
  network: bigint
  payer: bigint
  recipient: bigint
  caller: bigint
}
