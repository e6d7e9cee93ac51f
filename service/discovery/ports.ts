import type { Address, Chain } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { Entry, Filter, Listed, Origin, Page, Patronage, Transfer } from './model.ts'
import type { Rank, RankedResource, Visit } from './rules/ranking.ts'

/** The catalogue. Each method is one statement. */
export interface CatalogueStore {
  /** Adds or updates an entry. Null when its merchant has as many entries as one merchant may have. */
  put(entry: Entry, most: number, now: Date): Promise<bigint | null>
  /** Removes what others have as entries of the same resource. */
  removeOthers(entry: Entry): Promise<void>
  /** Adds to what is known of these payers. */
  count(calls: readonly Patronage[], now: Date): Promise<void>

  list(filter: Filter, page: Page): Promise<readonly Listed[]>
  total(filter: Filter): Promise<number>
  /** The best entries for a query in PostgreSQL's own form. At most `most` entries are compared. */
  search(query: string, filter: Filter, page: Page & { most: number }): Promise<readonly Listed[]>
  ofMerchant(payTo: Address, page: Page): Promise<{ entries: readonly Listed[]; total: number }>
}

/** What the ranking is computed from, and its result. */
export interface RankingStore {
  resources(): Promise<readonly RankedResource[]>
  /** The newest calls since that moment. */
  visits(since: Date, most: number): Promise<readonly Visit[]>
  transfers(most: number): Promise<readonly Transfer[]>
  save(ranks: ReadonlyMap<bigint, Rank>): Promise<void>
}

/** The search for the origin of payers' funds. */
export interface FundingStore {
  /** Payers whose origin was never looked for. */
  addPayers(now: Date, most: number): Promise<void>
  /** The open searches of a network: first those at the newest block, or those that were waiting longest. */
  open(network: NetworkName, order: 'newest' | 'waiting', most: number): Promise<readonly Origin[]>
  /** Stores what one search found, and where the next one goes on. Senders are searched too, down to `depthMax`. */
  found(searched: Searched, now: Date): Promise<void>
}

export interface Searched {
  origins: readonly Origin[]
  transfers: readonly Transfer[]
  /** The next block of the origins for which nothing was found. */
  nextBlock: bigint
  lastBlock: bigint
  depthMax: number
}

/** The parts of a chain that the search reads. */
export type FundingChain = Pick<Chain, 'network' | 'head' | 'transfersTo' | 'receipt'>
