import { count, createRateLimit } from '../api/limits.ts'
import type { McpAsk, McpService } from '../api/mcp/parts.ts'
import type { Checkouts } from '../checkouts/service/checkouts.ts'
import type { Identity } from '../identity/service/identity.ts'
import type { Environment } from '../kit/owner.ts'
import type { Assets } from '../marketplace/service/assets/assets.ts'
import type { GuestRuns } from '../marketplace/service/guests.ts'
import type { Runs } from '../marketplace/service/runs/runs.ts'
import type { Paywalls } from '../paywall/service/paywalls.ts'
import { openMcp, ownerPages } from './mcp.ts'
import type { Part, Platform } from './platform.ts'
import { toolNameOf } from '../sales/model.ts'
import type { AccountPurchases } from '../sales/service/account-purchases.ts'
import type { PaymentTokens } from '../sales/service/proof.ts'
import { createAssetSeller } from '../storefront/mcp/assets.ts'
import { createRouteSeller, type OpenRoute } from '../storefront/mcp/routes.ts'
import { createStorefrontMcp } from '../storefront/mcp/server.ts'
import type { AccountPayments } from '../storefront/ports.ts'
import { createStorefront } from '../storefront/service.ts'
import { assetSlugOf } from '../tools/rules/slug.ts'
import type { Catalogue } from '../tools/service/catalogue/catalogue.ts'

/** One MCP address for all that an account sells. */
export function openStorefront(platform: Platform, deps: StorefrontPartDeps): Part {
  const { config, clock, redis } = platform
  const { identity, checkouts, checkoutMcp, assets, runs, guests, catalogue, paywalls, ...routeDeps } = deps
  const { storefront: address, facilitator } = config.addresses
  const messages = createRateLimit('storefront', config.RATE_API_PER_MINUTE, redis)
  const countGuest = (guest: string): Promise<void> => count(platform.guestLimit, guest)
  const toolNamesOf = async (environment: Environment, slug: string): Promise<string[]> => {
    const tool = assetSlugOf(slug)
    const id = await catalogue.idOf(environment, tool, null)
    return id === null ? [tool] : [tool, id]
  }
  const storefront = createStorefront({
    accountByHandle: (handle) => identity.byHandle(handle),
    products: { checkout: checkouts, asset: assets, route: paywalls },
    clock,
  })
  const mcp = openMcp(platform, {
    identity,
    address: `${address}/:handle/mcp`,
    service: createStorefrontMcp({
      storefront,
      sellers: {
        checkout: ({ id, name }, ask, { params, ...sent }) =>
          checkoutMcp.tools.call(askOf(id, ask), { ...sent, params: { ...params, name: toolNameOf(name) } }),
        asset: createAssetSeller({ runs, guests, facilitator, toolNamesOf, countGuest }),
        route: createRouteSeller({ ...routeDeps, countGuest }),
      },
      task: (ask, operation) => checkoutMcp.task(ask, operation),
      taskOperation: async ({ id }, ask, params) => (await checkoutMcp.taskOperation?.(askOf(id, ask), params)) ?? null,
      pages: ownerPages(config),
      countMessage: ({ guest, caller }: McpAsk) =>
        count(messages, guest ?? caller.keyId ?? `${caller.issuer} ${caller.subject}`),
    }),
  })
  return {
    mounted: [{ role: 'pay', path: new URL(`${address}/:handle/mcp`).pathname, handler: mcp.handler }],
    stop: () => mcp.close(),
  }
}

/** The same at the checkout's own address. */
function askOf(checkout: string, ask: McpAsk): McpAsk {
  return { ...ask, query: { ...ask.query, chk: checkout } }
}

interface StorefrontPartDeps {
  identity: Identity
  checkouts: Checkouts
  /** Sells a single checkout, which the address's query names. */
  checkoutMcp: McpService
  assets: Assets
  catalogue: Pick<Catalogue, 'idOf'>
  runs: Runs
  guests: GuestRuns
  paywalls: Paywalls
  openRoute: OpenRoute
  accounts: AccountPayments
  purchases: AccountPurchases
  tokens: PaymentTokens
}
