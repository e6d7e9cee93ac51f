import type { Address, Hex } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { Usdc } from '../kit/money.ts'
import type { Environment, Owner } from '../kit/owner.ts'
import type { Statements } from '../kit/transaction.ts'
import type { RequestBody } from '../x402/model.ts'

/** What can be sold to buyers who pay outside of the ledger. */
export const PRODUCTS = ['tool', 'checkout', 'gate', 'asset'] as const
export type ProductName = (typeof PRODUCTS)[number]

/**
 * `claimed`: the authorization is this sale's alone; what is delivered first is being made. `released`: that failed;
 * nothing is charged, and the same authorization may ask again. `settling`: the chain may have been asked. `paid`: the
 * money has arrived. `failed`: it never will. `held` and `refunded` belong to methods that hold money first.
 */
export type SaleState = 'claimed' | 'released' | 'held' | 'settling' | 'paid' | 'failed' | 'refunded'

/** Whether the answer has gone out: not at all, its first byte at least, whole; or it was not fetched in time. */
export type Handover = 'none' | 'begun' | 'whole' | 'expired'

/** One thing that is bought once. */
export interface Sale {
  id: string
  product: ProductName
  /** What is sold: a checkout, a tool, a paywall, an asset. */
  subject: string
  /** Whose it is; null where it is the platform's own. */
  userId: string | null
  environment: Environment
  state: SaleState
  handover: Handover
  amount: Usdc
  network: NetworkName
  /** Null for a simulated one. */
  recipient: Address | null
  payer: Address
  simulated: boolean
  /** Names the authorization; null for a simulated one. */
  digest: Hex | null
  /** As a facilitator reads it, to ask with again. */
  request: RequestBody | null
  /** Of what was asked for: the same again is the same sale. */
  inputHash: Buffer
  /** Of a body that is hashed while it is passed on; null as long as that is not known. */
  bodyHash: Buffer | null
  /** Of a token that the buyer chose; null where none was sent. */
  tokenHash: Buffer | null
  /** The product's own. */
  details: Readonly<Record<string, unknown>>
  txHash: string | null
  reason: string | null
  /** A process works on it until then. */
  leaseUntil: Date | null
  createdAt: Date
  endedAt: Date | null
}

/** What is to be paid for one thing, as its buyer is shown it. */
export interface Offer {
  slug: string
  name: string
  /** Where it is bought. */
  address: string
  amount: Usdc
  network: NetworkName
  recipient: Address
  /** The input's JSON schema. */
  input: Readonly<Record<string, unknown>>
}

/** A sale before anything was done for it. */
export type NewSale = Omit<Sale, 'state' | 'handover' | 'bodyHash' | 'txHash' | 'reason' | 'endedAt'>

/** An answer that is stored until it was handed over whole, ten minutes at most. */
export interface StoredAnswer {
  /** The product's own. */
  meta: Readonly<Record<string, unknown>>
  body: Buffer
}

/** What is written before the chain is asked. */
export interface Delivered {
  /** Null where the answer is not stored: it streams, or the money comes first. */
  answer: StoredAnswer | null
  bodyHash: Buffer | null
  /** Replaces the sale's details; null leaves them. */
  details: Sale['details'] | null
}

/** What is known of a transfer. */
export type Settled =
  { status: 'settled'; txHash: string } | { status: 'pending' } | { status: 'failed'; reason: string }

/** What a product writes in the sale's own transactions. */
export interface SaleHooks {
  /** Claimed, for the first time or again. Throws what it refuses in this very moment. */
  claimed?(inside: Statements, sale: Sale, note: unknown): Promise<void>
  /** Released or failed: what `claimed` took is free. */
  freed?(inside: Statements, sale: Sale): Promise<void>
  paid?(inside: Statements, sale: Sale, note: unknown): Promise<void>
  failed?(inside: Statements, sale: Sale): Promise<void>
  /** What was paid for first has been delivered. */
  delivered?(inside: Statements, sale: Sale, answer: StoredAnswer): Promise<void>
}

/** What products and their owners read. */
export interface SaleReader {
  findAll(ids: readonly string[]): Promise<ReadonlyMap<string, Sale>>
  /** Of one subject of this owner's, the newest first. */
  list(
    owner: Owner,
    subject: string,
    page: { limit: number; offset: number },
  ): Promise<{ sales: readonly Sale[]; total: number }>
}

/** In place of a transaction, for a payment of test mode. */
export function simulatedHash(sale: string): string {
  return `simulated:${sale}`
}

/** When one that takes its time comes to be settled. */
export const SIMULATED_SETTLING_MS = 1_500

/** By which who lost the answer names a sale: the nonce of its authorization. */
export const NONCE = /^0x[0-9a-f]{64}$/

/** A sale as it is claimed. */
export function claimedSale(sale: NewSale): Sale {
  return { ...sale, state: 'claimed', handover: 'none', bodyHash: null, txHash: null, reason: null, endedAt: null }
}
