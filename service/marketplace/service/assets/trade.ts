import type { Id } from '../../../kit/ids.ts'
import { toWire, usdc, ZERO, type Usdc } from '../../../kit/money.ts'
import { accountOf, type Caller } from '../../../kit/caller.ts'
import {
  alreadyRated,
  assetMissing,
  notAPrompt,
  ownRating,
  ratingNeedsRun,
  reviewAnswered,
  reviewMissing,
  reviewNeedsPayment,
  sourceDearer,
  sourceNotForSale,
  tooManyReviews,
} from '../../errors.ts'
import type { Asset, PromptConfig } from '../../model/asset.ts'
import type { AssetDeps } from './deps.ts'
import { isReadable, publishedFor } from './read.ts'

export interface Source {
  rdaId: Id<'rda'>
  version: string
  promptTemplate: string
  systemPrompt: string | null
  /** What this call cost: 0 for a reader who has bought it before. */
  cost: Usdc
}

/** What readers do with an asset besides running it: rate it, and buy its template. */
export function createTrade({ store, ledger, outflow, clock, feeBps }: AssetDeps) {
  return {
    /**
     * Once for each person who had a successful run of it; answers the asset with its new statistics. With a text it is a
     * review, which only those write who paid.
     */
    async rate(
      caller: Caller,
      identifier: string,
      { score, text }: { score: number; text: string | null },
      operation: Id<'op'>,
    ): Promise<Asset> {
      const { userId } = accountOf(caller)
      const asset = await readable(caller, identifier)
      if (asset.owner.userId === userId) throw ownRating()
      if (!(await store.hasRun(asset.id, userId, true))) throw ratingNeedsRun()
      const at = clock.now()
      if (text !== null) {
        if (!(await store.hasPaid(asset.id, userId))) throw reviewNeedsPayment()
        if ((await store.countReviews(userId, new Date(at.getTime() - DAY_MS))) >= REVIEWS_PER_DAY)
          throw tooManyReviews()
      }
      const before = await store.rate({ rdaId: asset.id, userId, score, text, madeBy: operation, at })
      if (before !== null) throw alreadyRated(before)
      const rated = await store.find(asset.environment, asset.id)
      return (rated === null ? null : await publishedFor(store, rated, userId))?.asset ?? asset
    },

    /** The creator's one answer to a review of their asset. */
    async reply(caller: Caller, identifier: string, { review, text }: { review: string; text: string }): Promise<void> {
      const { userId } = accountOf(caller)
      const asset = await readable(caller, identifier)
      if (asset.owner.userId !== userId) throw reviewMissing()
      const outcome = await store.reply({ rdaId: asset.id, review, text, at: clock.now() })
      if (outcome === 'missing') throw reviewMissing()
      if (outcome === 'answered') throw reviewAnswered()
    },

    /**
     * Shows the template of a prompt, for its price once. The sale and the money are one transaction, so that
     * repeated and simultaneous requests pay once.
     */
    async buySource(caller: Caller, identifier: string, maxCost: Usdc | null): Promise<Source> {
      const owner = accountOf(caller)
      const asset = await readable(caller, identifier)
      const { config } = asset.content
      if (config.type !== 'prompt') throw notAPrompt()
      const isFree = asset.owner.userId === owner.userId || config.sourcePrice === ZERO
      if (isFree || (await store.hasBought(asset.id, owner.userId))) return sourceOf(asset, config, ZERO)
      const price = config.sourcePrice
      if (price === null || asset.status === 'archived') throw sourceNotForSale()
      if (maxCost !== null && price > maxCost) throw sourceDearer(toWire(price))
      const share = usdc(price - (price * BigInt(feeBps)) / 10_000n)
      const sale = { rdaId: asset.id, userId: owner.userId, price, at: clock.now() }
      const id = `source.${asset.id}.${owner.userId}`
      const buyer = { userId: owner.userId, environment: asset.environment }
      const shares = [{ to: { userId: asset.owner.userId }, amount: share }]
      const isNew = await store.sell(sale, async (inside) => {
        await ledger.transfer({ id, owner: buyer, amount: price, shares, reference: asset.id }, inside)
        await outflow.takePurchase({ id, buyer, amount: price }, inside)
      })
      return sourceOf(asset, config, isNew ? price : ZERO)
    },
  }

  /** What is archived can still be rated by those who ran it, but is not for sale any more. */
  async function readable(caller: Caller, identifier: string): Promise<Asset> {
    const { userId, environment } = accountOf(caller)
    const found = await store.find(environment, identifier)
    if (found === null || !(await isReadable(store, found.asset, userId))) throw assetMissing()
    const shown = await publishedFor(store, found, userId)
    if (shown === null) throw assetMissing()
    return shown.asset
  }
}

const DAY_MS = 86_400_000
/** Reviews that one account writes. */
const REVIEWS_PER_DAY = 20

function sourceOf(asset: Asset, config: PromptConfig, cost: Usdc): Source {
  const { promptTemplate, systemPrompt } = config
  return { rdaId: asset.id, version: asset.version, promptTemplate, systemPrompt, cost }
}
