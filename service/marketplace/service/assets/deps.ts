import type { Clock } from '../../../kit/clock.ts'
import type { Environment } from '../../../kit/owner.ts'
import type { Ledger } from '../../../ledger/service.ts'
import type { Outflows } from '../../../outflow/service.ts'
import type { RunnableAsset } from '../../model/asset.ts'
import type { AssetStore, CountDraftRead, Endpoints, SecretKeeping } from '../../ports/asset.ts'
import type { Models, Transforms } from '../../ports/run.ts'

export interface AssetDeps {
  store: AssetStore
  ledger: Pick<Ledger, 'transfer'>
  outflow: Pick<Outflows, 'takePurchase'>
  clock: Clock
  models: Pick<Models, 'list'>
  transforms: Pick<Transforms, 'check'>
  endpoints: Endpoints
  secrets: SecretKeeping
  countDraftRead: CountDraftRead
  /** Buyers' catalogues hear of what a creator has changed. It never throws. */
  changed(asset: RunnableAsset): Promise<void>
  /** The environment of visitors who are not signed in. */
  anonymous: Environment
  /** The platform's part of what is paid to creators, in hundredths of a percent. */
  feeBps: number
}
