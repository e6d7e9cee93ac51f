import { Router, type Response } from 'express'
import type { Document } from './reference/document.ts'
import { STYLE } from './reference/frame.ts'
import { createReference, type Reference } from './reference/page.ts'
import { withSamples } from './reference/samples.ts'
import { contextOf } from './requests.ts'

/**
 * The API reference, as a document and as pages. Both are made on the first request, because making them takes longer
 * than anything else at startup. The dashboard's procedures are a document of their own.
 */
export function docsRouter(documents: Documents): Router {
  const described: Partial<Record<keyof Documents, Document>> = {}
  const written: Partial<Record<keyof Documents, string>> = {}
  let reference: Reference | undefined
  const whole = (name: keyof Documents): Document => (described[name] ??= withSamples(documents[name]()))
  const pages = (): Reference => (reference ??= createReference([whole('api'), whole('procedures')]))
  const router = Router()
  for (const [path, name] of [
    ['/openapi.json', 'api'],
    ['/openapi-trpc.json', 'procedures'],
  ] as const) {
    router.get(path, (_request, response) => {
      contextOf(response).route = path
      written[name] ??= JSON.stringify(whole(name))
      response.type('json').send(written[name])
    })
  }
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

interface Documents {
  api(): Document
  procedures(): Document
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
