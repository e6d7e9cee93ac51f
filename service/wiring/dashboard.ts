import { Router } from 'express'
import { serveDocument, type Settings } from '../dashboard/document.ts'
import { createRateLimit } from '../api/limits.ts'
import { limitAddresses } from '../api/requests.ts'
import { PAGES } from '../dashboard/pages.ts'
import { openPage, type OpenAsset, type OpenOffers, type OpenPage } from '../dashboard/open-pages.ts'
import { Recent } from '../kit/recent.ts'
import { toWire } from '../kit/money.ts'
import type { Summary } from '../marketplace/model/asset.ts'
import type { Assets } from '../marketplace/service/assets/assets.ts'
import { builtFolder, loadAssets, serveAssets } from '../pages/assets.ts'
import type { Platform, Part } from './platform.ts'
import { withoutTrailing } from '../kit/text.ts'
import { DomainError } from '../kit/errors.ts'
import { inboxAddress } from './sandbox.ts'

/** Serves the dashboard's pages and their files; tRPC and the sign-in serve their data. */
export async function openDashboard(platform: Platform, offered: Assets): Promise<{ part: Part }> {
  const { config, clock, log, redis } = platform
  const assets = await loadAssets(builtFolder('dashboard'))
  const { api, pay, tools, storefront, dashboard } = config.addresses
  const base = pathOf(dashboard)
  const settings = (): Settings => ({
    base,
    live: config.LIVE,
    provider: config.OIDC_CLIENT_ID === undefined ? null : config.OIDC_LABEL,
    apiUrl: api,
    payUrl: pay,
    toolsUrl: tools,
    storefrontUrl: storefront,
    inboxUrl: inboxAddress(platform),
    now: clock.now().toISOString(),
  })
  const offers = offersOf(offered)
  const site = withoutTrailing(dashboard, '/')
  const known = new Recent<string, Promise<OpenPage | null>>(KNOWN_MAX, { clock, forMs: KNOWN_MS })
  const handler = Router()
  handler.use('/static', serveAssets(assets))
  // Anyone may read these, and each may ask the database.
  const open = PAGES.filter((page) => 'open' in page).map(({ path }) => path)
  const limit = createRateLimit('open-pages', config.RATE_API_PER_MINUTE, redis)
  handler.use(open, limitAddresses(limit))
  handler.use(
    serveDocument({
      ...assets,
      base,
      settings,
      async openPage(path, number) {
        const name = `${path} ${String(number)}`
        const before = known.get(name)
        const page = before ?? openPage(offers, { path, number }, site)
        if (before === undefined) known.put(name, page)
        try {
          return await page
        } catch (error) {
          known.drop(name)
          // The script shows the same and explains an error. Without this part the document is still complete.
          log.warn({ err: error }, 'an open page has no content')
          return null
        }
      },
    }),
  )
  return { part: { mounted: [{ role: 'dashboard', path: base === '' ? '/' : base, handler, reads: true }] } }
}

/** A change is seen after this time. */
const KNOWN_MS = 10_000
/** Pages in memory; a page is a few kilobytes. */
const KNOWN_MAX = 1_000

/** The others are shown by the script. */
const REVIEWS = 10

function offersOf(assets: Assets): OpenOffers {
  return {
    async page(limit, offset) {
      const filter = { type: null, status: 'published', ownerId: null, search: null } as const
      const kinds = { verified: false, featured: false, trending: false }
      const { assets: found, total } = await assets.list({ ...filter, ...kinds, limit, offset }, null)
      return { assets: found.map((one) => toOpen(one, null)), total }
    },
    async find(slug) {
      try {
        const { asset, estimatedCost } = await assets.offer(slug)
        const { content, longDescription, stats } = asset
        const { reviews } = await assets.reviews(slug, null, { limit: REVIEWS, before: null })
        const { examples = [] } = content.config
        const rating = stats.totalRatings === 0 ? null : { average: stats.averageRating, count: stats.totalRatings }
        return {
          ...toOpen(asset, estimatedCost),
          rating,
          longDescription,
          inputs: content.inputs.map(({ label, description, required }) => ({ label, description, required })),
          examples: examples.map(({ title, output }) => ({ title, output })),
          reviews,
        }
      } catch (error) {
        if (error instanceof DomainError && error.kind === 'missing') return null
        throw error
      }
    },
  }
}

function toOpen({ slug, name, description, type, owner, pricing, stats }: Summary, estimate: string | null): OpenAsset {
  return {
    slug,
    name,
    description,
    type,
    creator: owner.name,
    pricing: { model: pricing.model, amount: toWire(pricing.amount), estimatedCost: estimate },
    runs: stats.totalRuns,
    rating: stats.averageRating === 0 ? null : { average: stats.averageRating, count: null },
  }
}

function pathOf(address: string): string {
  return withoutTrailing(new URL(address).pathname, '/')
}
