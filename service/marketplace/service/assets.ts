import type { Clock } from '../../kit/clock.ts'
import type { Environment } from '../../kit/owner.ts'
import type { Ledger } from '../../ledger/service.ts'
import type { AssetStore, CountDraftRead, Endpoints, SecretKeeping } from '../ports/asset.ts'
import type { Models, Transforms } from '../ports/run.ts'
import { createDrafts } from './assets/drafts.ts'
import { createReading } from './assets/read.ts'
import { createTrade } from './assets/trade.ts'
import { createWriting } from './assets/write.ts'

/** Runnable assets: made and kept by their creators, found, rated and run by everybody. */
export function createAssets(deps: AssetDeps) {
  const { store, clock } = deps
  const drafts = createDrafts(deps)
  const writing = createWriting({ store, clock, drafts })
  const reading = createReading(deps)
  const trade = createTrade(deps)
  return {
    ...writing,
    ...reading,
    ...trade,
    openSecrets: drafts.open,

    /** The marks of the house: whoever calls this speaks for it. */
    mark: store.mark.bind(store),
    markCreator: store.markCreator.bind(store),

    /** Sets everybody's place in the lists by who paid for a run lately. */
    async rank(): Promise<void> {
      await store.rank(new Date(clock.now().getTime() - RECENT_MS), { callersMin: 3, trendingMax: 100 })
    },
  }
}

export type Assets = ReturnType<typeof createAssets>

export interface AssetDeps {
  store: AssetStore
  ledger: Pick<Ledger, 'transfer'>
  clock: Clock
  models: Pick<Models, 'list'>
  transforms: Pick<Transforms, 'check'>
  endpoints: Endpoints
  secrets: SecretKeeping
  countDraftRead: CountDraftRead
  /** What those see who do not say who they are. */
  anonymous: Environment
  /** The platform's part of what is paid to creators, in hundredths of a percent. */
  feeBps: number
}

const RECENT_MS = 7 * 24 * 3_600_000
