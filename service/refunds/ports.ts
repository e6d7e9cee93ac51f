import type { Address, Chain, Hex } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { NewEvent } from '../deliveries/model.ts'
import type { Owner } from '../kit/owner.ts'
import type { Statements } from '../kit/transaction.ts'
import type { PaymentMethod, OwnSales, Sale } from '../sales/model.ts'
import type { NewPayout, Withdrawal } from '../wallet/model.ts'
import type { NewRefund, Refund, Wait } from './model.ts'
import type { Usdc } from '../kit/money.ts'

/** Where refunds are stored. A trigger counts each in its sale. */
export interface RefundStore {
  /** Runs one transaction, and repeats it after a conflict. */
  together<T>(work: (inside: Statements) => Promise<T>): Promise<T>
  find(id: string, inside?: Statements): Promise<Refund | null>
  /** Oldest first. */
  ofSales(saleIds: readonly string[], inside?: Statements): Promise<readonly Refund[]>
  add(inside: Statements, refund: NewRefund): Promise<void>
  /** From one state to the next. Null when the refund was not in the state before any more. */
  fund(inside: Statements, id: string, now: Date): Promise<Refund | null>
  send(inside: Statements, id: string, now: Date): Promise<Refund | null>
  end(inside: Statements, id: string, how: RefundEnd, now: Date): Promise<Refund | null>
  /** It stays requested. */
  wait(id: string, why: { waitsFor: Wait | null; missing: Usdc | null; tryAt: Date }): Promise<void>
  /** Requested refunds whose time it is. Accounts take turns. */
  due(now: Date, limit: number): Promise<readonly string[]>
  /** Refunds that were funded before this time and have not ended. */
  open(before: Date, limit: number): Promise<readonly string[]>
  /** A refund from the seller's own wallet: signed, or seen on the chain without that. Null unless it was requested. */
  sign(inside: Statements, id: string, signature: Hex | null, now: Date): Promise<Refund | null>
  /** Refunds from own wallets whose time it is to ask the chain. Accounts take turns. */
  dueOwn(now: Date, limit: number): Promise<readonly string[]>
  lookAgain(id: string, at: Date): Promise<void>
}

export type RefundEnd = { state: 'confirmed'; txHash: string | null } | { state: 'failed'; failure: string }

export interface Sales extends OwnSales {
  /** All of it went back. */
  markRefunded(inside: Statements, id: string): Promise<void>
  /** Whether an answer waits for the buyer. */
  hasAnswer(inside: Statements, id: string): Promise<boolean>
}

/** The machine that pays withdrawals and refunds. */
export interface Payouts {
  /** The payout; another one that has ended where the operator booked this one after a restore. */
  hold(inside: Statements, payout: NewPayout): Promise<Withdrawal>
  payout(id: string): Promise<Withdrawal | null>
  /** Whether the chain has the transfer of this payout, also where no row knows it. */
  hasLeft(payout: Pick<NewPayout, 'id' | 'nonce'>, environment: Owner['environment']): Promise<boolean>
  /** Whether what is paid to this address is credited to the owner. */
  receives(inside: Statements, owner: Owner, address: Address): Promise<boolean>
}

/** Whether a signed authorization moved money to the seller. */
export interface RefundMethods {
  of(sale: PaymentMethod): { signed: boolean; simulated: boolean }
}

/** The networks that have an RPC. */
export type Chains = ReadonlyMap<NetworkName, Chain>

/** The account whose payments come from this address; null for every other address. */
export type AccountOf = (address: Address, inside: Statements) => Promise<Owner | null>

export type AnnounceEvent = (inside: Statements, event: NewEvent) => Promise<void>

/**
 * All of the payment is held for its payer, or went back: what it bought is not delivered any more. In that transaction,
 * with the sale locked; perhaps twice.
 */
export type Returning = (inside: Statements, sale: Sale) => Promise<void>
