import type { Address, Authorization, Chain, Hex, SignedAuthorization, Use } from '../chain/model.ts'
import type { Network, NetworkName } from '../chain/networks.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Owner } from '../kit/owner.ts'
import type { OutboundResponse, OutboundRequest } from '../outbound/model.ts'
import type { Announcement } from '../queue/model.ts'
import type { Page } from '../budgets/model.ts'
import type { Funding, Payment, ReturnReason } from './model.ts'

export interface PaymentStore {
  /** False when a payment of the same payer has this nonce already. */
  add(inside: Statements, payment: Payment, lookAt: Date): Promise<boolean>
  find(owner: Owner, id: string): Promise<Payment | null>
  list(owner: Owner, agentId: string | null, page: Page): Promise<{ payments: readonly Payment[]; total: number }>
  /**
   * From reserved to funding, or to funded where the payer's spare money is enough; what is taken of that is this
   * payment's from now on. As it stands afterwards; null where it was not reserved any more.
   */
  fund(id: string, terms: Omit<Funding, 'amount'>, lookAt: Date): Promise<Payment | null>
  /** From funding to funded. */
  arrived(id: string, txHash: string, lookAt: Date): Promise<void>
  /** From funded to signed; false when it is not funded any more. */
  sign(id: string, signature: string): Promise<boolean>
  /** From signed to sent, also once more; false when it has ended. */
  send(id: string, lookAt: Date): Promise<boolean>
  answered(id: string, status: number, receipt: Payment['receipt']): Promise<void>
  /** What the seller answered, for callers that look the payment up by its id. */
  saveResponse(id: string, sealed: string): Promise<void>
  findResponse(id: string): Promise<string | null>
  /** Those whose chain is to be looked at, taken until `until`: open ones, or ones that were given back as expired. */
  due(which: 'open' | 'returned', taking: { now: Date; until: Date; limit: number }): Promise<readonly Payment[]>
  seen(id: string, txHash: string | null, lookAt: Date): Promise<void>
  /**
   * To its end, with the money's movement in the same transaction; what its payer has of it is spare from now on.
   * False when it has ended already, or is in another state than it was seen in.
   */
  end(payment: Payment, ended: PaymentEnd, also: (inside: Statements) => Promise<void>): Promise<boolean>
  /** A returned payment is looked at again then; null: never again. */
  checked(id: string, lookAt: Date | null): Promise<void>
  /** The chain has a payment that was given back: its payer does not have the money. False when that was known. */
  lost(payment: Payment, use: Pick<Use, 'hash' | 'blockNumber'>): Promise<boolean>
  /** What may still leave this treasury for payers. */
  promised(treasury: Address, network: NetworkName): Promise<bigint>
  /** An account's payer wallet, the newest. */
  findPayer(owner: Owner): Promise<PayerWallet | null>
  /** The account that pays from this address. */
  accountOf(address: Address, inside: Statements): Promise<Owner | null>
  /** There afterwards, whichever process added it. */
  addPayer(owner: Owner, address: Address, now: Date): Promise<PayerWallet>
}

export type PaymentEnd = { now: Date } & (
  | { state: 'settled'; txHash: Hex; blockNumber: bigint }
  // `lookAt`: when the chain is asked once more whether it was not made after all.
  | { state: 'returned'; reason: ReturnReason; remaining: bigint; lookAt: Date | null }
)

export interface PayerWallet {
  address: Address
  /** Sent to it for payments that never happened: the next one uses it. */
  spare: bigint
}

export interface PayerBooks {
  addresses: readonly Address[]
  /** Not booked yet, though they may be on chain. */
  open: readonly { payer: Address; nonce: Hex; amount: bigint }[]
  /** Booked from a later block than this. */
  later: bigint
  /** Left in payments whose holds had been given back, up to this block: the operator's loss. */
  lost: bigint
}

/** The keys that pay, one for each account; only where they are allowed to be. */
export interface PayerKeys {
  of(owner: Owner): PayerKey
}

export interface PayerKey {
  readonly address: Address
  sign(network: Network, authorization: Authorization): SignedAuthorization
}

/** Where payers' money comes from. */
export interface Treasury {
  address(): Address | null
  /** What is there on this network, less what is promised to others than payers. */
  available(network: NetworkName): Promise<bigint>
  /** In a worker: a sentence for the operator where nothing can be sent from here. */
  lacks(network: NetworkName): string | null
  /** Signs and has it carried out; the same terms always give the same bytes. The hash as far as it is known. */
  send(transfer: {
    network: NetworkName
    from: Address
    to: Address
    amount: bigint
    nonce: Hex
    validBefore: bigint
    operation: string
  }): Promise<Hex | null>
}

/** For addresses that callers name: guarded, and nothing private. */
export interface Seller {
  send(request: OutboundRequest): Promise<OutboundResponse>
  checkAddress(url: string): Promise<void>
  /** Throws where a header may not be sent. */
  checkHeaders(headers: Readonly<Record<string, string>>): void
}

/** What callers sent and sellers answered, sealed while it is stored. */
export interface Seal {
  seal(text: string, of: string): string
  open(sealed: string, of: string): string
}

export type PaymentChain = Pick<Chain, 'network' | 'head' | 'balanceOf' | 'authorizationAt' | 'findUse' | 'agreedUse'>
export type ChainOf = (network: NetworkName) => PaymentChain | null

/** The account that is credited with what is paid to this address; null for every address outside. */
export type HolderOf = (inside: Statements, address: Address) => Promise<Owner | null>

/** Writes announcements in another party's transaction. */
export type Announce = (inside: Statements, announcements: readonly Announcement[]) => Promise<void>
