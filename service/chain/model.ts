import type { Network } from './networks.ts'

export type Hex = `0x${string}`

/** Taken in any case, handed out in lower case: compare with `===` after `toLowerCase()`. */
export type Address = Hex

/**
 * What a payer signs: EIP-3009 `TransferWithAuthorization`, or `ReceiveWithAuthorization` when the recipient is the
 * escrow's collector. Times are Unix seconds.
 */
export interface Authorization {
  from: Address
  to: Address
  value: bigint
  validAfter: bigint
  validBefore: bigint
  /** 32 bytes. */
  nonce: Hex
}

export interface SignedAuthorization extends Authorization {
  /**
   * From a plain account: the 65 bytes of its key's signature. From a contract wallet: any bytes that the wallet
   * accepts (ERC-1271). From one that is not deployed yet: the same in the envelope of ERC-6492.
   */
  signature: Hex
}

/** Digest and recovery, without asking a chain. */
export interface Signatures {
  /** Which implementation recovers the signer. Chosen once at start; written to the log. */
  readonly kind: 'native' | 'wasm'
  /** The EIP-712 digest: the identity of an authorization. Lower case. */
  digest(network: Network, authorization: Authorization): Hex
  /**
   * The address whose key made this signature of the digest. Null when USDC would refuse the signature: not 65 bytes
   * (also the 64 of EIP-2098), `s` in the upper half, `v` other than 27 and 28 (0 and 1 count as these, and are sent to
   * the chain as these), or no such point on the curve.
   */
  recover(digest: Hex, signature: Hex): Address | null
  /** What a signature wants deployed before it (ERC-6492). Null: nothing. `malformed`: it cannot be read. */
  deployment(signature: Hex): Deployment | 'malformed' | null
  readonly escrow: EscrowHashes
  /** The EIP-712 digest of a permit of the scheme `upto`: its identity. */
  permitDigest(network: Network, permit: Permit): Hex
}

/** A contract wallet that the payer's first payment deploys (ERC-6492). */
export interface Deployment {
  factory: Address
  /** What the factory is called with. */
  data: Hex
  /** What the wallet accepts once it has code. */
  signature: Hex
}

/**
 * What a payer signs for Permit2 in the scheme `upto`: the most that may be taken of the token, by which facilitator, and for
 * whom. Times are Unix seconds.
 */
export interface Permit {
  from: Address
  token: Address
  amount: bigint
  /** The contract that takes it. */
  spender: Address
  nonce: bigint
  deadline: bigint
  to: Address
  facilitator: Address
  validAfter: bigint
}

export interface SignedPermit extends Permit {
  signature: Hex
}

/** Lets Permit2 move the payer's token, so that the payer needs no transaction for it (EIP-2612). */
export interface TokenPermit {
  value: bigint
  deadline: bigint
  /** 65 bytes. */
  signature: Hex
}

/** What a payer agrees to when its money waits in the escrow. Times are Unix seconds. */
export interface PaymentInfo {
  /** The only address that may authorize, capture and void. */
  operator: Address
  payer: Address
  receiver: Address
  token: Address
  maxAmount: bigint
  /** The payer's money can be taken until then, and not at that second. */
  preApprovalExpiry: bigint
  /** Captures are possible until then. From then on the payer can take back what is left. */
  authorizationExpiry: bigint
  refundExpiry: bigint
  minFeeBps: number
  maxFeeBps: number
  feeReceiver: Address
  /** 32 bytes. */
  salt: Hex
}

export interface EscrowHashes {
  /** The escrow's own name of a payment. */
  paymentHash(network: Network, info: PaymentInfo): Hex
  /** The nonce of the payer's authorization: the payment's hash without its payer. */
  nonce(network: Network, info: PaymentInfo): Hex
  /** The salt that binds a payment to the address that signs the seller's messages. */
  boundSalt(receiverAuthorizer: Address, saltNonce: Hex): Hex
  /** The EIP-712 digest of a seller's message to its operator. */
  messageDigest(network: Network, operator: Address, message: OperatorMessage): Hex
}

/** What a seller signs to have its operator act. The fee is always zero. */
export type OperatorMessage =
  | { type: 'void'; paymentHash: Hex }
  | { type: 'capture'; paymentHash: Hex; amount: bigint; feeReceiver: Address; expected: EscrowBalances }

export interface EscrowBalances {
  capturable: bigint
  refundable: bigint
}

/** A call of the escrow by the payment's operator. The fee is always zero. */
export type EscrowCall =
  | { type: 'authorize'; info: PaymentInfo; amount: bigint; signature: Hex }
  | { type: 'capture'; info: PaymentInfo; amount: bigint; feeReceiver: Address }
  | { type: 'void'; info: PaymentInfo }

export interface EscrowState extends EscrowBalances {
  /** The payer's money was taken, once and for all. */
  collected: boolean
}

/** What a call of the escrow would do now. `reason` is the escrow's error by name, or the token's text. */
export type CallOutcome = { succeeds: true; gas: bigint } | { succeeds: false; reason: string | null }

/** What would happen if the authorization were submitted now, alone. */
export interface Simulation {
  /** The payer's USDC. */
  balance: bigint
  /** Whether the nonce is used or cancelled. */
  used: boolean
  payerBlacklisted: boolean
  payeeBlacklisted: boolean
  paused: boolean
  /**
   * `delegation`: an ordinary account whose code is delegated by EIP-7702. USDC treats it as a contract. `undeployed`:
   * none yet, and the signature names the factory that was called first (ERC-6492).
   */
  payerCode: 'none' | 'delegation' | 'contract' | 'undeployed'
  outcome: Outcome
}

export type Outcome =
  /** `gas` is what the call to USDC used, and the factory's before it, without the transaction's own and calldata. */
  | { succeeds: true; gas: bigint }
  /** The contract's revert string where it gave one: `FiatTokenV2: invalid signature`. */
  | { succeeds: false; reason: string | null }

/** What a transaction calls. */
export interface Call {
  to: Address
  data: Hex
}

export interface Fees {
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
}

export interface Block {
  number: bigint
  hash: Hex
  /** Unix seconds. */
  timestamp: bigint
  baseFeePerGas: bigint
}

export interface UnsignedTransaction extends Call {
  /** The sponsor's private key, 32 bytes. */
  key: Hex
  nonce: number
  gas: bigint
  fees: Fees
}

export interface SignedTransaction {
  raw: Hex
  hash: Hex
}

export interface Receipt {
  hash: Hex
  /** Of the transaction as a whole; inside a batch each item's own outcome is in `used` and `transfers`. */
  status: 'success' | 'reverted'
  blockNumber: bigint
  blockHash: Hex
  gasUsed: bigint
  effectiveGasPrice: bigint
  /** What the sender paid in wei, with the fee for the data on L1 where the network charges one. */
  cost: bigint
  /** USDC's own events, in the order of the log. Those of other contracts are not here. */
  transfers: readonly TransferEvent[]
  used: readonly AuthorizationEvent[]
  cancelled: readonly AuthorizationEvent[]
  /** The escrow's events that a seller's messages lead to. */
  escrow: readonly EscrowEvent[]
}

export interface EscrowEvent {
  type: 'capture' | 'void'
  paymentHash: Hex
  amount: bigint
}

export interface TransferEvent {
  from: Address
  to: Address
  value: bigint
  logIndex: number
}

export interface AuthorizationEvent {
  authorizer: Address
  nonce: Hex
  logIndex: number
}

export interface UseSearch {
  payer: Address
  nonce: Hex
  /** The block from which the events are searched. */
  from: bigint
  /** That the nonce was not used counts only from a block of this time on, in Unix seconds. */
  past: bigint | null
}

/** `use` is null when the nonce is unused, or when it was used before the searched blocks. */
export type AgreedUse = { known: false } | { known: true; used: boolean; use: Use | null }

/** How a nonce was used, by any sender's transaction. */
export interface Use {
  hash: Hex
  blockNumber: bigint
  blockHash: Hex
  /** True: the payer took the authorization back, and nothing moved. */
  cancelled: boolean
  /** The `Transfer` that belongs to this use; null when it was cancelled. */
  transfer: TransferEvent | null
}

/**
 * USDC on one network. Every method that asks an RPC can throw DomainError `unavailable`, code `rpc_unavailable`, with
 * the field `retryAfterSeconds`. The outcome is then unknown, also that of a broadcast.
 */
export interface Chain {
  readonly network: Network
  readonly escrow: EscrowChain
  readonly upto: UptoChain

  /** What a sponsor's call would do. `gas` is all that the transaction would use; one that needs more than `gasMax` fails. */
  tryCall(call: Call & { from: Address }, gasMax: bigint): Promise<CallOutcome>
  /** Whether a contract accepts the signature as its own (ERC-1271). */
  isSignedByCode(signer: Address, digest: Hex, signature: Hex): Promise<boolean>

  /**
   * Calls at the same moment share one `eth_call`. Each item is judged alone, against the state before all of them: two
   * items of one payer may both succeed here when the balance covers only one.
   */
  simulate(items: readonly SignedAuthorization[]): Promise<readonly Simulation[]>

  /**
   * The signature of a payer without code is a key's, and `v` is written as the contract expects it. A payer with code
   * gets its signature unchanged: some wallets use the last byte for their own purposes. A wallet that is not deployed
   * yet is, in the same transaction: through Multicall3, both or neither.
   */
  encodeTransfer(item: SignedAuthorization, payerHasCode: boolean): Call
  /** Through Multicall3: an item that fails does not affect the others. Only for payers without code. */
  encodeBatch(items: readonly SignedAuthorization[]): Call

  addressOf(key: Hex): Address
  /** Makes no network request. The same input gives the same bytes. */
  signTransaction(transaction: UnsignedTransaction): SignedTransaction
  /**
   * `known`: an RPC had it already, waiting or mined. Else throws DomainError `failed` with a code of
   * `BroadcastFault`; then no RPC has taken it.
   */
  broadcast(raw: Hex): Promise<'sent' | 'known'>
  /** Whether an RPC knows the transaction, waiting or mined. */
  isKnown(hash: Hex): Promise<boolean>
  receipt(hash: Hex): Promise<Receipt | null>

  authorization(payer: Address, nonce: Hex): Promise<{ used: boolean }>
  /** Searches the events from a block on; null when the nonce was not used since. */
  findUse(payer: Address, nonce: Hex, fromBlock: bigint): Promise<Use | null>
  /**
   * Like `findUse`, for decisions that give something up: the result that two nodes agree on, each read at a block that
   * the node itself has, when more than one node is configured. Unknown when no node has a block of the time `past`, or
   * when the nodes differ.
   */
  agreedUse(search: UseSearch): Promise<AgreedUse>

  /**
   * The transactions that sent USDC to any of these addresses, in the blocks from `from` to `upTo`, in chain order. The
   * answering node has the block `upTo`, so nothing is missing because a node lags. Throws `unavailable`, code
   * `search_too_wide`, when the RPC wants fewer blocks.
   */
  transfersTo(search: TransferSearch): Promise<TransferScan>
  /**
   * The transactions that took USDC from this address, in the blocks from `from` to `upTo`. Throws `search_too_wide` as
   * `transfersTo`.
   */
  transfersFrom(search: { by: Address; from: bigint; upTo: bigint }): Promise<readonly Hex[]>
  /** The USDC balance of each address, as of a block whose state the nodes still have. */
  balancesAt(addresses: readonly Address[], block: bigint): Promise<readonly bigint[]>
  /** Whether the nonce is used, as of the given or the newest block, and that block. One node answers both. */
  authorizationAt(payer: Address, nonce: Hex, block?: bigint): Promise<{ used: boolean; block: Block }>

  /** The newest block; read once per block time at most. */
  head(): Promise<Block>
  nonceOf(address: Address, at: 'latest' | 'pending'): Promise<number>
  /** USDC in micro-dollars. */
  balanceOf(address: Address): Promise<bigint>
  /** Wei. */
  nativeBalance(address: Address): Promise<bigint>
  /** Throws `unavailable`, code `gas_too_dear`, when the base fee alone is above the cap. */
  fees(): Promise<Fees>
  /** Throws DomainError `failed`, code `call_reverts`, with the field `reason` when the call would revert. */
  estimateGas(call: Call & { from: Address }): Promise<bigint>
  close(): Promise<void>
}

/** The escrow of the scheme `auth-capture` on one network. */
export interface EscrowChain {
  encode(call: EscrowCall): Call
  /** By one node: what the escrow has at that block or later. The state is null where the network has no escrow. */
  payment(paymentHash: Hex): Promise<{ state: EscrowState | null; block: bigint }>
  /** The transaction that captured it, from a block on. */
  findCapture(paymentHash: Hex, fromBlock: bigint): Promise<Hex | null>
  /** What decides about an authorization for the escrow, by one node. `state` is null where there is no escrow. */
  view(of: { payer: Address; nonce: Hex; paymentHash: Hex }): Promise<EscrowView>
}

/** The contracts of the scheme `upto` on one network. */
export interface UptoChain {
  /** The call by which a sponsor takes this amount of what is permitted. `permit`: lets Permit2 move the token first. */
  encode(permit: SignedPermit, amount: bigint, tokenPermit: TokenPermit | null): Call
  /** What decides about a permit, by one node. */
  view(of: { payer: Address; nonce: bigint }): Promise<UptoView>
  /** As `authorization`, `findUse` and `agreedUse` of an authorization: a permit's nonce is another one. */
  isUsed(nonce: PermitNonce): Promise<boolean>
  findUse(nonce: PermitNonce, fromBlock: bigint): Promise<Use | null>
  agreedUse(nonce: PermitNonce, search: Pick<UseSearch, 'from' | 'past'>): Promise<AgreedUse>
}

/** What names a permit on the chain, and whom it pays. */
export interface PermitNonce {
  payer: Address
  to: Address
  nonce: bigint
  deadline: bigint
}

export interface UptoView {
  hasCode: boolean
  balance: bigint
  /** What Permit2 may move of the payer's. */
  allowance: bigint
  used: boolean
  /** Whether the network has the contracts. */
  deployed: boolean
}

export interface EscrowView {
  hasCode: boolean
  balance: bigint
  used: boolean
  state: EscrowState | null
}

export interface TransferSearch {
  to: readonly Address[]
  from: bigint
  upTo: bigint
  /** A block whose hash is also returned, to check that the chain has not been reorganized since it was read. */
  mark?: bigint
}

export interface TransferScan {
  /** Each transaction with the number of its transfers to these addresses. Transfers of 0 are not counted. */
  transactions: readonly { hash: Hex; transfers: number }[]
  /** The same transfers, in chain order. */
  transfers: readonly (Omit<TransferEvent, 'logIndex'> & { block: bigint })[]
  /** Of the block `upTo`, and of the mark where one was asked for. */
  blockHash: Hex
  markHash: Hex | null
}

export type BroadcastFault =
  /** Another transaction with this nonce is waiting and pays nearly as much: raise the fees by an eighth and more. */
  | 'replacement_underpriced'
  /** Below what the network takes now. */
  | 'fee_too_low'
  /** Another transaction with this nonce is mined. */
  | 'nonce_too_low'
  /** The sponsor's native balance does not cover it. */
  | 'insufficient_funds'
  /** Any other refusal. The field `reason` has the RPC's message. */
  | 'transaction_refused'
