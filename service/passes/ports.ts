import type { Address, Hex } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { NewEvent } from '../deliveries/model.ts'
import type { Owner } from '../kit/owner.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Announcement } from '../queue/model.ts'
import type { Bounds, Holding } from './rules.ts'
import type { Pass, PassFilter } from './model.ts'

/** Stores passes and counts trials. */
export interface PassStore {
  inTransaction<T>(work: (inside: Statements) => Promise<T>): Promise<T>
  find(id: string, on?: Statements): Promise<Pass | null>
  byToken(tokenHash: Buffer): Promise<Pass | null>
  /** The pass that this wallet can use at the checkout now: the one that ends first. */
  usableBy(wallet: Payer, now: Date): Promise<Pass | null>
  /** Those that these sales have paid for, by the sale's id. */
  ofSales(ids: readonly string[]): Promise<ReadonlyMap<string, Pass>>
  findAll(ids: readonly string[]): Promise<ReadonlyMap<string, Pass>>
  list(owner: Owner, filter: PassFilter, page: PassPage): Promise<readonly Pass[]>
  count(owner: Owner, filter: PassFilter): Promise<number>

  /**
   * The running pass of this holder, plan and bounds, if there is one that can be used. No other transaction makes or extends
   * it meanwhile.
   */
  lockRunning(inside: Statements, of: Payer & Bounds & { planId: string }, now: Date): Promise<Pass | null>
  add(inside: Statements, pass: Pass): Promise<void>
  extend(
    inside: Statements,
    id: string,
    more: Holding & Pick<Pass, 'remindAt' | 'email' | 'planName'>,
  ): Promise<Pass | null>
  addSale(inside: Statements, sale: PassSale): Promise<void>
  /** Counts one run, if there is one left. False where there is none. */
  take(inside: Statements, id: string, now: Date): Promise<boolean>
  giveBack(inside: Statements, id: string): Promise<void>
  /** Whether runs that this sale paid for were used besides its first one. None is taken until the transaction ends. */
  isUsed(inside: Statements, saleId: string): Promise<boolean>
  /** The first run of this sale's plan comes back, once. */
  giveFirstBack(inside: Statements, saleId: string, now: Date): Promise<void>
  /** All that this sale has paid went back: what it added is taken off. Null where nothing was added, or it was before. */
  revoke(inside: Statements, saleId: string, now: Date): Promise<Pass | null>
  /** Whether a payment for it is refunded, or about to be. */
  isSuspended(inside: Statements, id: string): Promise<boolean>
  end(inside: Statements, owner: Owner, id: string, now: Date): Promise<Pass | null>
  /** Passes whose time is over, ended by this call. */
  endDue(inside: Statements, now: Date, limit: number): Promise<readonly Pass[]>
  /** Passes whose end is to be announced. No other call returns them. */
  takeReminders(inside: Statements, now: Date, limit: number): Promise<readonly Pass[]>

  /** How many trial runs a wallet has used. */
  trialsUsed(wallet: Wallet): Promise<number>
  /** Counts one trial run of the wallet. False where it has used them all. */
  takeTrial(inside: Statements, wallet: Wallet, most: number): Promise<boolean>
  /** Counts one trial run of the day. False where the day has had them all. */
  takeTrialOfDay(inside: Statements, at: TrialDay, most: number): Promise<boolean>
  giveTrialBack(inside: Statements, wallet: Wallet, day: string): Promise<void>
}

/** From the pass before, or from a place in the list. */
export interface PassPage {
  limit: number
  before: string | null
  offset?: number
}

export interface Wallet {
  checkoutId: string
  holder: Address
  simulated: boolean
}

/** Passes are good on the network on which the wallet paid for them. */
export type Payer = Wallet & Pick<Pass, 'network'>

export type TrialDay = Pick<Wallet, 'checkoutId'> & { day: string }

export interface PassSale {
  saleId: string
  passId: string
  runs: number | null
  days: number | null
}

/** Who has signed a text: an account with a key, or a contract wallet on a chain. */
export interface WalletSignatures {
  recover(text: string, signature: Hex): Promise<Address | null>
  isSignedByCode(network: NetworkName, wallet: Address, signed: { text: string; signature: Hex }): Promise<boolean>
}

/** Writes an event for the seller's endpoints. */
export type WriteEvent = (inside: Statements, event: NewEvent) => Promise<void>

export type Announce = (inside: Statements, announcements: readonly Announcement[]) => Promise<void>

/** Mails a customer, within the bounds for addresses that strangers entered. Safe to repeat: the id names the mail. */
export type MailCustomer = (mail: { id: string; to: string; subject: string; text: string }) => Promise<void>
