import type { Id } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Caller } from '../../kit/caller.ts'
import type { Environment, Owner } from '../../kit/owner.ts'
import type { Asset, AssetStatus, Listing, Review, RunnableAsset, Sealed, Summary } from '../model/asset.ts'
import type { Costs } from '../rules/asset-estimate.ts'

/** What runs need of assets. */
export interface AssetsForRuns {
  /** What the caller wants to run, by id or slug, in their environment; throws `missing` when they may not. */
  forRun(identifier: string, caller: Caller): Promise<RunnableAsset>
  /** Another creator's asset is missing. */
  own(caller: Caller, identifier: string): Promise<Pick<Asset, 'id'>>
  /** The version that a run started with, also where the asset has a newer one; null when there is none. */
  version(id: Id<'rda'>, version: string): Promise<RunnableAsset | null>
  /** The headers or credentials of this asset's agent or tool, in clear: for the call itself and nothing else. */
  openSecrets(id: Id<'rda'>, part: SecretPart, sealed: Sealed): Readonly<Record<string, string>>
}

/** Which field of the configuration a secret belongs to: it opens as nothing else. */
export type SecretPart = 'webhookHeaders' | 'apiHeaders' | 'authConfig'

/** Where assets are kept. */
export interface AssetStore {
  /** `slug-taken` when another asset of the environment has it. Adding the same one again changes nothing. */
  add(asset: Asset): Promise<'added' | 'slug-taken'>
  slugTaken(environment: Environment, slug: string): Promise<boolean>
  /** Slugs of published ones that stand near this one in the order of slugs; a few dozen at most. */
  slugsNear(environment: Environment, slug: string): Promise<readonly string[]>
  find(environment: Environment, identifier: string): Promise<FoundAsset | null>
  /** In the version that was published last; null where it never was. */
  findPublished(environment: Environment, id: Id<'rda'>): Promise<FoundAsset | null>
  /** Those whose template this reader has bought, the latest first, as they were published last. */
  listBought(
    reader: Owner,
    page: { limit: number; offset: number },
  ): Promise<{ assets: readonly Summary[]; total: number }>
  /** The creator's published ones, the oldest first. */
  listOffered(owner: Owner, limit: number): Promise<readonly { id: string; name: string; slug: string }[]>
  /** Of these ids, those that `listOffered` would list. */
  findOffered(owner: Owner, ids: readonly string[]): Promise<readonly FoundAsset[]>
  findVersion(id: Id<'rda'>, version: string): Promise<RunnableAsset | null>
  /** False when it is not at the version any more that the edit was made from. */
  save(asset: Asset, from: string): Promise<boolean>
  /** False when its status is not `from` any more. */
  setStatus(id: Id<'rda'>, from: AssetStatus, to: AssetStatus, now: Date): Promise<boolean>
  /** `ownOf`: only this user's, also where `ownerId` names another. */
  list(listing: Listing, ownOf: Id<'usr'> | null, now: Date): Promise<{ assets: readonly Summary[]; total: number }>

  /** Whether this user has ever had this asset run, or had it run with success. */
  hasRun(id: Id<'rda'>, userId: string, successfully: boolean): Promise<boolean>
  /** Null when it is the first or the same act's; else the score that was given before. */
  rate(rating: Rating): Promise<number | null>
  /** Whether this user has paid for a successful run of it. */
  hasPaid(id: Id<'rda'>, userId: string): Promise<boolean>
  /** How many reviews this user has written since. */
  countReviews(userId: string, since: Date): Promise<number>
  /** Ratings with a text that is not hidden, the newest first, older than the one with the id `before`. */
  reviews(id: Id<'rda'>, page: { limit: number; before: string | null }): Promise<readonly Review[]>
  /** `missing`: there is no such review of this asset, or it is hidden. */
  reply(to: { rdaId: Id<'rda'>; review: string; text: string; at: Date }): Promise<'replied' | 'answered' | 'missing'>
  /** An operator's command: false where there is no such review. */
  hideReview(review: string, at: Date): Promise<boolean>
  hasBought(id: Id<'rda'>, userId: string): Promise<boolean>
  /** Writes the sale and what `pay` writes, unless there was a sale before; whether this one is new. */
  sell(sale: Sale, pay: (inside: Statements) => Promise<void>): Promise<boolean>

  mark(environment: Environment, identifier: string, mark: 'verified' | 'featured', value: boolean): Promise<boolean>
  /** Answers how many people this name stands for. */
  markCreator(subject: string, verified: boolean): Promise<number>
  /** Brings standings up to date with the runs since `since`. */
  rank(since: Date, rules: RankRules): Promise<void>
}

export interface FoundAsset {
  asset: Asset
  recentCosts: Costs | null
}

export interface Rating {
  rdaId: Id<'rda'>
  userId: Id<'usr'>
  score: number
  /** Null for a rating alone. */
  text: string | null
  madeBy: string
  at: Date
}

export interface Sale {
  rdaId: Id<'rda'>
  userId: Id<'usr'>
  price: Usdc
  at: Date
}

export interface RankRules {
  /** So many people must have paid for it before it trends. */
  callersMin: number
  /** At most so many trend in one environment. */
  trendingMax: number
}

/** Whether an address may be called, and headers may be sent: throws a DomainError that says why not. */
export interface Endpoints {
  checkAddress(url: string): Promise<void>
  checkHeaders(headers: Readonly<Record<string, string>>): void
}

/** Secrets at rest; the context says whose, and opens nothing else. */
export interface SecretKeeping {
  seal(text: string, context: string): string
  open(token: string, context: string): string
}

/** Counts an anonymous read of a draft by address; throws when there were too many. */
export type CountDraftRead = (address: string) => Promise<void>
