import type {
  Address,
  AgreedUse,
  Call,
  Chain,
  Fees,
  Hex,
  Receipt,
  SignedAuthorization,
  Use,
  UseSearch,
} from '../chain/model.ts'
import type { Network, NetworkName } from '../chain/networks.ts'
import type { Statements } from '../kit/transaction.ts'
import type { GasUsed, Operation, Purchase, Reasons, Settlement, SettleRequester, SponsorTransaction } from './model.ts'
import type { PaymentRequest } from '../x402/model.ts'
import type { Reason } from '../x402/reasons.ts'

/**
 * What is special about payments of one scheme. The facilitator claims, sends and follows them all alike.
 */
export interface Scheme {
  /**
   * Checks the terms without the chain. Throws when this network is not served at all. `settle`: the amount is the one to
   * be taken, which may be less than what the payer has signed for.
   */
  examine(payment: PaymentRequest, step: 'verify' | 'settle'): Examined | Reason
  reasonsOf(operation: Operation | null): Reasons
  /** What would happen if what is stored were sent once more. */
  simulateAgain(chain: Chain, settlement: Settlement): Promise<Again>
  /** How others may have used the payer's signature. Null where only this service's own transaction can. */
  usesOf(chain: Chain, settlement: Pick<Settlement, 'authorization' | 'operation'>): Uses | null
  /** The call of a transaction that carries only this one. */
  callOf(chain: Chain, settlement: Settlement): Call
  /** Whether this transaction did what is asked for. */
  isDone(settlement: Settlement, receipt: Receipt): boolean
  /**
   * Whether callers from outside may ask for it. Not where the signature leaves open how much is taken: a buyer would
   * settle the own payment for less than was used, before the seller does.
   */
  isOpen: boolean
  /** Whether what is sold for it is listed for buyers. */
  isListed: boolean
  /** The micro-USDC that `/settle` says a success has moved. Null where it says nothing. */
  movedBy(payment: PaymentRequest): bigint | null
  /** What `/supported` says of it beside its name, for each version of x402 that has it. Null where it is not offered. */
  kind(sponsors: readonly Address[]): { scheme: string; versions: readonly (1 | 2)[]; extra?: KindExtra } | null
}

export interface KindExtra {
  captureAuthorizer: Address
}

/** A nonce on the chain: as of the newest block, since a block, and as two nodes agree (`Chain.agreedUse`). */
export interface Uses {
  /** Whether it may be used without any event, for something else. */
  isSilent: boolean
  isUsed(): Promise<boolean>
  find(from: bigint): Promise<Use | null>
  agreed(search: Pick<UseSearch, 'from' | 'past'>): Promise<AgreedUse>
}

export interface Schemes {
  all: readonly Scheme[]
  /** The scheme of the seller's terms. */
  for(payment: PaymentRequest): Scheme
  /** The scheme of what was claimed. */
  of(settlement: Pick<Settlement, 'operation'>): Scheme
}

/** A payment whose terms are right, or a seller's message to its operator. */
export interface Examined {
  scheme: Scheme
  reasons: Reasons
  payment: PaymentRequest
  chain: Chain
  network: Network
  authorization: SignedAuthorization
  digest: Hex
  /** The signer's own key made the signature. This decides nothing for a signer with code. */
  signed: boolean
  operation: Operation | null
  /** Nothing of what the payer permitted is to be moved. */
  isNothing: boolean
  /** What is asked for once this has ended. */
  rest: Examined | null
  /** How it differs from the seller's terms, where the signature does not cover them. */
  mismatch: Reason | null
  /** What would happen if it were submitted now. `own`: a transfer of our own money, for which there is no minimum. */
  simulate(own: boolean): Promise<Simulated>
}

/** `balance`: the payer's, where it decided. `seenBlock`: the block of the state that decided, where that matters. */
export type Simulated =
  | { refusal: Reason }
  | {
      refusal: null
      payerHasCode: boolean
      payerDecides: boolean
      gas: bigint
      balance: bigint | null
      seenBlock?: bigint
    }

/** `payerDecides`: code accepts the signature, so it may refuse it in the block. */
export interface Again {
  refusal: Reason | null
  payerHasCode: boolean
  payerDecides: boolean
}

/** Stores settlements. Each method is one statement, so no transaction stays open while the chain is asked. */
export interface SettlementStore {
  find(digests: readonly Hex[]): Promise<ReadonlyMap<Hex, Settlement>>
  findByNonce(network: NetworkName, payer: Address, nonce: Hex): Promise<Settlement | null>

  /**
   * The row of this digest, new or existing. Null when another digest has the nonce, or when another operation on the
   * same payment of the escrow is under way.
   */
  claim(claim: Claim): Promise<Settlement | null>
  /**
   * Claimed settlements that no worker is about to sign, without those that only another sponsor may send and those that
   * have expired. Recipients take turns, each with its oldest first. They belong to this worker until the given moment.
   */
  take(network: NetworkName, workerId: string, work: WorkTaken): Promise<readonly Settlement[]>
  /** Stores a transaction before it is sent, with all of its settlements or not at all. */
  sign(signing: Signing): Promise<SponsorTransaction | 'nonce-taken' | 'settlements-gone'>
  /** Stores a transaction without settlements, for a nonce that has no open transaction. Null when there is one. */
  fill(signing: Omit<Signing, 'workerId' | 'digests'>): Promise<SponsorTransaction | null>
  /** Stores another hash under the same nonce, for the same call or for a transfer of nothing instead of it. */
  replace(transaction: SponsorTransaction, by: Replacement): Promise<void>
  sent(transaction: SponsorTransaction, now: Date): Promise<void>

  /** A network's transactions that are not final yet, by nonce: of one sponsor, or of all sponsors but some. */
  open(
    network: NetworkName,
    of: { sponsor: Address } | { others: readonly Address[] },
  ): Promise<readonly SponsorTransaction[]>
  highestNonce(network: NetworkName, sponsor: Address): Promise<number | null>
  /** The settlements of a transaction that are still open. */
  carried(transaction: SponsorTransaction): Promise<readonly Settlement[]>

  /** Who bears the cost of a transaction: those of each of its settlements, also of what has ended otherwise. */
  bearers(transaction: SponsorTransaction): Promise<readonly GasBearers[]>
  /** Records that the transaction is in a block and that these settlements are settled with it. */
  mined(
    transaction: SponsorTransaction,
    receipt: Receipt,
    of: { settled: readonly Hex[]; bearers: readonly GasBearers[] },
    now: Date,
  ): Promise<void>
  /**
   * The block is gone, so everything that the transaction ended is open again. Returns the settlements whose success
   * was already handed out.
   */
  vanished(transaction: SponsorTransaction): Promise<readonly Hex[]>
  /** Marks the transaction as final. Changes nothing while one of its settlements is neither settled nor failed. */
  finish(transaction: SponsorTransaction): Promise<void>
  /** Records that an unknown transaction used its nonce. False while one of its settlements is open. */
  lose(transaction: SponsorTransaction): Promise<boolean>

  settledElsewhere(
    settlement: Settlement,
    use: { hash: Hex; blockNumber: bigint },
    final: boolean,
    now: Date,
  ): Promise<void>
  fail(settlement: Settlement, reason: Reason, ours: boolean, now: Date): Promise<void>
  /** Makes the settlement wait again, for a transaction of its own. */
  release(settlement: Settlement, payerHasCode: boolean): Promise<void>
  /** Makes a failed settlement wait for a sponsor once more, alone. Changes nothing when it is not failed any more. */
  revive(digest: Hex, as: { payerHasCode: boolean; gas: bigint }): Promise<void>
  /** Settlements that are open although their time was over at that moment, or settled by others and not final. */
  loose(network: NetworkName, at: Date, limit: number): Promise<readonly Settlement[]>

  /** Gives the success to this operation if it is free; `busy` while it is on its way to another one. */
  offer(
    digest: Hex,
    to: Pick<SettleRequester, 'operation' | 'ownsResult'>,
    now: Date,
    until: Date,
  ): Promise<'given' | 'busy' | 'handed-out'>
  confirm(digest: Hex, to: string, now: Date): Promise<void>
  withdraw(digest: Hex, to: string): Promise<void>

  /**
   * Runs in the purchase's transaction. Returns the purchase that has the authorization: this one or an earlier one.
   * Null where the escrow has it for a signer of messages, who could take it back.
   */
  buy(inside: Statements, purchase: Purchase, now: Date): Promise<string | null>

  /** Whether an authorization was submitted to a chain. */
  isSubmitted(inside: Statements, digest: Hex): Promise<boolean>

  /** The purchase that an authorization was spent on and its time. Null when it has bought nothing. */
  bought(digest: Hex): Promise<(Purchase & { boughtAt: Date }) | null>

  /**
   * The wei spent that day and the gas of open settlements: in total, by this payer, for this recipient and for this
   * caller.
   */
  gasUsed(network: NetworkName, of: GasUsers, day: Date): Promise<GasUsed>
}

/** How many settlements a worker takes at most, and until when. */
export interface WorkTaken {
  sponsor: Address
  limit: number
  now: Date
  until: Date
}

export interface Claim {
  digest: Hex
  network: NetworkName
  asset: Address
  authorization: SignedAuthorization
  operation: Operation | null
  payerHasCode: boolean
  /** It gets a transaction of its own. An operation always does. */
  alone: boolean
  gas: bigint
  seenBlock: bigint
  /** The group of an external caller's address; null for our own. */
  caller: string | null
  now: Date
}

/** Whose gas budgets a settlement counts for, by their keys in the table. */
export type GasBearers = readonly Uint8Array[]

export interface GasUsers {
  /** Null when only the others count. */
  payer: Address | null
  recipient: Address
  caller: string | null
}

export interface Signing {
  workerId: string
  network: NetworkName
  sponsor: Address
  nonce: number
  target: Address
  data: Hex
  gas: bigint
  fees: Fees
  hash: Hex
  raw: Hex
  digests: readonly Hex[]
  now: Date
}

export interface Replacement {
  target: Address
  data: Hex
  gas: bigint
  bumps: number
  hash: Hex
  raw: Hex
  fees: Fees
  now: Date
}

/** One holder at a time over all processes, as long as the holder renews it. */
export interface Lease {
  take(now: Date, until: Date): Promise<boolean>
  release(): Promise<void>
}
