import { Router, static as files, type Response } from 'express'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { contextOf } from './requests.ts'

/**
 * The reference as a page, from a bundle that is served here: nothing is fetched from anywhere else. The document is made
 * for the first who asks, since it takes longer than anything else at a start.
 */
export function docsRouter(describe: () => Record<string, unknown>): Router {
  let document: string | undefined
  const bundle = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
  const router = Router()
  router.get('/openapi.json', (_request, response) => {
    contextOf(response).route = '/openapi.json'
    document ??= JSON.stringify(describe())
    response.type('json').send(document)
  })
  router.get('/docs', (_request, response) => {
    contextOf(response).route = '/docs'
    response
      .set(
        'Content-Security-Policy',
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'",
      )
      .type('html')
      .send(PAGE)
  })
  router.get('/docs/start.js', (_request, response) => {
    contextOf(response).route = '/docs'
    response.type('text/javascript').send(START)
  })
  router.use('/docs', files(bundle, { index: false, setHeaders: keepForADay }))
  return router
}

/** Of a fixed version; all else here is kept by nobody. */
function keepForADay(response: Response): void {
  response.set('Cache-Control', 'public, max-age=86400')
}

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Coinslot API reference</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<main id="reference"></main>
<noscript>The reference needs a script to show; the document itself is at <a href="/openapi.json">/openapi.json</a>.</noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`

const START = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#reference', deepLinking: true, validatorUrl: null, persistAuthorization: false })
`
