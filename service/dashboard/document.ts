import { randomBytes } from 'node:crypto'
import type { RequestHandler } from 'express'

/** What the document loads, and what its script is told at the start. */
export interface DocumentParts {
  /** The path of the dashboard's public address, without a slash at its end. */
  base: string
  scripts: readonly string[]
  styles: readonly string[]
  imports: readonly string[]
  /** Also says what time it is here: the reader's clock may be anything. */
  settings(): Settings
}

export interface Settings {
  base: string
  live: boolean
  provider: string | null
  apiUrl: string
  toolsUrl: string
  inboxUrl: string | null
  now: string
}

/**
 * The one document of all pages, at each page's own address; which of them is shown, the script finds out. Whatever
 * is no page's address is left to others: the API may be at the same host, with or without a path before it.
 */
export function serveDocument(parts: DocumentParts): RequestHandler {
  return (request, response, next) => {
    const asked = request.method === 'GET' || request.method === 'HEAD'
    if (!asked || !isPage(request.path) || request.accepts(['json', 'html']) !== 'html') {
      next()
      return
    }
    const nonce = randomBytes(16).toString('base64')
    response.set({
      'Content-Security-Policy': policy(nonce),
      // The nonce is good for once.
      'Cache-Control': 'no-store',
    })
    response.type('html').send(document(parts, nonce))
  }
}

/** The first part of each page's address. `/tools` and `/p` are other surfaces'. */
const PAGES: ReadonlySet<string> = new Set([
  '',
  'sign-in',
  'reset-password',
  'start',
  'assets',
  'marketplace',
  'runs',
  'wallet',
  'checkouts',
  'catalogue',
  'paywalls',
  'agents',
  'webhooks',
  'keys',
  'settings',
])

function isPage(path: string): boolean {
  return PAGES.has(path.split('/')[1] ?? '')
}

/**
 * Scripts and styles are the service's own or carry the nonce, and nobody else is asked for anything. A wallet's
 * picture and a QR code are `data:` addresses.
 */
function policy(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

function document({ base, scripts, styles, imports, settings }: DocumentParts, nonce: string): string {
  const file = (name: string): string => `${base}/static/${name}`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Coinslot</title>
<link rel="icon" href="${ICON}">
<script nonce="${nonce}">${THEME}</script>
${styles.map((name) => `<link rel="stylesheet" href="${file(name)}">`).join('\n')}
${imports.map((name) => `<link rel="modulepreload" href="${file(name)}">`).join('\n')}
${scripts.map((name) => `<script type="module" src="${file(name)}"></script>`).join('\n')}
</head>
<body>
<div id="root"></div>
<noscript>The dashboard needs JavaScript. Everything in it can be done over the API too: see /docs.</noscript>
<script id="settings" type="application/json" nonce="${nonce}">${harmless(settings())}</script>
</body>
</html>
`
}

/** Before anything is painted: whoever chose dark must not be blinded by a white page first. */
const THEME = `try{var t=localStorage.getItem('coinslot.theme')}catch(e){}
if(t!=='light'&&t!=='dark')t=matchMedia('(prefers-color-scheme: dark)').matches?'dark':'light'
document.documentElement.dataset.theme=t`

/** No text in it can end the element that it stands in. */
function harmless(data: unknown): string {
  return JSON.stringify(data).replace(/</g, '\\u003c')
}

/** The mark, in the page itself. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Crect x='2' y='2' width='20' height='20' rx='6' fill='%232b50e2'/%3E%3Cpath d='M8.5 16.5 15.5 7.5' stroke='%23fff' stroke-width='2.6' stroke-linecap='round'/%3E%3C/svg%3E"
