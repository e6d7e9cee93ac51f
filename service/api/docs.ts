import { Router, type Response } from 'express'
import type { Document } from './reference/document.ts'
import { STYLE } from './reference/frame.ts'
import { createReference, type Reference } from './reference/page.ts'
import { contextOf } from './requests.ts'

/**
 * The API reference, as a document and as pages. Both are made on the first request, because making them takes longer
 * than anything else at startup.
 */
export function docsRouter(describe: () => Record<string, unknown>): Router {
  let described: Record<string, unknown> | undefined
  let document: string | undefined
  let reference: Reference | undefined
  const whole = (): Record<string, unknown> => (described ??= describe())
  const pages = (): Reference => (reference ??= createReference(whole() as unknown as Document))
  const router = Router()
  router.get('/openapi.json', (_request, response) => {
    contextOf(response).route = '/openapi.json'
    document ??= JSON.stringify(whole())
    response.type('json').send(document)
  })
  router.get('/docs', (_request, response) => {
    contextOf(response).route = '/docs'
    sendPage(response, pages().overview)
  })
  router.get('/docs/reference.css', (_request, response) => {
    contextOf(response).route = '/docs'
    response.set('Cache-Control', 'public, max-age=86400').type('css').send(STYLE)
  })
  router.get('/docs/:group', (request, response, next) => {
    const page = pages().pages.get(request.params.group)
    if (page === undefined) {
      next()
      return
    }
    contextOf(response).route = '/docs/:group'
    sendPage(response, page)
  })
  return router
}

function sendPage(response: Response, page: string): void {
  response
    .set(
      'Content-Security-Policy',
      "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    .type('html')
    .send(page)
}
