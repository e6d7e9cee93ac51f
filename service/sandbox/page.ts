import type { Response } from 'express'

export interface Message<Content> {
  content: Content
  createdAt: Date
}

export interface MessageStore {
  add(kind: 'mail' | 'delivery', content: unknown, now: Date): Promise<void>
  /** The newest first. */
  newest<Content>(kind: 'mail' | 'delivery'): Promise<Message<Content>[]>
}

/** One card of the page; its body is markup, made of escaped parts. */
export interface Card {
  title: string
  note: string
  at: Date
  body: string
}

/** A page without scripts: what it shows was written by strangers. */
export function sendCards(response: Response, page: { title: string; empty: string; cards: readonly Card[] }): void {
  response
    .set(
      'Content-Security-Policy',
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    .set('Referrer-Policy', 'no-referrer')
    .type('html')
    .send(documentOf(page))
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${String(character.charCodeAt(0))};`)
}

function documentOf({ title, empty, cards }: { title: string; empty: string; cards: readonly Card[] }): string {
  const shown = cards.length === 0 ? `<p class="empty">${escapeHtml(empty)}</p>` : cards.map(toMarkup).join('\n')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Coinslot sandbox</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p class="lead">Only this machine's sandbox has this page. The newest entry is first; reload the page for new ones.</p>
${shown}
</main>
</body>
</html>
`
}

function toMarkup({ title, note, at, body }: Card): string {
  const time = at.toISOString()
  return `<article>
<h2>${escapeHtml(title)}</h2>
<p class="note">${escapeHtml(note)} · <time datetime="${time}">${time.slice(0, 19).replace('T', ' ')} UTC</time></p>
${body}
</article>`
}

const STYLE = `
:root { color-scheme: light dark; --page: #f4f6fa; --card: #fff; --ink: #14213d; --soft: #51596b; --line: #d5d9e2; --good: #176639; --bad: #a3221a; --link: #1d4ed8 }
@media (prefers-color-scheme: dark) { :root { --page: #0d1526; --card: #14213d; --ink: #f4f6fa; --soft: #b4bccd; --line: #2c3a5a; --good: #7bd8a0; --bad: #ff9d94; --link: #9db8ff } }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 ui-sans-serif, system-ui, sans-serif }
main { box-sizing: border-box; width: min(48rem, 100%); margin: 0 auto; padding: 2rem 1rem 4rem }
h1 { margin: 0 0 .25rem; font-size: 1.5rem }
h2 { margin: 0; font-size: 1.0625rem; overflow-wrap: anywhere }
.lead, .note, .empty { margin: 0 0 1.25rem; color: var(--soft) }
.note { margin-bottom: .75rem; font-size: .875rem; overflow-wrap: anywhere }
.empty, article { padding: 1.25rem; border: 1px solid var(--line); border-radius: 12px; background: var(--card) }
article { margin-bottom: 1rem }
pre { margin: 0; font: .8125rem/1.6 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere }
a { color: var(--link) }
.good, .bad { margin: 0 0 .75rem; font-weight: 650; color: var(--good) }
.bad { color: var(--bad) }
`
