import type { RequestHandler } from 'express'
import type { Asset } from './built.ts'

/**
 * Serves the files of the build from memory, compressed when they were built. Their names change with their
 * contents, so whoever has one may keep it for ever.
 */
export function serveAssets(assets: ReadonlyMap<string, Asset>): RequestHandler {
  return (request, response, next) => {
    const asset = assets.get(request.path.slice(1))
    if (asset === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) {
      next()
      return
    }
    response.set({
      'Content-Type': asset.type,
      'Cache-Control': 'public, max-age=31536000, immutable',
      Vary: 'Accept-Encoding',
    })
    // Asked one by one: of a browser's list, which puts gzip first, `br` is what we would rather send.
    if (request.acceptsEncodings('br') === 'br') response.set('Content-Encoding', 'br').send(asset.brotli)
    else if (request.acceptsEncodings('gzip') === 'gzip') response.set('Content-Encoding', 'gzip').send(asset.gzip)
    else response.send(asset.plain)
  }
}
