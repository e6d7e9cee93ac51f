import { Router } from 'express'
import { serveDocument, type Settings } from './document.ts'
import { builtFolder, loadAssets, serveAssets } from '../pages/assets.ts'
import type { Platform, Part } from '../platform/platform.ts'
import { withoutTrailing } from '../kit/text.ts'
import { inboxAddress } from '../sandbox/part.ts'

/** Serves the dashboard's pages and their files; tRPC and the sign-in serve their data. */
export async function openDashboard(platform: Platform): Promise<{ part: Part }> {
  const { config, clock } = platform
  const assets = await loadAssets(builtFolder('dashboard'))
  const { api, tools, storefront, dashboard } = config.addresses
  const base = pathOf(dashboard)
  const settings = (): Settings => ({
    base,
    live: config.LIVE,
    provider: config.OIDC_CLIENT_ID === undefined ? null : config.OIDC_LABEL,
    apiUrl: api,
    toolsUrl: tools,
    storefrontUrl: storefront,
    inboxUrl: inboxAddress(platform),
    now: clock.now().toISOString(),
  })
  const handler = Router()
  handler.use('/static', serveAssets(assets))
  handler.use(serveDocument({ ...assets, base, settings }))
  return { part: { mounted: [{ role: 'dashboard', path: base === '' ? '/' : base, handler }] } }
}

function pathOf(address: string): string {
  return withoutTrailing(new URL(address).pathname, '/')
}
