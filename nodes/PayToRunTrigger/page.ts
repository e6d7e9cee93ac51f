export interface Shown {
  formUrl: string
  product: string
  testMode: boolean
  /** Why nobody can pay now. */
  fault?: string | undefined
}

/**
 * The page that a browser sees at the node's address, with the link to the form. It uses no scripts, so n8n's sandbox
 * does not affect it.
 */
export function formPage({ formUrl, product, testMode, fault }: Shown): string {
  const link = escape(formUrl)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(product)} · payment form</title>
<style>
  :root { color-scheme: light dark; --ground: #f4f6fa; --card: #fff; --ink: #14213d; --soft: #51596b; --line: #d5d9e2; --mark: #fca311 }
  @media (prefers-color-scheme: dark) { :root { --ground: #0d1526; --card: #14213d; --ink: #f4f6fa; --soft: #b4bccd; --line: #2c3a5a } }
  body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--ground); color: var(--ink); font: 16px/1.5 ui-sans-serif, system-ui, sans-serif }
  main { box-sizing: border-box; width: min(30rem, 92vw); padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: 12px }
  h1 { margin: 0 0 .25rem; font-size: 1.25rem; overflow-wrap: anywhere }
  p { margin: 0 0 1.25rem; color: var(--soft) }
  a.open { display: block; padding: .75rem 1rem; border-radius: 8px; background: var(--mark); color: #14213d; font-weight: 650; text-align: center; text-decoration: none }
  a.open:focus-visible { outline: 3px solid var(--ink); outline-offset: 2px }
  code { display: block; margin-top: 1rem; padding: .625rem .75rem; border: 1px solid var(--line); border-radius: 8px; font-size: .8125rem; overflow-wrap: anywhere; user-select: all }
  details { margin-top: 1.25rem }
  summary { cursor: pointer; font-weight: 650 }
  details p { margin: 1rem 0 -.75rem; font-size: .875rem }
  .fault { padding: .75rem; border: 2px solid var(--mark); border-radius: 8px; color: var(--ink); overflow-wrap: anywhere }
  .test { display: inline-block; margin-bottom: .75rem; padding: 0 .625rem; border-radius: 99px; background: var(--mark); color: #14213d; font-size: .8125rem; font-weight: 650 }
</style>
</head>
<body>
<main>
${testMode ? '<span class="test">Test mode: no money moves</span>' : ''}
<h1>${escape(product)}</h1>
${fault === undefined ? '' : `<p class="fault">Customers cannot pay now. ${escape(fault)}</p>`}
<p>This workflow runs when a customer pays. Send your customers this link:</p>
<a class="open" href="${link}">Open the payment form</a>
<code>${link}</code>
<details>
<summary>For AI assistants and programs</summary>
<p>The workflow as a tool, for the connectors of an assistant (MCP)</p>
<code>${link}/mcp</code>
<p>The same for Claude Code</p>
<code>claude mcp add --transport http paid-workflow ${link}/mcp</code>
<p>Its price and its fields for a program. A client of x402 pays at the same address.</p>
<code>curl -H 'Accept: application/json' ${link}</code>
</details>
</main>
</body>
</html>
`
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
