import type { AssetDeps } from './deps.ts'
import { createDrafts } from './drafts.ts'
import { createReading } from './read.ts'
import { createTrade } from './trade.ts'
import { createWriting } from './write.ts'

/** Runnable assets: made by their creators, found, rated and run by everybody. */
export function createAssets(deps: AssetDeps) {
  const { store, clock, changed } = deps
  const drafts = createDrafts(deps)
  return {
    ...createWriting({ store, clock, changed, drafts }),
    ...createReading(deps),
    ...createTrade(deps),
    openSecrets: drafts.open,

    /** The platform's own marks: only an operator's command may call these three. */
    mark: store.mark.bind(store),
    markCreator: store.markCreator.bind(store),
    hideReview: (review: string) => store.hideReview(review, clock.now()),

    /** Ranks all assets by how many people paid for a run lately. */
    async rank(): Promise<void> {
      await store.rank(new Date(clock.now().getTime() - RECENT_MS), { callersMin: 3, trendingMax: 100 })
    },
  }
}

export type Assets = ReturnType<typeof createAssets>

const RECENT_MS = 7 * 24 * 3_600_000
