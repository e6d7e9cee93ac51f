import type { Offer } from '../x402/model.ts'
import type { Address, Hex } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { Id } from '../kit/ids.ts'
import type { Usdc } from '../kit/money.ts'
import type { Owner } from '../kit/owner.ts'

/** What a caller wants to have, and the most that it may cost. */
export interface PaidRequest {
  url: string
  method: string
  headers: Readonly<Record<string, string>>
  body: string | null
  maxAmount: Usdc
}

/** A request, whose money pays for it, and by which of their programs. */
export interface PaymentOrder {
  owner: Owner
  agentId: string | null
  request: PaidRequest
  operation: Id<'op'>
}

/**
 * `reserved`: money and authorization are stored. `funding`: the terms of the treasury's one transfer to the payer are
 * stored, and it may be on its way. `funded`: the payer has the money, and nothing is signed. `signed`: the signature is
 * stored too. `sent`: the seller may have it, so nothing is given back before it has expired. `settled`: used on chain,
 * and captured. `returned`: expired unused, or never signed, and given back.
 */
export type PaymentState = 'reserved' | 'funding' | 'funded' | 'signed' | 'sent' | 'settled' | 'returned'

/** Why a payment was given back. */
export type ReturnReason = 'expired' | 'not_signed' | 'not_funded' | 'treasury_short' | 'not_set_up'

/** The treasury's transfer to the payer, for what the payer did not have. */
export interface Funding {
  amount: bigint
  from: Address
  validBefore: bigint
  /** A block from before it was signed. */
  seenBlock: bigint
}

export interface Payment {
  id: Id<'pay'>
  owner: Owner
  agentId: string | null
  state: PaymentState
  url: string
  method: string
  requestHash: string
  maxAmount: Usdc
  amount: Usdc
  network: NetworkName
  payer: Address
  payTo: Address
  /** Unix seconds. */
  validBefore: bigint
  nonce: Hex
  signature: Hex | null
  /** The seller's, which is paid. */
  offer: Offer
  seenBlock: bigint
  /** Null until it is decided, and where the payer had enough. */
  funding: Funding | null
  answerStatus: number | null
  /** The seller's receipt as it wrote it. Null when it wrote none. */
  receipt: Readonly<Record<string, unknown>> | null
  /** Once it is seen used; final with `settled`. */
  txHash: Hex | null
  reason: ReturnReason | null
  createdAt: Date
  endedAt: Date | null
}

/** What a seller answered, as it is handed on. */
export interface SellerResponse {
  status: number
  headers: Readonly<Record<string, string | readonly string[]>>
  body: string
  encoding: 'utf8' | 'base64'
}

/** Without a payment where the address asked for no money; without a response where it is not available any more. */
export interface PaymentResult {
  payment: Payment | null
  response: SellerResponse | null
}
