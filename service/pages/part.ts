import { serveAssets } from './assets.ts'
import { createPages, loadBuilt, type Pages } from './pages.ts'
import type { Platform, Part } from '../platform/platform.ts'
import { withoutTrailing } from '../kit/text.ts'

/** The customers' pages, and the files that they load. */
export async function openPages({ config, clock }: Platform): Promise<{ pages: Pages; part: Part }> {
  const built = await loadBuilt()
  const assetsPath = `${withoutTrailing(new URL(config.addresses.pay).pathname, '/')}/assets`
  return {
    pages: createPages(built, { clock, assetsPath }),
    part: {
      mounted: [
        { role: 'pay', path: assetsPath, handler: serveAssets(built.assets) },
        // A page loads only from its own origin, and gates may have another origin than checkouts.
        { role: 'gate', path: gateAssets(config.addresses.gate), handler: serveAssets(built.assets) },
      ],
    },
  }
}

/** Where the page of a 402 loads its files from. */
export function gateAssets(gate: string): string {
  return `${withoutTrailing(new URL(gate).pathname, '/')}/assets`
}
