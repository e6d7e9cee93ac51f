import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Renderer } from './model.ts'

/** What `npm run build` made of service/pages/browser, read once: a later build changes nothing under way. */
export interface Built {
  renderer: Renderer
  /** By file name; every name has a hash of its contents in it. */
  assets: ReadonlyMap<string, Asset>
  scripts: readonly string[]
  styles: readonly string[]
}

export interface Asset {
  type: string
  plain: Buffer
  brotli: Buffer
  gzip: Buffer
}

export async function loadBuilt(folder = builtFolder()): Promise<Built> {
  const browser = path.join(folder, 'browser')
  const manifest = JSON.parse(await readFile(path.join(browser, 'manifest.json'), 'utf8')) as Manifest
  const entry = Object.values(manifest).find(({ isEntry }) => isEntry === true)
  if (entry === undefined) throw new Error(`The build in ${folder} has no entry.`)
  const names = (await readdir(browser)).filter((name) => TYPES.has(path.extname(name)))
  const renderer: unknown = await import(pathToFileURL(path.join(folder, 'server/server.mjs')).href)
  return {
    // The build's own check of types is what says that it exports this.
    renderer: renderer as Renderer,
    assets: new Map(await Promise.all(names.map(async (name) => [name, await readAsset(browser, name)] as const))),
    scripts: [entry.file],
    styles: entry.css ?? [],
  }
}

type Manifest = Record<string, { file: string; isEntry?: boolean; css?: string[] }>

const TYPES: ReadonlyMap<string, string> = new Map([
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
])

async function readAsset(folder: string, name: string): Promise<Asset> {
  const [plain, brotli, gzip] = await Promise.all(
    ['', '.br', '.gz'].map((ending) => readFile(path.join(folder, name + ending))),
  )
  if (plain === undefined || brotli === undefined || gzip === undefined) throw new Error(`${name} is not whole`)
  return { type: TYPES.get(path.extname(name)) ?? '', plain, brotli, gzip }
}

/** Beside the sources and beside what is compiled of them alike. */
function builtFolder(): string {
  for (let folder = import.meta.dirname; ; folder = path.dirname(folder)) {
    const found = path.join(folder, '.build/pages')
    if (existsSync(found)) return found
    if (folder === path.dirname(folder)) throw new Error('The pages are not built: run `npm run build`.')
  }
}
