import type { Address } from '../chain/model.ts'
import type { Deliveries } from '../deliveries/service/deliveries.ts'
import { createRateLimit } from '../api/limits.ts'
import type { Identity } from '../identity/service/identity.ts'
import { assetRoutes } from '../marketplace/http/assets.ts'
import { guestRoute } from '../marketplace/http/guests.ts'
import { assetSweepers, returnsSweeper } from '../marketplace/jobs.ts'
import { createAssets, type Assets } from '../marketplace/service/assets/assets.ts'
import { createGuestRuns, type GuestRuns } from '../marketplace/service/guests.ts'
import { createReturns, type RefundPort } from '../marketplace/service/returns.ts'
import type { Runs } from '../marketplace/service/runs/runs.ts'
import { createAssetStore } from '../marketplace/store/assets/assets.ts'
import { createModels } from '../models/models.ts'
import { outboundClient } from '../outbound/client.ts'
import { checkHeaders } from '../outbound/headers.ts'
import type { OutboundRequest } from '../outbound/model.ts'
import type { Budgets } from '../budgets/service/budgets.ts'
import type { Outflows } from '../outflow/service.ts'
import type { SellingDeps } from '../sales/service/deps.ts'
import type { Holding } from '../sales/service/hold.ts'
import { createTransforms } from '../transforms/transforms.ts'
import { Secret } from '../vault/secret.ts'
import { demoHosts, openDemo } from './demo.ts'
import type { Platform, Part } from './platform.ts'
import { openRuns } from './marketplace-runs.ts'

interface Marketplace {
  assets: Assets
  runs: Runs
  guests: GuestRuns
  part: Part
}

/**
 * Assets, their runs, and what creators' servers are reached by. In a sandbox they may be on a private network, as callbacks
 * may; on a live server only on hosts that are listed, also where callbacks may go further.
 */
export function openMarketplace(
  platform: Platform,
  { identity, deliveries, budgets, outflow, selling, holding, refunds, treasury }: MarketplaceDeps,
): Marketplace {
  const { config, clock, log, database, ledger, vault, redis } = platform
  const allowHosts = [...config.ALLOW_HOSTS, ...demoHosts(config)]
  const outbound = outboundClient({
    policy: { allowPrivate: config.ALLOW_PRIVATE_CALLBACKS && !config.LIVE, allowHosts },
    // Creators work for us: their own traces may go on from ours.
    tracing: platform.tracer === null ? null : { tracer: platform.tracer, passed: true },
  })
  const models = createModels({
    baseUrl: config.MODELS_BASE_URL,
    apiKey: config.MODELS_API_KEY,
    file: config.MODELS_FILE,
  })
  const environment = config.LIVE ? 'production' : 'sandbox'
  const transforms = createTransforms({ clock })
  const draftReads = createRateLimit('draft-reads', config.RATE_DRAFT_READS_PER_MINUTE, redis)
  const assets = createAssets({
    store: createAssetStore(database.statements),
    ledger,
    outflow,
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
    changed: (asset) => guests.changed(asset),
    anonymous: environment,
    feeBps: config.PLATFORM_FEE_BPS,
  })
  const demo = openDemo(platform, identity, assets)
  const callout = { send: (request: OutboundRequest) => outbound.send(request) }
  const { runs, part: runsPart } = openRuns(platform, {
    identity,
    deliveries,
    budgets,
    outflow,
    assets,
    models,
    transforms,
    callout,
  })
  const returns = createReturns({ holding, refunds, clock, log })
  const guests = createGuestRuns({
    assets,
    runs,
    selling,
    environment,
    network: config.LIVE ? 'base' : 'base-sepolia',
    recipient: treasury,
    address: config.addresses.api,
    statusUrl: ({ id }) => `${config.addresses.receipts}/${id}?token=${selling.tokens.of(id)}`,
    giveBack: returns.giveBack,
  })
  return {
    assets,
    runs,
    guests,
    part: {
      routes: [
        { surface: 'api', routes: [...assetRoutes(assets), guestRoute(guests, config.addresses.facilitator)] },
        ...(runsPart.routes ?? []),
      ],
      topics: runsPart.topics ?? [],
      sweepers: [...assetSweepers(assets), returnsSweeper(returns), ...(runsPart.sweepers ?? [])],
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

interface MarketplaceDeps {
  identity: Identity
  deliveries: Deliveries
  budgets: Budgets
  outflow: Outflows
  selling: SellingDeps
  holding: Holding
  refunds: RefundPort
  /** Null on a server without one. */
  treasury: Address | null
}
