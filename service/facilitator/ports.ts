import type { Address, Fees, Hex, Receipt, SignedAuthorization } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { Statements } from '../kit/transaction.ts'
import type { GasUsed, Purchase, Settlement, SettleRequester, SponsorTransaction } from './model.ts'
import type { Reason } from '../x402/reasons.ts'

/** Stores settlements. Each method is one statement: no transaction is open while the chain is asked. */
export interface SettlementStore {
  find(digests: readonly Hex[]): Promise<ReadonlyMap<Hex, Settlement>>
  findByNonce(network: NetworkName, payer: Address, nonce: Hex): Promise<Settlement | null>

  /** The row of this digest, made now or there before; null when the nonce belongs to another digest. */
  claim(claim: Claim): Promise<Settlement | null>
  /** Claimed ones that no worker is about to sign, oldest first; this worker's from now on, until the moment given. */
  take(network: NetworkName, workerId: string, work: WorkTaken): Promise<readonly Settlement[]>
  /** Stores a transaction before it is sent, with all its settlements or not at all. */
  sign(signing: Signing): Promise<SponsorTransaction | 'nonce-taken' | 'settlements-gone'>
  /** Something without settlements, for a nonce that nothing open has; null when there is something. */
  fill(signing: Omit<Signing, 'workerId' | 'digests'>): Promise<SponsorTransaction | null>
  /** Another hash under the same nonce. */
  replace(transaction: SponsorTransaction, by: Replacement): Promise<void>
  sent(transaction: SponsorTransaction, now: Date): Promise<void>

  /** The transactions of a network that are not deep enough yet, by nonce; of one sponsor, or of all but some. */
  open(
    network: NetworkName,
    of: { sponsor: Address } | { others: readonly Address[] },
  ): Promise<readonly SponsorTransaction[]>
  highestNonce(network: NetworkName, sponsor: Address): Promise<number | null>
  /** What a transaction carries and has not ended. */
  carried(transaction: SponsorTransaction): Promise<readonly Settlement[]>

  /** A transaction is in a block, and these of its settlements with it. */
  mined(transaction: SponsorTransaction, receipt: Receipt, settled: readonly Hex[], now: Date): Promise<void>
  /** The block is gone: what the transaction ended is open again. Answers those whose success was handed out. */
  vanished(transaction: SponsorTransaction): Promise<readonly Hex[]>
  /** Deep enough to stay. Changes nothing while something that it carried is neither settled nor failed. */
  finish(transaction: SponsorTransaction): Promise<void>
  /** Its nonce went to a transaction of which we know nothing. False while something that it carried is open. */
  lose(transaction: SponsorTransaction): Promise<boolean>

  settledElsewhere(
    settlement: Settlement,
    use: { hash: Hex; blockNumber: bigint },
    final: boolean,
    now: Date,
  ): Promise<void>
  fail(settlement: Settlement, reason: Reason, ours: boolean, now: Date): Promise<void>
  /** Back to waiting, for a transaction of its own. */
  release(settlement: Settlement, payerHasCode: boolean): Promise<void>
  /** What failed waits for a sponsor once more, alone. Nothing where it is not failed any more. */
  revive(digest: Hex, as: { payerHasCode: boolean; gas: bigint }): Promise<void>
  /** Open although its time was over at that moment, or settled by others and not deep enough. */
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

  /** In the transaction of what is bought. Answers what the authorization buys: this, or what it was spent on before. */
  buy(inside: Statements, purchase: Purchase, now: Date): Promise<string>

  /** Whether an authorization was submitted to a chain. */
  isSubmitted(inside: Statements, digest: Hex): Promise<boolean>

  /** What an authorization was spent on, and since when; null where it has bought nothing. */
  bought(digest: Hex): Promise<(Purchase & { boughtAt: Date }) | null>

  /** Wei spent that day, and the gas of what is under way: by all, by this payer, for this recipient, for this caller. */
  gasUsed(network: NetworkName, of: GasUsers, day: Date): Promise<GasUsed>
}

/** At most so many, until the moment given. */
export interface WorkTaken {
  limit: number
  now: Date
  until: Date
}

export interface Claim {
  digest: Hex
  network: NetworkName
  asset: Address
  authorization: SignedAuthorization
  payerHasCode: boolean
  gas: bigint
  seenBlock: bigint
  /** The group of an external caller's address; null for our own. */
  caller: string | null
  now: Date
}

export interface GasUsers {
  payer: Address
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
  hash: Hex
  raw: Hex
  fees: Fees
  now: Date
}

/** One holder at a time over all processes, as long as it is renewed. */
export interface Lease {
  take(now: Date, until: Date): Promise<boolean>
  release(): Promise<void>
}
