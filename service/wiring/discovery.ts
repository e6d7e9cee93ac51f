import type { Platform, Part } from './platform.ts'
import type { Chains } from './chains.ts'
import { outboundClient } from '../outbound/client.ts'
import type { Listing } from '../x402/bazaar.ts'
import { discoveryRoutes } from '../discovery/http.ts'
import { createCatalogue } from '../discovery/service/catalogue.ts'
import { createChecks, type Checks } from '../discovery/service/checks.ts'
import { createListing } from '../discovery/service/listing.ts'
import { createRanking } from '../discovery/service/ranking.ts'
import { createCheckStore } from '../discovery/store/checks.ts'
import { createCatalogueStore } from '../discovery/store/catalogue.ts'
import { createRankingStore } from '../discovery/store/ranking.ts'

/** The catalogue of what was sold through the facilitator. */
export function openDiscovery(platform: Platform, chains: Chains): { listing: Listing; checks: Checks; part: Part } {
  const { config, database, clock, log, metrics } = platform
  const { api, tools, facilitator, pay, receipts, storefront, gate } = config.addresses
  const ownAddresses = [api, tools, facilitator, pay, receipts, storefront, gate]
  const store = { ...createCatalogueStore(database.statements), ...createCheckStore(database.statements) }
  const ranking = createRanking({
    store: createRankingStore(database.statements),
    chains: [...chains.byNetwork.values()],
    clock,
    log,
  })
  // Payers name these addresses: a private one is refused, except for hosts that are listed.
  const seller = outboundClient({
    policy: { allowPrivate: false, allowHosts: config.ALLOW_HOSTS },
    tracing: platform.tracer === null ? null : { tracer: platform.tracer, passed: false },
  })
  const common = { store, ownAddresses, log, measures: metrics, entriesPerHost: ENTRIES_PER_HOST }
  const checks = createChecks({ ...common, seller })
  return {
    checks,
    listing: createListing({ ...common, clock }),
    part: {
      routes: [{ surface: 'facilitator', routes: discoveryRoutes(createCatalogue(store, { clock }), ownAddresses) }],
      sweepers: [
        { name: 'discovery.rank', everyMs: 30_000, run: (now) => ranking.rank(now) },
        { name: 'discovery.funding', everyMs: 10_000, run: (now) => ranking.search(now) },
        { name: 'discovery.checks', everyMs: 5_000, run: (now) => checks.run(now) },
      ],
      stop: () => seller.close(),
    },
  }
}

/** More than a real seller has with templates for its routes, and a small part of the whole. */
const ENTRIES_PER_HOST = 200
