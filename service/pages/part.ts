import { serveAssets } from './assets.ts'
import { createPages, loadBuilt, type Pages } from './pages.ts'
import type { Platform, Part } from '../platform/platform.ts'
import { withoutTrailing } from '../kit/text.ts'

/** What customers' browsers are shown, with the files that it loads beside it. */
export async function openPages({ config, clock }: Platform): Promise<{ pages: Pages; part: Part }> {
  const built = await loadBuilt()
  const assetsPath = `${withoutTrailing(new URL(config.addresses.pay).pathname, '/')}/assets`
  return {
    pages: createPages(built, { clock, assetsPath }),
    part: {
      mounted: [
        { role: 'pay', path: assetsPath, handler: serveAssets(built.assets) },
        // A page asks its own origin alone, and gates may have another one than checkouts.
        { role: 'gate', path: gateAssets(config.addresses.gate), handler: serveAssets(built.assets) },
      ],
    },
  }
}

/** Where the page of a 402 finds its files. */
export function gateAssets(gate: string): string {
  return `${withoutTrailing(new URL(gate).pathname, '/')}/assets`
}
