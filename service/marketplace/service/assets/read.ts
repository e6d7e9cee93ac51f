import { toJsonSchema } from '../../../kit/fields.ts'
import { isId, type Id } from '../../../kit/ids.ts'
import { nearest } from '../../../kit/nearest.ts'
import { accountOf, type Caller } from '../../../kit/caller.ts'
import type { Environment, Owner } from '../../../kit/owner.ts'
import type { ToolOffer } from '../../../sales/model.ts'
import { agentMayNotSee, assetMissing, draftNeedsOwner, listNeedsOwner } from '../../errors.ts'
import type { Asset, Listing, Review, RunnableAsset, Summary } from '../../model/asset.ts'
import type { AssetStore, FoundAsset } from '../../ports/asset.ts'
import { estimate, type Estimate } from '../../rules/asset-estimate.ts'
import type { AssetDeps } from './deps.ts'

/** An asset as this reader sees it. */
export interface View extends Estimate {
  asset: Asset
  /** Also where its creator's servers are, and which secrets they are called with. */
  asOwner: boolean
  /** The template too. */
  withSource: boolean
}

export function createReading({ store, clock, models, countDraftRead, anonymous }: AssetDeps) {
  const environmentOf = (caller: Caller | null): Environment => caller?.environment ?? anonymous

  return {
    view,
    viewOf,

    async get(identifier: string, caller: Caller | null, address: string): Promise<View> {
      const found = await store.find(environmentOf(caller), identifier)
      if (found === null) throw await missing(environmentOf(caller), identifier)
      if (!(await mayRead(found.asset, caller))) {
        if (caller !== null || found.asset.status !== 'draft') throw await missing(environmentOf(caller), identifier)
        await countDraftRead(address)
        throw draftNeedsOwner()
      }
      return await view(await standing(found, caller?.user?.id ?? null, identifier), caller)
    },

    async list(
      wanted: Omit<Listing, 'environment'>,
      caller: Caller | null,
    ): Promise<{ assets: readonly Summary[]; total: number }> {
      const search = wanted.search?.trim() ?? ''
      const listing = { ...wanted, search: search === '' ? null : search, environment: environmentOf(caller) }
      if (listing.status === 'published') return await store.list(listing, null, clock.now())
      if (caller === null) throw listNeedsOwner()
      if (caller.agentId !== null) throw agentMayNotSee()
      return await store.list(listing, accountOf(caller).userId, clock.now())
    },

    /** The assets whose template this reader has bought, also where they are not published any more. */
    async bought(
      caller: Caller,
      page: { limit: number; offset: number },
    ): Promise<{ assets: readonly Summary[]; total: number }> {
      return await store.listBought(accountOf(caller), page)
    },

    /** What a visitor without an account is shown: published assets; all others are missing. */
    async offer(identifier: string): Promise<View> {
      const found = await store.find(anonymous, identifier)
      if (found?.asset.status !== 'published') throw assetMissing()
      return await view(found, null)
    },

    /** Of a published asset; also of one that this caller may read. `next` is `before` of the page after it. */
    async reviews(
      identifier: string,
      caller: Caller | null,
      { limit, before }: { limit: number; before: string | null },
    ): Promise<{ reviews: readonly Review[]; next: string | null }> {
      const found = await store.find(environmentOf(caller), identifier)
      if (found === null || !(await mayRead(found.asset, caller))) throw assetMissing()
      const reviews = await store.reviews(found.asset.id, { limit: limit + 1, before })
      const page = reviews.slice(0, limit)
      return { reviews: page, next: reviews.length > limit ? (page.at(-1)?.id ?? null) : null }
    },

    /** Which asset a name stands for, whether it can be run or not. */
    async idOf(identifier: string, environment: Environment): Promise<Id<'rda'>> {
      const found = await store.find(environment, identifier)
      if (found === null) throw await missing(environment, identifier)
      return found.asset.id
    },

    /** The asset that a caller wants to run: what they may not run does not exist for them. */
    async forRun(identifier: string, caller: Caller): Promise<RunnableAsset> {
      const { userId, environment } = accountOf(caller)
      const found = await store.find(environment, identifier)
      if (found === null || !(await mayRun(store, found.asset, userId))) throw await missing(environment, identifier)
      const { asset } = await standing(found, userId, identifier)
      const { id, slug, name, type, status, version, owner, content } = asset
      return { id, environment, slug, name, type, status, version, ownerId: owner.userId, content }
    },

    /** A creator's published assets, the oldest first. */
    listTools: (owner: Owner, limit: number) => store.listOffered(owner, limit),

    /** By id, as tools for models. Those that are not published are missing. */
    async toolOffers(owner: Owner, ids: readonly string[]): Promise<ReadonlyMap<string, ToolOffer>> {
      const found = ids.length === 0 ? [] : await store.findOffered(owner, ids)
      return new Map(found.map((one) => [one.asset.id, toolOfferOf(models, one)]))
    },

    version: (id: Id<'rda'>, version: string) => store.findVersion(id, version),
    models: (caller: Caller | null) => models.list(environmentOf(caller)),
  }

  /** The same error for what does not exist and for what this reader may not see; only published ones are suggested. */
  async function missing(environment: Environment, identifier: string): Promise<Error> {
    const slugs =
      isId('rda', identifier) || identifier.length > 80 ? [] : await store.slugsNear(environment, identifier)
    return assetMissing(nearest(identifier, slugs))
  }

  async function standing(found: FoundAsset, userId: string | null, identifier: string): Promise<FoundAsset> {
    const shown = await publishedFor(store, found, userId)
    if (shown === null) throw await missing(found.asset.environment, identifier)
    return shown
  }

  async function view(found: FoundAsset, caller: Caller | null): Promise<View> {
    return { ...(await viewOf(found.asset, caller)), ...costOf(models, found) }
  }

  /** For an asset that was changed just now: its recent costs are not read again. */
  async function viewOf(asset: Asset, caller: Caller | null): Promise<View> {
    // An agent runs what its owner made, and is shown no more of it than a stranger.
    const asOwner = caller?.agentId === null && caller.user?.id === asset.owner.userId
    const withSource = asOwner || (await seesSource(asset, caller))
    return { asset, asOwner, withSource, ...costOf(models, { asset, recentCosts: null }) }
  }

  async function seesSource({ id, content: { config } }: Asset, caller: Caller | null): Promise<boolean> {
    if (config.type !== 'prompt') return false
    if (config.sourcePrice === 0n) return true
    return caller?.user != null && (await store.hasBought(id, caller.user.id))
  }

  async function mayRead(asset: Asset, caller: Caller | null): Promise<boolean> {
    if (asset.status === 'published') return true
    return caller?.user != null && caller.agentId === null && (await isReadable(store, asset, caller.user.id))
  }
}

function toolOfferOf(models: AssetDeps['models'], found: FoundAsset): ToolOffer {
  const { name, description, content } = found.asset
  // The price of a prompt includes its model, so it depends on the input.
  const { pricing, config } = content
  const isExact = pricing.model === 'free' || (pricing.model === 'per-run' && config.type !== 'prompt')
  const price = isExact ? pricing.amount : `${costOf(models, found).estimatedCost} a run`
  return { name, description, input: toJsonSchema(content.inputs), price, testMode: false }
}

function costOf(models: AssetDeps['models'], { asset, recentCosts }: FoundAsset): Estimate {
  return estimate(asset.content, models.list(asset.environment), recentCosts)
}

/** What a reader has of an asset: its owner the newest version, everybody else the one that was published last. */
export async function publishedFor(
  store: Pick<AssetStore, 'findPublished'>,
  found: FoundAsset,
  userId: string | null,
): Promise<FoundAsset | null> {
  const { id, environment, status, owner, version, publishedVersion } = found.asset
  if (status === 'published' || owner.userId === userId || publishedVersion === version) return found
  return await store.findPublished(environment, id)
}

/** A template was sold with every version of it that is published: who bought it reads it in every status, and may not run more for it. */
export async function isReadable(store: AssetStore, asset: Asset, userId: string): Promise<boolean> {
  return (await mayRun(store, asset, userId)) || (await store.hasBought(asset.id, userId))
}

/** An archived asset goes on working for those who ran it before. */
async function mayRun(store: AssetStore, { id, status, owner }: Asset, userId: string): Promise<boolean> {
  if (status === 'published' || owner.userId === userId) return true
  return status === 'archived' && (await store.hasRun(id, userId, false))
}
