import { serveAssets } from '../pages/assets.ts'
import { serveEmbed } from '../pages/embed.ts'
import { createPages, loadBuilt, type Pages } from '../pages/pages.ts'
import { outboundClient } from '../outbound/client.ts'
import { createRates } from '../pages/rates.ts'
import type { Platform, Part } from './platform.ts'
import { withoutTrailing } from '../kit/text.ts'

/** The customers' pages, and the files that they load. */
export async function openPages(platform: Platform): Promise<{ pages: Pages; part: Part }> {
  const { config, clock } = platform
  const built = await loadBuilt()
  const assetsPath = assetsAt(config.addresses.pay)
  const previewPath = `${withoutTrailing(new URL(config.addresses.dashboard).pathname, '/')}/preview-assets`
  return {
    pages: createPages(built, {
      clock,
      assetsPath,
      previewPath,
      onramp: config.ONRAMP_URL ?? null,
      passkeys: config.PASSKEY_WALLETS === true,
      ...(config.RATES_URL === undefined ? {} : { rates: ratesAt(config.RATES_URL, platform) }),
    }),
    part: {
      mounted: [
        { role: 'pay', path: '/embed.js', handler: serveEmbed(built.embed, new URL(config.addresses.pay).pathname) },
        { role: 'pay', path: assetsPath, handler: serveAssets(built.assets) },
        // A page loads only from its own origin, and gates and the dashboard may have another one than checkouts.
        { role: 'gate', path: assetsAt(config.addresses.gate), handler: serveAssets(built.assets) },
        { role: 'dashboard', path: previewPath, handler: serveAssets(built.assets) },
      ],
    },
  }
}

/** The operator's own choice of a source, so it may be in their network. */
function ratesAt(url: string, { clock, log }: Platform) {
  const outbound = outboundClient({ policy: { allowPrivate: true, allowHosts: [] } })
  const limits = { totalMs: 10_000, bodyBytes: 100_000 }
  const ask = async (): Promise<string> => {
    const headers = { accept: 'application/json' }
    const { status, body } = await outbound.send({ url, headers, limits, redirects: 2 })
    if (status !== 200) throw new Error(`the source of rates answered ${String(status)}`)
    return body.toString('utf8')
  }
  return createRates({ ask, clock, log })
}

/** Where a page at this address loads its files from. */
export function assetsAt(address: string): string {
  return `${withoutTrailing(new URL(address).pathname, '/')}/assets`
}
