import type { RequestHandler } from 'express'
import type { Config } from '../config.ts'
import type { Clock } from '../kit/clock.ts'
import { ZERO } from '../kit/money.ts'
import { createDocuments } from '../openapi/documents.ts'
import { simulate } from '../openapi/simulator.ts'
import type { Outbound } from '../outbound/client.ts'
import { catalogueRoutes } from '../tools/http/catalogue.ts'
import { guideText, mcpCard } from '../tools/http/guide.ts'
import { catalogueSweepers } from '../tools/jobs.ts'
import type { Measured } from '../tools/ports/catalogue.ts'
import type { Documents, PublishedAssets, ToolServers } from '../tools/ports/sources.ts'
import type { ToolQuotas } from '../tools/rules/quota.ts'
import { createCatalogue, type Catalogue } from '../tools/service/catalogue/catalogue.ts'
import type { CatalogueDeps } from '../tools/service/catalogue/directory.ts'
import { createCatalogueStore } from '../tools/store/catalogue/store.ts'
import type { AssetStore } from '../marketplace/ports/asset.ts'
import { estimate } from '../marketplace/rules/asset-estimate.ts'
import { createAssetStore } from '../marketplace/store/assets/assets.ts'
import type { StatementPool } from '../kit/transaction.ts'
import { textVault, type Vault } from '../vault/vault.ts'
import type { Platform, Part } from './platform.ts'
import { createPublishedTools } from '../tools/service/catalogue/published.ts'
import { importShipped } from './tools-shipped.ts'

/** Composes the catalogue; part.ts composes the calls. */
export function openCatalogue(platform: Platform, deps: CatalogueOptions) {
  const { config, clock, log, database, vault } = platform
  const catalogue = catalogueOn(database.statements, {
    clock,
    vault,
    quotas: toolQuotas(config),
    ...deps,
    ...deps.upstreams,
  })
  const environment = config.LIVE ? 'production' : 'sandbox'
  const addresses = addressesOf(config.addresses)
  const serves = config.ROLES.includes('tools')
  const seeds = config.TOOLS_SHIPPED && serves
  let seeding: Promise<void> | null = null
  let isSeeded = !seeds
  let stopping = false
  return {
    catalogue,
    part: {
      routes: [{ surface: 'tools', routes: catalogueRoutes(catalogue, environment) }],
      mounted: [
        { role: 'tools', path: '/llms.txt', handler: served(async () => await guideOf()) },
        { role: 'tools', path: '/.well-known/mcp.json', handler: served(() => Promise.resolve(mcpCard(addresses))) },
      ],
      sweepers: catalogueSweepers(
        catalogue,
        createPublishedTools(publishedAssets(createAssetStore(database.statements), clock)),
      ),
      ...(serves
        ? {
            ready: {
              async catalogue() {
                await Promise.all(SERVED[environment].map((one) => catalogue.load(one)))
                return isSeeded
              },
            },
          }
        : {}),
      start() {
        if (!seeds) return
        seeding = seed()
          .catch((error: unknown) => {
            log.warn({ err: error }, 'the tools that come with the service could not be imported')
          })
          .finally(() => (isSeeded = true))
      },
      async stop() {
        stopping = true
        await seeding
      },
    } satisfies Part,
  }

  async function seed(): Promise<void> {
    for (const one of SERVED[environment]) await importShipped(catalogue, one, { isOver: () => stopping })
  }

  async function guideOf(): Promise<string> {
    const [providers, collections] = await Promise.all([
      catalogue.providers(environment, null),
      catalogue.collections(environment, null),
    ])
    return guideText({ ...addresses, providers, collections })
  }
}

/** A live server has both environments. Any other server has only the sandbox. */
const SERVED = { sandbox: ['sandbox'], production: ['sandbox', 'production'] } as const

interface CatalogueOptions {
  measured: Measured
  upstreams: { outbound: Outbound; servers: ToolServers }
}

export function toolQuotas(config: Config): ToolQuotas {
  return {
    providers: config.TOOL_PROVIDERS_PER_ACCOUNT,
    tools: config.TOOLS_PER_ACCOUNT,
    bytes: config.TOOL_BYTES_PER_ACCOUNT,
    importsPerHour: config.TOOL_IMPORTS_PER_HOUR,
  }
}

/** Also used by the commands that work on a catalogue. */
export function catalogueOn(statements: StatementPool, deps: CatalogueOnDeps): Catalogue {
  const { clock, vault, quotas, measured, outbound, servers, documents = createDocuments() } = deps
  return createCatalogue({
    store: createCatalogueStore(statements),
    clock,
    quotas,
    measured,
    documents,
    servers,
    simulator: { simulate },
    fetching: {
      checkAddress: (url) => outbound.checkAddress(url),
      async fetch(url) {
        const { body } = await outbound.send({
          url,
          redirects: 3,
          limits: { totalMs: 30_000, bodyBytes: DOCUMENT_BYTES_MAX },
        })
        return body.toString('utf8')
      },
    },
    secrets: textVault(vault),
  })
}

type CatalogueOnDeps = Pick<CatalogueDeps, 'clock' | 'quotas' | 'measured' | 'servers'> & {
  vault: Vault
  outbound: Outbound
  documents?: Documents
}

/** The marketplace's published tools, from its store. */
export function publishedAssets(store: Pick<AssetStore, 'list' | 'find'>, clock: Clock): PublishedAssets {
  return {
    async page(environment, limit, offset) {
      return (await store.list({ ...PUBLISHED, environment, limit, offset }, null, clock.now())).assets
    },
    async details(environment, id) {
      const content = (await store.find(environment, id))?.asset.content
      if (content === undefined) return { inputs: [], price: ZERO }
      return { inputs: content.inputs, price: estimate(content, [], null).maxCost }
    },
  }
}

const FILTER_OFF = { verified: false, featured: false, trending: false, ownerId: null, search: null } as const
const PUBLISHED = { ...FILTER_OFF, status: 'published', type: 'tool' } as const

const DOCUMENT_BYTES_MAX = 30_000_000

function addressesOf({ tools, api, dashboard }: { tools: string; api: string; dashboard: string }) {
  return { address: tools, mcpAddress: `${tools}/mcp`, apiAddress: api, docs: `${new URL(dashboard).origin}/docs` }
}

/** A public text at one address. Pages of any origin may read it. */
function served(make: () => Promise<unknown>): RequestHandler {
  return async (request, response, next) => {
    if (request.path !== '/' || (request.method !== 'GET' && request.method !== 'HEAD')) {
      next()
      return
    }
    const made = await make()
    response.set('access-control-allow-origin', '*').set('cache-control', 'public, max-age=60')
    if (typeof made === 'string') response.type('text/plain').send(made)
    else response.json(made)
  }
}
