import { createHash } from 'node:crypto'
import type { RequestHandler } from 'express'
import { brotliCompressSync, gzipSync } from 'node:zlib'

/**
 * Serves the script that sellers put into their own pages. Its address never changes, so browsers ask again after an
 * hour, and load it again only if it is another one.
 */
export function serveEmbed(built: string, payPath: string): RequestHandler {
  const script = built.replace('%PAY_PATH%', () => payPath)
  const tag = createHash('sha256').update(script).digest('base64url').slice(0, 22)
  const forms = { br: brotliCompressSync(script), gzip: gzipSync(script), identity: Buffer.from(script) }
  return (request, response, next) => {
    if (request.path !== '/' || (request.method !== 'GET' && request.method !== 'HEAD')) {
      next()
      return
    }
    const form = (['br', 'gzip'] as const).find((name) => request.acceptsEncodings(name) === name) ?? 'identity'
    response.set({
      'Content-Type': 'text/javascript; charset=utf-8',
      'Cache-Control': 'public, max-age=3600, stale-while-revalidate=86400',
      // Each encoding is other bytes, and a cache may hold only one of them under a name.
      ETag: `"${tag}-${form}"`,
      Vary: 'Accept-Encoding',
      // Other sites load it: that is what it is for.
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'Access-Control-Allow-Origin': '*',
    })
    // A proxy may have marked the tag as weak.
    if (request.get('if-none-match')?.includes(`"${tag}-${form}"`) === true) {
      response.status(304).end()
      return
    }
    if (form !== 'identity') response.set('Content-Encoding', form)
    response.send(forms[form])
  }
}
