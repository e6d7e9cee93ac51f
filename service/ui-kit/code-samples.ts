/** One request to the API, from which its sample is written in each language. */
export interface ApiCall {
  method: string
  /** The server's address, without a path. */
  origin: string
  /** As the reference names it: `/v1/agents/{id}`. */
  path: string
  /** The values of the names in the path, and of the query. */
  params: Readonly<Record<string, string>>
  /** Whether the command has these values. Otherwise it has variables that the reader sets: `$ID`. */
  isFilled: boolean
  query: Readonly<Record<string, unknown>>
  headers: Readonly<Record<string, string>>
  /** The variable that holds the key or the session. Null where none is needed. */
  credential: 'COINSLOT_KEY' | 'COINSLOT_SESSION' | null
  body: { json: unknown } | { file: true } | null
  /** Whether the clients have this operation: those of the API proper, with JSON in both directions. */
  isTyped: boolean
}

export interface CodeSample {
  lang: 'curl' | 'typescript' | 'python'
  label: string
  source: string
}

export function samplesOf(call: ApiCall): readonly CodeSample[] {
  return [
    { lang: 'curl', label: 'curl', source: curlOf(call) },
    { lang: 'typescript', label: 'TypeScript', source: call.isTyped ? clientOf(call) : fetchOf(call) },
    { lang: 'python', label: 'Python', source: call.isTyped ? pythonClientOf(call) : urllibOf(call) },
  ]
}

function curlOf(call: ApiCall): string {
  const { method, origin, path, params, query, headers, credential, body, isFilled } = call
  const variables = path.replaceAll(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(params, name) ? `$${name.toUpperCase()}` : whole,
  )
  const address = isFilled ? addressOf(call) : `${origin}${variables}${queryOf(query)}`
  const lines = [`curl -s${method === 'GET' ? '' : ` -X ${method}`} ${/[?&]/.test(address) ? `"${address}"` : address}`]
  if (credential !== null) lines.push(`-H "Authorization: Bearer $${credential}"`)
  for (const [name, value] of Object.entries(headers)) lines.push(`-H ${quoted(`${name}: ${value}`)}`)
  if (body !== null && 'file' in body) lines.push('--data-binary @file')
  if (body !== null && 'json' in body) {
    lines.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body.json))}`)
  }
  return lines.join(' \\\n  ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

function clientOf({ method, origin, path, params, query, credential, body }: ApiCall): string {
  const options = credential === null ? '' : `key: process.env.${credential}, `
  return [
    "import { Coinslot } from 'coinslot'",
    '',
    `const coinslot = new Coinslot({ ${options}baseUrl: ${TYPESCRIPT.text(origin)} })`,
    '',
    `const answer = await coinslot.request(${argumentsOf(`${method} ${path}`, { params, query, body }, TYPESCRIPT)})`,
    'console.log(answer)',
  ].join('\n')
}

function pythonClientOf({ method, origin, path, params, query, credential, body }: ApiCall): string {
  const options = credential === null ? '' : `key=os.environ["${credential}"], `
  return [
    ...(credential === null ? [] : ['import os', '']),
    'from coinslot import Coinslot',
    '',
    `coinslot = Coinslot(${options}base_url=${PYTHON.text(origin)})`,
    '',
    `answer = coinslot.request(${argumentsOf(`${method} ${path}`, { params, query, body }, PYTHON)})`,
    'print(answer)',
  ].join('\n')
}

/** Both clients have one call for each operation of the reference, and name the parts of a request alike. */
function argumentsOf(
  name: string,
  { params, query, body }: Pick<ApiCall, 'params' | 'query' | 'body'>,
  language: Language,
): string {
  const json = body !== null && 'json' in body ? body.json : undefined
  const parts = Object.entries({ path: params, query, body: json }).filter(
    ([part, value]) => value !== undefined && (part === 'body' || Object.keys(value as object).length > 0),
  )
  if (parts.length === 0) return language.text(name)
  const isPython = language === PYTHON
  const lines = parts.map(
    ([part, value]) => `${isPython ? '    ' : '  '}${part}${isPython ? '=' : ': '}${language.value(value, 1)},`,
  )
  return isPython
    ? `\n    ${language.text(name)},\n${lines.join('\n')}\n`
    : `${language.text(name)}, {\n${lines.join('\n')}\n}`
}

/** For what the clients do not have: sign-in, files, streams, other protocols. */
function fetchOf(call: ApiCall): string {
  const { method, headers, credential, body } = call
  const sent = [
    ...(credential === null ? [] : [`Authorization: \`Bearer \${process.env.${credential}}\``]),
    ...Object.entries(headers).map(([name, value]) => `${TYPESCRIPT.text(name)}: ${TYPESCRIPT.text(value)}`),
    ...(body !== null && 'json' in body ? ["'Content-Type': 'application/json'"] : []),
  ]
  const options = [
    ...(method === 'GET' ? [] : [`method: ${TYPESCRIPT.text(method)}`]),
    ...(sent.length === 0 ? [] : [`headers: { ${sent.join(', ')} }`]),
    ...(body === null
      ? []
      : ['json' in body ? `body: JSON.stringify(${TYPESCRIPT.value(body.json, 1)})` : "body: await readFile('file')"]),
  ]
  const address = TYPESCRIPT.text(addressOf(call))
  return [
    ...(body !== null && 'file' in body ? ["import { readFile } from 'node:fs/promises'", ''] : []),
    options.length === 0
      ? `const response = await fetch(${address})`
      : `const response = await fetch(${address}, {\n${options.map((one) => `  ${one},`).join('\n')}\n})`,
    'console.log(response.status, await response.text())',
  ].join('\n')
}

function urllibOf(call: ApiCall): string {
  const { method, headers, credential, body } = call
  const sent = [
    ...(credential === null ? [] : [`"Authorization": f"Bearer {os.environ['${credential}']}"`]),
    ...Object.entries(headers).map(([name, value]) => `${PYTHON.text(name)}: ${PYTHON.text(value)}`),
    ...(body !== null && 'json' in body ? ['"Content-Type": "application/json"'] : []),
  ]
  const options = [
    PYTHON.text(addressOf(call)),
    ...(method === 'GET' ? [] : [`method=${PYTHON.text(method)}`]),
    ...(sent.length === 0 ? [] : [`headers={${sent.join(', ')}}`]),
    ...(body === null
      ? []
      : [
          'json' in body ? `data=json.dumps(${PYTHON.value(body.json, 1)}).encode()` : 'data=open("file", "rb").read()',
        ]),
  ]
  return [
    ...(body !== null && 'json' in body ? ['import json'] : []),
    ...(credential === null ? [] : ['import os']),
    'import urllib.request',
    '',
    `request = urllib.request.Request(\n${options.map((one) => `    ${one},`).join('\n')}\n)`,
    'with urllib.request.urlopen(request) as response:',
    '    print(response.status, response.read().decode())',
  ].join('\n')
}

function addressOf({ origin, path, params, query }: ApiCall): string {
  const target = path.replaceAll(/\{(\w+)\}/g, (whole, name: string) => params[name] ?? whole)
  return `${origin}${target}${queryOf(query)}`
}

function queryOf(query: ApiCall['query']): string {
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

/** How values are written in a language. */
interface Language {
  text(value: string): string
  value(value: unknown, depth: number): string
}

const TYPESCRIPT: Language = {
  text: (value) => {
    const inner = JSON.stringify(value)
      .slice(1, -1)
      .replaceAll(String.raw`\"`, '"')
    return `'${inner.replaceAll("'", String.raw`\'`)}'`
  },
  value: (value, depth) =>
    literalOf(value, depth, {
      indent: '  ',
      text: (text) => TYPESCRIPT.text(text),
      name: (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : TYPESCRIPT.text(name)),
      word: (word) => String(word),
      open: '{ ',
      close: ' }',
    }),
}

const PYTHON: Language = {
  text: (value) => JSON.stringify(value),
  value: (value, depth) =>
    literalOf(value, depth, {
      indent: '    ',
      text: (text) => PYTHON.text(text),
      name: (name) => PYTHON.text(name),
      word: (word) => (word === null ? 'None' : word ? 'True' : 'False'),
      open: '{',
      close: '}',
    }),
}

interface Form {
  indent: string
  text(text: string): string
  name(name: string): string
  word(word: boolean | null): string
  open: string
  close: string
}

/** On one line where it is short, as a formatter writes it. */
function literalOf(value: unknown, depth: number, form: Form): string {
  if (typeof value === 'string') return form.text(value)
  if (value === null || value === undefined) return form.word(null)
  if (typeof value === 'boolean') return form.word(value)
  if (typeof value !== 'object') return JSON.stringify(value)
  const isList = Array.isArray(value)
  const parts = isList
    ? (value as unknown[]).map((one) => literalOf(one, depth + 1, form))
    : Object.entries(value).map(([name, one]) => `${form.name(name)}: ${literalOf(one, depth + 1, form)}`)
  if (parts.length === 0) return isList ? '[]' : '{}'
  const line = isList ? `[${parts.join(', ')}]` : `${form.open}${parts.join(', ')}${form.close}`
  if (line.length <= LINE_MAX && !line.includes('\n')) return line
  const inside = parts.map((part) => `${form.indent.repeat(depth + 1)}${part},`).join('\n')
  return `${isList ? '[' : '{'}\n${inside}\n${form.indent.repeat(depth)}${isList ? ']' : '}'}`
}

const LINE_MAX = 80
