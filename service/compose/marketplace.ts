import type { Deliveries } from '../deliveries/service.ts'
import { createRateLimit } from '../api/limits.ts'
import type { Identity } from '../identity/service.ts'
import { assetRoutes } from '../marketplace/http/assets.ts'
import { assetSweepers } from '../marketplace/jobs/assets.ts'
import { createAssets, type Assets } from '../marketplace/service/assets.ts'
import type { Runs } from '../marketplace/service/runs.ts'
import { createAssetStore } from '../marketplace/store/assets.ts'
import { createModels } from '../models/models.ts'
import { outboundClient } from '../outbound/client.ts'
import { checkHeaders } from '../outbound/headers.ts'
import type { OutboundRequest } from '../outbound/model.ts'
import type { Spending } from '../spending/service.ts'
import { createTransforms } from '../transforms/transforms.ts'
import { Secret } from '../vault/secret.ts'
import { demoHosts, openDemo } from './demo.ts'
import type { Ground, Part } from './ground.ts'
import { openRuns } from './runs.ts'

interface Marketplace {
  assets: Assets
  runs: Runs
  part: Part
}

/** Assets, their runs, and what creators' servers are reached by: never on a private network, except for hosts that are listed. */
export function openMarketplace(
  ground: Ground,
  identity: Identity,
  deliveries: Deliveries,
  spending: Spending,
): Marketplace {
  const { config, clock, database, ledger, vault, redis } = ground
  const allowHosts = [...config.ALLOW_HOSTS, ...demoHosts(config)]
  const outbound = outboundClient({
    policy: { allowPrivate: false, allowHosts },
    // Creators work for us: their own traces may go on from ours.
    tracing: ground.tracer === null ? null : { tracer: ground.tracer, passed: true },
  })
  const models = createModels({
    baseUrl: config.MODELS_BASE_URL,
    apiKey: config.MODELS_API_KEY,
    file: config.MODELS_FILE,
  })
  const transforms = createTransforms()
  const draftReads = createRateLimit('draft-reads', config.RATE_DRAFT_READS_PER_MINUTE, redis)
  const assets = createAssets({
    store: createAssetStore(database.statements),
    ledger,
    clock,
    models,
    transforms,
    endpoints: { checkAddress: (url) => outbound.checkAddress(url), checkHeaders },
    secrets: {
      seal: (text, context) => vault.seal(new Secret(text), context),
      open: (token, context) => vault.open(token, context).reveal(),
    },
    async countDraftRead(address) {
      const { refusal } = await draftReads(address)
      if (refusal !== null) throw refusal
    },
    anonymous: config.LIVE ? 'production' : 'sandbox',
    feeBps: config.PLATFORM_FEE_BPS,
  })
  const demo = openDemo(ground, identity, assets)
  const callout = { send: (request: OutboundRequest) => outbound.send(request) }
  const { runs, part: runsPart } = openRuns(ground, {
    identity,
    deliveries,
    spending,
    assets,
    models,
    transforms,
    callout,
  })
  return {
    assets,
    runs,
    part: {
      routes: [{ surface: 'api', routes: assetRoutes(assets) }, ...(runsPart.routes ?? [])],
      topics: runsPart.topics ?? [],
      sweepers: [...assetSweepers(assets), ...(runsPart.sweepers ?? [])],
      start: () => demo.start(),
      async stop() {
        await demo.stop()
        await runs.stop()
        await transforms.close()
        await outbound.close()
      },
    },
  }
}
