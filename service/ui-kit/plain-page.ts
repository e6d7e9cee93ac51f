import { createHash } from 'node:crypto'

/** A page without script and files, for decisions that must work in every browser. No other page may frame it. */
export function plainPage(title: string, content: string, headers: Readonly<Record<string, string>> = {}) {
  return {
    type: 'text/html; charset=utf-8',
    headers: {
      'Content-Security-Policy': plainPolicy("form-action 'self'"),
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      ...headers,
    },
    content: `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex"><title>${title} · Coinslot</title><style>${STYLE}</style></head><body><main><h1>${title}</h1>${content}</main></body></html>`,
  }
}

export function plainErrorPage({ sentence }: { sentence: string }) {
  return plainPage('Request failed', `<p>${escaped(sentence)}</p>`)
}

/** The policy of a plain page; `more` are further directives. */
export function plainPolicy(...more: readonly string[]): string {
  return ["default-src 'none'", `style-src '${STYLE_HASH}'`, ...more, "frame-ancestors 'none'", "base-uri 'none'"].join(
    '; ',
  )
}

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${String(character.charCodeAt(0))};`)
}

const STYLE = `:root{color-scheme:light dark}body{margin:0;min-height:100vh;display:grid;place-items:center;font:16px/1.5 system-ui,sans-serif;background:Canvas;color:CanvasText}main{box-sizing:border-box;width:min(28rem,calc(100vw - 2rem));margin:1rem 0;padding:1.5rem;border:1px solid color-mix(in srgb,CanvasText 20%,Canvas);border-radius:12px}h1{margin:0 0 1rem;font-size:1.3rem}dl{display:grid;grid-template-columns:auto 1fr;gap:.4rem 1rem;margin:0 0 1.5rem}dt{color:color-mix(in srgb,CanvasText 65%,Canvas)}dd{margin:0;overflow-wrap:anywhere}.ask{display:flex;gap:.75rem}form{flex:1}button{width:100%;padding:.7rem;border-radius:8px;border:1px solid color-mix(in srgb,CanvasText 35%,Canvas);background:Canvas;color:CanvasText;font:inherit;cursor:pointer}button.approve{background:#0b6b3a;border-color:#0b6b3a;color:#fff}label{display:block;margin:0 0 1rem}input,select{display:block;box-sizing:border-box;width:100%;margin-top:.3rem;padding:.6rem;border-radius:8px;border:1px solid color-mix(in srgb,CanvasText 35%,Canvas);background:Canvas;color:CanvasText;font:inherit}input:focus-visible,select:focus-visible,button:focus-visible{outline:3px solid #4a90d9;outline-offset:2px}`

/** The policy allows this style only. */
const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`
