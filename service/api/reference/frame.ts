import { createHash } from 'node:crypto'
import type { Page } from '../route.ts'

/** A page with its style inside it: a process that serves no reference does not serve the stylesheet file either. */
export function standalone(title: string, body: string): Page {
  return {
    type: 'text/html; charset=utf-8',
    headers: {
      'Content-Security-Policy': `default-src 'none'; style-src '${STYLE_HASH}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      Vary: 'Accept',
    },
    content: toDocument(
      title,
      `<style>${STYLE}</style>`,
      `<body class="alone">
<main>
<h1>${escape(title)}</h1>
${body}
</main>
</body>`,
    ),
  }
}

export function toDocument(title: string, style: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)} · Coinslot</title>
<link rel="icon" href="data:,">
${style}
</head>
${body}
</html>
`
}

export function toSample(text: string, title: string): string {
  return `<h3>${escape(title)}</h3>\n<pre tabindex="0" role="region" aria-label="${escape(title)}"><code>${escape(text)}</code></pre>`
}

export function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${String(character.charCodeAt(0))};`)
}

export const STYLE = `
:root { color-scheme: light dark; --page: #f4f6fa; --card: #fff; --ink: #14213d; --soft: #51596b; --line: #d5d9e2; --link: #1d4ed8; --code: #eef1f7 }
@media (prefers-color-scheme: dark) { :root { --page: #0d1526; --card: #14213d; --ink: #f4f6fa; --soft: #b4bccd; --line: #2c3a5a; --link: #9db8ff; --code: #1b2a4c } }
* { box-sizing: border-box }
body { margin: 0; display: grid; grid-template-columns: 15rem minmax(0, 1fr); background: var(--page); color: var(--ink); font: 16px/1.55 ui-sans-serif, system-ui, sans-serif }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1.5rem; border-right: 1px solid var(--line) }
nav p { margin: 0 0 .75rem; font-weight: 700 }
nav ul { margin: 0; padding: 0; list-style: none }
nav a { display: block; padding: .375rem 0 }
nav a[aria-current] { font-weight: 700; color: var(--ink) }
main { padding: 1.5rem min(4vw, 3rem) 6rem; max-width: 62rem }
body.alone { display: block }
.alone main { margin: 0 auto; max-width: 44rem; padding-inline: 1.25rem; overflow-wrap: anywhere }
h1 { margin: 0 0 1rem; font-size: 1.75rem }
h2 { margin: 2.5rem 0 .5rem; font-size: 1.125rem; overflow-wrap: anywhere }
h3 { margin: 1.25rem 0 .375rem; font-size: .9375rem }
p { overflow-wrap: anywhere }
section { border-top: 1px solid var(--line); margin-top: 2rem }
section h2 { margin-top: 1.5rem }
a { color: var(--link) }
a:focus-visible, pre:focus-visible, summary:focus-visible, .wide:focus-visible { outline: 3px solid var(--link); outline-offset: 2px }
code { font-family: ui-monospace, monospace; font-size: .875em }
pre { margin: 0; padding: .875rem 1rem; overflow: auto; border: 1px solid var(--line); border-radius: 8px; background: var(--code); line-height: 1.5 }
details { margin: .25rem 0 }
summary { padding: .25rem 0; cursor: pointer; color: var(--soft); font-size: .875rem }
.auth, dd, .index span { color: var(--soft) }
dt { margin-top: .75rem; font-weight: 700 }
dd { margin: 0 }
.index { padding: 0; list-style: none }
.index li { padding: .25rem 0; overflow-wrap: anywhere }
.wide { overflow: auto; border: 1px solid var(--line); border-radius: 8px; background: var(--card) }
table { width: 100%; border-collapse: collapse; font-size: .875rem }
th, td { padding: .4375rem .75rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top }
tr:last-child th, tr:last-child td { border-bottom: 0 }
tbody th { font-weight: 400 }
@media (max-width: 48rem) { body { display: block } nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line) } nav ul { display: flex; flex-wrap: wrap; gap: 0 1rem } }
`

const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`
