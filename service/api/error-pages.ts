import { Router } from 'express'
import { ERROR_GROUPS, helpPath, type ErrorHelp } from '../kit/error-codes/catalogue.ts'
import { escape, standalone } from './reference/frame.ts'
import { contextOf, sendPage } from './requests.ts'
import type { Page } from './route.ts'

/** A page for each error code, for the people who write the program that got it, and an index of them. */
export function errorPagesRouter(): Router {
  const pages = new Map<string, Page>()
  for (const { codes } of ERROR_GROUPS) for (const [code, help] of codes) pages.set(code, pageOf(code, help))
  const index = indexPage()
  const router = Router()
  router.get('/errors', (_request, response) => {
    contextOf(response).route = '/errors'
    response.set('Cache-Control', CACHE)
    sendPage(response, index)
  })
  router.get('/errors/:code', (request, response, next) => {
    // The package that signs people in writes its codes in capitals; a person may look one up as it wrote it.
    const page = pages.get(request.params.code.toLowerCase())
    if (page === undefined) {
      next()
      return
    }
    contextOf(response).route = '/errors/:code'
    response.set('Cache-Control', CACHE)
    sendPage(response, page)
  })
  return router
}

/** They change with a release only. */
const CACHE = 'public, max-age=3600'

function pageOf(code: string, { cause, cure }: ErrorHelp): Page {
  return standalone(
    code,
    `<h2>Cause</h2>
<p>${prose(cause)}</p>
<h2>What to do</h2>
<p>${prose(cure)}</p>
<p>If that does not help, include the <code>requestId</code> of the answer when you report it.</p>
<p><a href="/errors">All error codes</a></p>`,
  )
}

function indexPage(): Page {
  const groups = ERROR_GROUPS.map(
    ({ title, codes }) => `<h2>${escape(title)}</h2>
<ul class="index">
${[...codes]
  .map(
    ([code, { cause }]) =>
      `<li><a href="${helpPath(code) ?? ''}"><code>${code}</code></a> <span>${prose(cause)}</span></li>`,
  )
  .join('\n')}
</ul>`,
  )
  return standalone(
    'Error codes',
    `<p>Each error has a <code>code</code> for programs and a sentence for people. The header <code>Link</code> of the answer leads to the page of its code.</p>
${groups.join('\n')}`,
  )
}

/** A word between backquotes is a name in the answer. */
function prose(text: string): string {
  return escape(text).replaceAll(/`([^`]*)`/g, '<code>$1</code>')
}
