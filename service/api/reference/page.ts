import {
  authenticationOf,
  byTag,
  schemaOf,
  type Document,
  type Endpoint,
  type Parameter,
  type Schema,
} from './document.ts'
import { escape, toDocument, toSample } from './frame.ts'
import { fieldsOf, sampleOf, type Field } from './fields.ts'

/**
 * The reference as plain pages, one per group of endpoints. They need no script, so a browser shows each from its first
 * bytes; a viewer in JavaScript weighs megabytes and shows nothing until it has run.
 */
export interface Reference {
  overview: string
  /** By the last part of its address. */
  pages: ReadonlyMap<string, string>
}

export function createReference([api, procedures]: readonly [api: Document, procedures: Document]): Reference {
  const groups = [api, procedures].map((document) => ({ document, tags: byTag(document) }))
  const names = groups.flatMap(({ tags }) => [...tags.keys()])
  const frame = (title: string, current: string | null, body: string): string =>
    toPage({ title, navigation: navigationOf(names, current), body })
  const pages = groups.flatMap(({ document, tags }) =>
    [...tags].map(([tag, endpoints]) => {
      const intro = document === api ? '' : `<p>${escape(document.info.description ?? '')}</p>\n`
      const body = `<h1>${escape(tag)}</h1>\n${intro}${endpoints.map((one) => endpointOf(document, one)).join('\n')}`
      return [slugOf(tag), frame(tag, tag, body)] as const
    }),
  )
  const tags = new Map(groups.flatMap((group) => [...group.tags]))
  return { overview: frame('API reference', null, overviewOf(api, tags)), pages: new Map(pages) }
}

function overviewOf(document: Document, tags: ReadonlyMap<string, readonly Endpoint[]>): string {
  const origin = document.servers[0]?.url ?? ''
  const list = [...tags].map(
    ([tag, endpoints]) => `<h2><a href="/docs/${slugOf(tag)}">${escape(tag)}</a></h2>
<ul class="index">
${endpoints.map((one) => `<li><a href="/docs/${slugOf(tag)}#${anchorOf(one)}">${nameOf(one)}</a> <span>${escape(one.summary)}</span></li>`).join('\n')}
</ul>`,
  )
  return `<h1>API reference</h1>
<p>${escape(document.info.description ?? '')}</p>
<p>As an OpenAPI 3.1 document: <a href="/openapi.json">/openapi.json</a>. The dashboard's procedures, by tRPC: <a href="/openapi-trpc.json">/openapi-trpc.json</a>.</p>
${toSample(`curl -s ${origin}/v1/me -H "Authorization: Bearer $COINSLOT_KEY"`, 'First request')}
<dl>
<dt>Authentication</dt><dd><code>Authorization: Bearer</code> with an API key, a session token, or a JWT of the configured issuer. Keys that begin with <code>csk_test_</code> are of the sandbox, <code>csk_live_</code> of production.</dd>
<dt>Errors</dt><dd>Each has <code>error</code>, a sentence, <code>code</code>, a stable word, and <code>requestId</code>. <code>details</code> names the fields that are wrong.</dd>
<dt>Repeating</dt><dd>A POST with an <code>Idempotency-Key</code> can be sent again: the same key and body gives the first answer, for at least 24 hours.</dd>
<dt>Money</dt><dd>USDC as JSON numbers with at most six decimals.</dd>
<dt>Lists</dt><dd><code>limit</code> (default 20, at most 100), <code>offset</code>, and <code>total</code> in the answer.</dd>
</dl>
${list.join('\n')}`
}

function endpointOf(document: Document, one: Endpoint): string {
  const body = schemaOf(one.requestBody?.content)
  const [status, answer] = answerOf(one)
  const parts = [
    `<section id="${anchorOf(one)}">`,
    `<h2>${nameOf(one)}</h2>`,
    ...[one.summary, ...(one.description?.split('\n\n') ?? [])].map((text) => `<p>${prose(text)}</p>`),
    `<p class="auth">${AUTHENTICATION[authenticationOf(one)]}</p>`,
    table(
      'Parameters',
      (one.parameters ?? []).map((parameter) => lineOf(document, parameter)),
    ),
    ...(one.parameters ?? []).map(({ name, content }) => {
      const json = schemaOf(content)
      return json === null ? '' : table(`Fields of ${name}`, fieldsOf(document, json))
    }),
    body === null ? '' : table('Body', fieldsOf(document, body)),
    requestOf(one),
    ...(one['x-codeSamples'] ?? [])
      .filter(({ lang }) => lang === OWN)
      .map(({ label, source }) => toSample(source, label)),
    answer === null ? '' : toSample(JSON.stringify(sampleOf(document, answer), null, 2), `Answer ${status}`),
    answer === null ? '' : table('Fields of the answer', fieldsOf(document, answer)),
    statuses(one),
    '</section>',
  ]
  return parts.filter((part) => part !== '').join('\n')
}

/**
 * The schema of the successful answer; where another server makes that answer, the error answer that has its own
 * schema.
 */
function answerOf({ responses }: Endpoint): [status: string, schema: Schema | null] {
  const all = Object.entries(responses).map(([status, { content }]) => [status, schemaOf(content)] as const)
  const [status, schema] =
    all.find(([code, one]) => code.startsWith('2') && one !== null) ??
    all.find(([code, one]) => !code.startsWith('2') && one !== null && one.$ref !== ERROR) ??
    []
  return [status ?? '200', schema ?? null]
}

const ERROR = '#/components/schemas/Error'

/** Text between backticks becomes code. */
function prose(text: string): string {
  return escape(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
}

const AUTHENTICATION = {
  none: 'Needs no authentication.',
  optional: 'Authentication is optional.',
  required: 'Needs authentication.',
  session: 'Needs a session token or cookie.',
} as const

function lineOf(document: Document, { name, in: place, required, description, schema }: Parameter): Field {
  const [field] = fieldsOf(document, { properties: { [name]: schema ?? {} } })
  const notes = [`In the ${place}.`, description ?? field?.notes ?? ''].join(' ').trim()
  return { name, type: field?.type ?? 'any', required: required === true, notes }
}

/** One language at a time is open: the list of the others is not longer than their names. */
function requestOf(one: Endpoint): string {
  const general = (one['x-codeSamples'] ?? []).filter(({ lang }) => lang !== OWN)
  const samples = general.map(({ label, source }, place) => {
    const code = `<pre tabindex="0" role="region" aria-label="Request in ${escape(label)}"><code>${escape(source)}</code></pre>`
    return `<details name="request-${anchorOf(one)}"${place === 0 ? ' open' : ''}><summary>${escape(label)}</summary>\n${code}\n</details>`
  })
  return ['<h3>Request</h3>', ...samples].join('\n')
}

/** Samples that show something special about an endpoint are commands in a shell. */
const OWN = 'sh'

function table(title: string, fields: readonly Field[]): string {
  if (fields.length === 0) return ''
  const rows = fields.map(
    ({ name, type, required, notes }) =>
      `<tr><th scope="row"><code>${escape(name)}</code></th><td>${escape(type)}</td><td>${required ? 'required' : ''}</td><td>${prose(notes)}</td></tr>`,
  )
  return `<h3>${title}</h3>
<div class="wide" tabindex="0" role="region" aria-label="${title}"><table>
<thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Required</th><th scope="col">Notes</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody></table></div>`
}

function statuses({ responses }: Endpoint): string {
  const lines = Object.entries(responses)
    .filter(([status]) => !status.startsWith('2'))
    .map(([status, { description }]) => `<li><code>${escape(status)}</code> ${prose(description)}</li>`)
  return lines.length === 0 ? '' : `<h3>Errors</h3>\n<ul>\n${lines.join('\n')}\n</ul>`
}

function navigationOf(tags: readonly string[], current: string | null): string {
  const link = (href: string, name: string, here: boolean): string =>
    `<li><a href="${href}"${here ? ' aria-current="page"' : ''}>${escape(name)}</a></li>`
  return [
    link('/docs', 'Overview', current === null),
    ...tags.map((tag) => link(`/docs/${slugOf(tag)}`, tag, tag === current)),
  ].join('\n')
}

function nameOf({ method, path }: Endpoint): string {
  // A long address may break after each of its parts.
  return `<code><b>${method}</b> ${escape(path).replaceAll('/', '/<wbr>')}</code>`
}

function anchorOf({ operationId, path }: Endpoint): string {
  return `${operationId}-${slugOf(path)}`
}

function slugOf(text: string): string {
  const words = text.toLowerCase().match(/[a-z0-9]+/g)
  return words === null ? 'other' : words.join('-')
}

function toPage({ title, navigation, body }: { title: string; navigation: string; body: string }): string {
  return toDocument(
    title,
    '<link rel="stylesheet" href="/docs/reference.css">',
    `<body>
<nav aria-label="Groups of endpoints"><p>Coinslot API</p>
<ul>
${navigation}
</ul></nav>
<main>
${body}
</main>
</body>`,
  )
}
