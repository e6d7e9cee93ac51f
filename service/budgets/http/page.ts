import { createHash } from 'node:crypto'
import type { Page } from '../../api/route.ts'
import { toWire } from '../../kit/money.ts'
import type { Approval } from '../model.ts'

/** The page has no script, loads nothing from other hosts, cannot be framed, and sends no referrer with its address. */
export function approvalPage(approval: Approval, ticket: string): Page {
  const { agentName, kind, target, amount, expiresAt, state } = approval
  const rows = [
    ['Agent', agentName],
    ['Amount', `${String(toWire(amount))} USDC`],
    [WORD[kind], target],
    ['Until', `${expiresAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`],
  ].map(([term, text]) => `<dt>${escaped(term ?? '')}</dt><dd>${escaped(text ?? '')}</dd>`)
  const query = `?ticket=${encodeURIComponent(ticket)}`
  // A relative path, so that it works under every address of the API.
  const button = (word: string, label: string): string =>
    `<form method="post" action="page/${word}${query}"><button class="${word}">${label}</button></form>`
  const ask =
    state === 'pending'
      ? `<div class="ask">${button('approve', 'Approve once')}${button('refuse', 'Refuse')}</div>`
      : ''
  return html(HEADING[state], `<dl>${rows.join('')}</dl>${ask}`)
}

export function errorPage({ sentence }: { sentence: string }): Page {
  return html('Request failed', `<p>${escaped(sentence)}</p>`)
}

const HEADING: Record<Approval['state'], string> = {
  pending: 'Approval request',
  approved: 'Approved',
  used: 'Approved and used',
  refused: 'Refused',
  lapsed: 'Expired',
}

const WORD: Record<Approval['kind'], string> = { run: 'Runs', tool: 'Calls', pay: 'Pays' }

function html(title: string, content: string): Page {
  return {
    type: 'text/html; charset=utf-8',
    headers: {
      'Content-Security-Policy': `default-src 'none'; style-src '${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    },
    content: `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex"><title>${title} · Coinslot</title><style>${STYLE}</style></head><body><main><h1>${title}</h1>${content}</main></body></html>`,
  }
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${String(character.charCodeAt(0))};`)
}

const STYLE = `:root{color-scheme:light dark}body{margin:0;min-height:100vh;display:grid;place-items:center;font:16px/1.5 system-ui,sans-serif;background:Canvas;color:CanvasText}main{width:min(26rem,calc(100vw - 2rem));padding:1.5rem;border:1px solid color-mix(in srgb,CanvasText 20%,Canvas);border-radius:12px}h1{margin:0 0 1rem;font-size:1.3rem}dl{display:grid;grid-template-columns:auto 1fr;gap:.4rem 1rem;margin:0 0 1.5rem}dt{color:color-mix(in srgb,CanvasText 65%,Canvas)}dd{margin:0;overflow-wrap:anywhere}.ask{display:flex;gap:.75rem}form{flex:1}button{width:100%;padding:.7rem;border-radius:8px;border:1px solid color-mix(in srgb,CanvasText 35%,Canvas);background:Canvas;color:CanvasText;font:inherit;cursor:pointer}button.approve{background:#0b6b3a;border-color:#0b6b3a;color:#fff}button:focus-visible{outline:3px solid #4a90d9;outline-offset:2px}`

/** The policy allows this style only. */
const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`
