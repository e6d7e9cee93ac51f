import type { RequestHandler } from 'express'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'

/** A build's files for browsers, read once a process: a later build does not change a running one. */
export interface Assets {
  /** By file name; every name contains a hash of the contents. */
  files: ReadonlyMap<string, Asset>
  scripts: readonly string[]
  styles: readonly string[]
  /** The script's first imports: the page preloads them, so that they need not wait for the script. */
  imports: readonly string[]
}

export interface Asset {
  type: string
  plain: Buffer
  brotli: Buffer
  gzip: Buffer
}

/**
 * Serves the build's files from memory, compressed at build time. Their names change with their contents, so browsers
 * may cache them indefinitely.
 */
export function serveAssets({ files }: Pick<Assets, 'files'>): RequestHandler {
  return (request, response, next) => {
    const asset = files.get(request.path.slice(1))
    if (asset === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) {
      next()
      return
    }
    response.set({
      'Content-Type': asset.type,
      'Cache-Control': 'public, max-age=31536000, immutable',
      Vary: 'Accept-Encoding',
    })
    // Each encoding is checked on its own: browsers list gzip first, but `br` is preferred here.
    if (request.acceptsEncodings('br') === 'br') response.set('Content-Encoding', 'br').send(asset.brotli)
    else if (request.acceptsEncodings('gzip') === 'gzip') response.set('Content-Encoding', 'gzip').send(asset.gzip)
    else response.send(asset.plain)
  }
}

export async function loadAssets(folder: string): Promise<Assets> {
  const known = loaded.get(folder)
  if (known !== undefined) return await known
  const assets = readAssets(folder)
  loaded.set(folder, assets)
  return await assets.catch((error: unknown) => {
    loaded.delete(folder)
    throw error
  })
}

const loaded = new Map<string, Promise<Assets>>()

async function readAssets(folder: string): Promise<Assets> {
  const manifest = JSON.parse(await readFile(path.join(folder, 'manifest.json'), 'utf8')) as Manifest
  const entry = Object.values(manifest).find(({ isEntry }) => isEntry === true)
  if (entry === undefined) throw new Error(`The build in ${folder} has no entry.`)
  const names = (await readdir(folder)).filter((name) => TYPES.has(path.extname(name)))
  return {
    files: new Map(await Promise.all(names.map(async (name) => [name, await readAsset(folder, name)] as const))),
    scripts: [entry.file],
    styles: entry.css ?? [],
    imports: (entry.imports ?? []).flatMap((name) => manifest[name]?.file ?? []),
  }
}

type Manifest = Record<string, { file: string; isEntry?: boolean; css?: string[]; imports?: string[] }>

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

/**
 * The output of `npm run build`, in the closest `.build` folder above: found from the sources and from the compiled
 * code alike.
 */
export function builtFolder(name: string): string {
  for (let folder = import.meta.dirname; ; folder = path.dirname(folder)) {
    const found = path.join(folder, '.build', name)
    if (existsSync(found)) return found
    if (folder === path.dirname(folder)) throw new Error(`${name} is not built: run \`npm run build\`.`)
  }
}
