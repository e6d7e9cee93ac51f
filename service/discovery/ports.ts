import type { Address, Chain } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { Check, Claim, Entry, Filter, Listed, Origin, Page, Patronage, Transfer } from './model.ts'
import type { Rank, RankedResource, Visit } from './rules/ranking.ts'

/** The catalogue. Each method is one statement. */
export interface CatalogueStore {
  /**
   * Adds or updates an entry. Null when its recipient has `most` at its host. One that is withdrawn is shown again, unless the sale
   * may be from before that.
   */
  put(entry: Entry, most: number, now: Date): Promise<bigint | null>
  /** Updates an entry, where there is one, and shows it: what was not sold lately is not listed. */
  change(entry: Entry): Promise<void>
  /** Hides the entries of this resource and recipient on its network, of every scheme. They keep what they are ranked by. */
  withdraw(entry: Entry, now: Date): Promise<void>
  /** Removes the entries of the same resource on its network for recipients that are not named. */
  removeOthers(entry: Entry, recipients: readonly Address[]): Promise<void>
  /** Removes an entry that no address has confirmed. */
  removeUnverified(claim: Claim): Promise<void>
  /** Adds to what is known of these payers. */
  count(calls: readonly Patronage[], now: Date): Promise<void>

  list(filter: Filter, page: Page): Promise<readonly Listed[]>
  total(filter: Filter): Promise<number>
  /** The best entries for a query in PostgreSQL's own form. At most `most` entries are compared. */
  search(query: string, filter: Filter, page: Page & { most: number }): Promise<readonly Listed[]>
  ofMerchant(payTo: Address, page: Page): Promise<{ entries: readonly Listed[]; total: number }>
}

/** Claims about addresses of other sellers, until the address is asked. Each method is one statement. */
export interface CheckStore {
  /**
   * Has the address asked, unless that was done for the same terms within a day. `listed` is the entry that is shown
   * now. Null when the recipient has as many entries, or claims, at the host as it may have.
   */
  claim(claim: Claim, most: number, now: Date): Promise<Claimed | null>
  /** Takes the claims whose time has come, one for each host that was not asked since `hostFrom`. */
  due(which: { now: Date; until: Date; hostFrom: Date; limit: number }): Promise<readonly Check[]>
  /** Nothing happens when other terms were claimed since it was taken. */
  end(check: Check, result: { state: 'listed' | 'refused'; until: Date; now: Date }): Promise<void>
  retry(check: Check, next: { at: Date; until: Date }): Promise<void>
}

export interface Claimed {
  state: 'waiting' | 'listed' | 'refused'
  listed: { id: bigint; /** Whether it shows these terms. */ isSame: boolean } | null
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
