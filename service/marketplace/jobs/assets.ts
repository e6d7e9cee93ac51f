import type { Sweeper } from '../../queue/model.ts'
import type { Assets } from '../service/assets.ts'

/** Standings are a minute old at most. */
export function assetSweepers(assets: Assets): Sweeper[] {
  return [{ name: 'marketplace.rank', everyMs: 60_000, run: () => assets.rank() }]
}
