import { Router } from 'express'
import type { Surface } from './openapi.ts'
import { escape, standalone, toSample } from './reference/frame.ts'
import { contextOf, sendPage, wantsPage } from './requests.ts'
import type { Page } from './route.ts'
import { withoutTrailing } from '../kit/text.ts'

/**
 * The page for a person who opens the address of a surface for programs. Programs, and browsers with a query string,
 * get the surface's usual answer.
 */
export function landingRouter(surfaces: readonly Surface[], dashboard: string): Router {
  const router = Router()
  // A person who tries the address in a terminal. Browsers get the dashboard, and programs with a key their answer.
  router.get('/', (request, response, next) => {
    if (wantsPage(request) || request.headers.authorization !== undefined || request.path !== '/') {
      next()
      return
    }
    contextOf(response).route = '/'
    response.type('text/plain; charset=utf-8').send(signpost(surfaces, dashboard))
  })
  for (const { name, address } of surfaces) {
    const content = PAGES[name]?.(address, dashboard)
    if (content === undefined) continue
    const path = new URL(address).pathname
    router.get(path, (request, response, next) => {
      if (!wantsPage(request) || request.url.includes('?') || request.headers.authorization !== undefined) {
        next()
        return
      }
      contextOf(response).route = path
      sendPage(response, content)
    })
  }
  return router
}

/** Where everything is, in three lines. */
function signpost(surfaces: readonly Surface[], dashboard: string): string {
  const api = surfaces.find(({ name }) => name === 'api')?.address
  const { origin } = new URL(dashboard)
  return [
    `Coinslot: prices on workflows, tools and APIs, paid in USDC per use. Dashboard: ${dashboard}`,
    ...(api === undefined
      ? []
      : [`API: ${api} with "Authorization: Bearer $COINSLOT_KEY". Create a key in the dashboard.`]),
    `Reference: ${origin}/docs, as OpenAPI: ${origin}/openapi.json`,
    '',
  ].join('\n')
}

const PAGES: Readonly<Record<string, (address: string, dashboard: string) => Page>> = {
  tools: (address, dashboard) =>
    standalone(
      'Tools',
      `<p>Coinslot calls APIs for programs and AI agents. You pay for each successful call from your account. A failed call costs nothing.</p>
${addressOf(address)}
${toSample(`curl -s '${address}?search=weather'`, 'Find a tool')}
${toSample(`curl -s -X POST ${address}/$SLUG \\\n  -H "Authorization: Bearer $COINSLOT_KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d '{}'`, 'Call a tool')}
${toSample(`${address}/mcp?auth=oauth`, 'Address for AI assistants and other MCP clients')}
<ul>
<li><a href="/docs/tools">API reference of the tools</a></li>
<li><a href="${escape(under(dashboard, 'catalogue'))}">Browse the tools in the dashboard</a></li>
</ul>`,
    ),
  facilitator: (address) =>
    standalone(
      'Facilitator',
      `<p>An x402 facilitator. Sellers send it a buyer’s signed payment: it checks the payment and moves the USDC on chain. It needs no key.</p>
${addressOf(address)}
${toSample(`curl -s ${address}/supported`, 'List networks and schemes')}
${toSample(`paymentMiddleware(recipient, routes, { url: '${address}' })`, 'Use it in an x402 server')}
<ul>
<li><a href="/docs/facilitator">API reference of the facilitator</a></li>
</ul>`,
    ),
}

/** For a person whose link leads nowhere. */
export function missingPage(path: string, dashboard: string): Page {
  return standalone(
    'Page not found',
    `<p>There is no page at <code>${escape(path.length > PATH_MAX ? `${path.slice(0, PATH_MAX)}…` : path)}</code>. The link may be old or mistyped.</p>
<p><a href="${escape(dashboard)}">Go to overview</a></p>`,
  )
}

const PATH_MAX = 200

function addressOf(address: string): string {
  return `<dl><dt>Address</dt><dd><code>${escape(address)}</code></dd></dl>`
}

function under(address: string, path: string): string {
  return `${withoutTrailing(address, '/')}/${path}`
}
