import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { builtFolder, loadAssets, type Assets } from './assets.ts'
import type { Renderer } from './model.ts'

/** What `npm run build` made of service/pages/browser, read once: a later build changes nothing under way. */
export interface Built {
  renderer: Renderer
  assets: Assets
}

export async function loadBuilt(folder = builtFolder('pages')): Promise<Built> {
  const renderer: unknown = await import(pathToFileURL(path.join(folder, 'server/server.mjs')).href)
  return {
    // The build's own check of types is what says that it exports this.
    renderer: renderer as Renderer,
    assets: await loadAssets(path.join(folder, 'browser')),
  }
}
