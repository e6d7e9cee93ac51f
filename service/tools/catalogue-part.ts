import type { RequestHandler } from 'express'
import type { Config } from '../config.ts'
import type { Clock } from '../kit/clock.ts'
import { createDocuments } from '../openapi/documents.ts'
import { simulate } from '../openapi/simulator.ts'
import type { Outbound } from '../outbound/client.ts'
import { catalogueRoutes } from './http/catalogue.ts'
import { guideText, mcpCard } from './http/guide.ts'
import { catalogueSweepers } from './jobs/catalogue.ts'
import type { Measured } from './ports/catalogue.ts'
import type { Documents, ToolServers } from './ports/sources.ts'
import type { ToolQuotas } from './rules/quota.ts'
import { createCatalogue, type Catalogue } from './service/catalogue.ts'
import { createCatalogueStore } from './store/catalogue.ts'
import { createAssetStore } from '../marketplace/store/assets/assets.ts'
import type { StatementPool } from '../kit/transaction.ts'
import { Secret } from '../vault/secret.ts'
import type { Vault } from '../vault/vault.ts'
import type { Platform, Part } from '../compose/platform.ts'
import { publishedTools } from './published-part.ts'
import { importShipped } from './shipped-part.ts'

/** Which tools there are; the calling of them is put together beside it. */
export function openCatalogue(platform: Platform, given: CatalogueGiven): { catalogue: Catalogue; part: Part } {
  const { config, clock, log, database, vault } = platform
  const catalogue = catalogueOn(database.statements, {
    clock,
    vault,
    quotas: toolQuotas(config),
    ...given,
    ...given.upstreams,
  })
  const environment = config.LIVE ? 'production' : 'sandbox'
  const addresses = addressesOf(config.addresses)
  const serves = config.ROLES.includes('tools')
  // As the demo creators: where there is a sandbox for somebody to look at, and not in a test.
  const seeds = config.DEMO_PORT !== 0 && serves
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
      sweepers: catalogueSweepers(catalogue, publishedTools(createAssetStore(database.statements), clock)),
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
        seeding = importShipped(catalogue, () => stopping)
          .catch((error: unknown) => {
            log.warn({ err: error }, 'the tools that come with the sandbox could not be put in')
          })
          .finally(() => (isSeeded = true))
      },
      async stop() {
        stopping = true
        await seeding
      },
    },
  }

  async function guideOf(): Promise<string> {
    const [providers, collections] = await Promise.all([
      catalogue.providers(environment, null),
      catalogue.collections(environment, null),
    ])
    return guideText({ ...addresses, providers, collections })
  }
}

/** A live server has both, another the sandbox alone. */
const SERVED = { sandbox: ['sandbox'], production: ['sandbox', 'production'] } as const

interface CatalogueGiven {
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

/** Also for who works on a catalogue from a terminal. */
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
    secrets: {
      seal: (text, context) => vault.seal(new Secret(text), context),
      open: (token, context) => vault.open(token, context).reveal(),
    },
  })
}

interface CatalogueOnDeps {
  clock: Clock
  vault: Vault
  quotas: ToolQuotas
  measured: Measured
  outbound: Outbound
  servers: ToolServers
  documents?: Documents
}

const DOCUMENT_BYTES_MAX = 30_000_000

function addressesOf({ tools, api, dashboard }: { tools: string; api: string; dashboard: string }) {
  return { address: tools, mcpAddress: `${tools}/mcp`, apiAddress: api, docs: `${new URL(dashboard).origin}/docs` }
}

/** One text at one address, to be read by anybody from anywhere. */
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
