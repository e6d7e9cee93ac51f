import { randomBytes } from 'node:crypto'
import type { RequestHandler } from 'express'
import { contentPolicy, embedded, ICON } from '../ui-kit/document.ts'
import type { OpenPage } from './open-pages.ts'
import { isAt, PAGES } from './pages.ts'

/** The files that the document loads, and the settings for its script. */
export interface DocumentDeps {
  /** The path of the dashboard's public address, without a trailing slash. */
  base: string
  scripts: readonly string[]
  styles: readonly string[]
  imports: readonly string[]
  /** Includes the server's time, because the reader's clock may be wrong. */
  settings(): Settings
  /** What a page says before its script runs; `number` is the page of a list. Null for what only the script shows. */
  openPage(path: string, number: number): Promise<OpenPage | null>
}

export interface Settings {
  base: string
  live: boolean
  /** The OpenID Connect provider's name; null if none is configured for sign-in. */
  provider: string | null
  apiUrl: string
  /** The address of the hosted forms. */
  payUrl: string
  toolsUrl: string
  /** The MCP addresses of accounts, without a handle. */
  storefrontUrl: string
  /** The page with the mails that a sandbox does not send; null if there is no such page. */
  inboxUrl: string | null
  now: string
}

/**
 * Serves the one document of all pages at each page's own address; the script picks the page. Any other address is
 * passed on: the API may be on the same host, with or without a path prefix.
 */
export function serveDocument(deps: DocumentDeps): RequestHandler {
  return async (request, response, next) => {
    const asked = request.method === 'GET' || request.method === 'HEAD'
    if (!asked || !isPage(request.path) || request.accepts(['json', 'html']) !== 'html') {
      next()
      return
    }
    const page = isOpen(request.path) ? await deps.openPage(request.path, numberOf(request.query['page'])) : null
    const nonce = randomBytes(16).toString('base64')
    response.set({
      'Content-Security-Policy': contentPolicy(nonce),
      // The nonce is valid for one answer only.
      'Cache-Control': 'no-store',
    })
    response.type('html').send(document(deps, nonce, page))
  }
}

/** The first path segment of each page and of the sign-in pages. `/tools` and `/p` belong to other surfaces. */
const FIRST_PARTS: ReadonlySet<string> = new Set([
  'sign-in',
  'reset-password',
  'verify-email',
  ...PAGES.map(({ path }) => path.slice(1)),
])

function isPage(path: string): boolean {
  return FIRST_PARTS.has(path.split('/')[1] ?? '')
}

function isOpen(path: string): boolean {
  return PAGES.some((page) => 'open' in page && isAt(path, page.path))
}

/** Further back nobody reads without searching, and each such page would cost a longer look. */
const PAGES_MAX = 1_000

function numberOf(page: unknown): number {
  const number = Math.trunc(Number(page))
  return number >= 1 && number <= PAGES_MAX ? number : 1
}

function document(
  { base, scripts, styles, imports, settings }: DocumentDeps,
  nonce: string,
  page: OpenPage | null,
): string {
  const file = (name: string): string => `${base}/static/${name}`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${page?.head ?? HEAD}
<link rel="icon" href="${ICON}">
<script nonce="${nonce}">${THEME}</script>
${styles.map((name) => `<link rel="stylesheet" href="${file(name)}">`).join('\n')}
${imports.map((name) => `<link rel="modulepreload" href="${file(name)}">`).join('\n')}
${scripts.map((name) => `<script type="module" src="${file(name)}"></script>`).join('\n')}
</head>
<body>
<div id="root">${page?.content ?? ''}</div>
${page === null ? NO_SCRIPT : ''}
${page === null ? '' : `<script type="application/ld+json" nonce="${nonce}">${page.about}</script>`}
<script id="settings" type="application/json" nonce="${nonce}">${embedded(settings())}</script>
</body>
</html>
`
}

/** Of all pages behind the sign-in. */
const HEAD = `<meta name="robots" content="noindex">
<title>Coinslot</title>`

const NO_SCRIPT =
  '<noscript>The dashboard needs JavaScript. Everything in it can be done over the API too: see /docs.</noscript>'

/** Set before the first paint, so that the dark theme does not flash white. */
const THEME = `try{var t=localStorage.getItem('coinslot.theme')}catch(e){}
if(t!=='light'&&t!=='dark')t=matchMedia('(prefers-color-scheme: dark)').matches?'dark':'light'
document.documentElement.dataset.theme=t`
