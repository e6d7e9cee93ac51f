import { Router } from 'express'
import { serveDocument, type Settings } from '../dashboard/document.ts'
import { builtFolder, loadAssets, serveAssets } from '../pages/assets.ts'
import type { Ground, Part } from './ground.ts'
import { withoutTrailing } from '../kit/text.ts'
import { inboxAddress } from './sandbox.ts'

/** The dashboard's pages and the files that they load; what they ask is the business of tRPC and the sign-in. */
export async function openDashboard(ground: Ground): Promise<{ part: Part }> {
  const { config, clock } = ground
  const assets = await loadAssets(builtFolder('dashboard'))
  const { api, tools, dashboard } = config.addresses
  const base = pathOf(dashboard)
  const settings = (): Settings => ({
    base,
    live: config.LIVE,
    provider: config.OIDC_CLIENT_ID === undefined ? null : config.OIDC_LABEL,
    apiUrl: api,
    toolsUrl: tools,
    inboxUrl: inboxAddress(ground),
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
