import fc, { type Arbitrary } from 'fast-check'
import { bodies, type Schema } from './schema.ts'
import { nastyValue, nastyWord, wellFormed } from './values.ts'

/** One request as it goes over the wire. */
export interface Shot {
  kind: string
  bytes: Buffer
  /** Less comes than was announced, and then the end. */
  ends: boolean
}

/** What there is to shoot at. */
export interface Targets {
  document: { paths: Record<string, Record<string, Operation>>; components?: { schemas?: Record<string, Schema> } }
  /** Of the accounts, the checkouts, the tools that are there. */
  ids: readonly string[]
  keys: readonly string[]
  /** Paths of checkouts, gates and tools that are paid by x402, and a payment in the form of each version. */
  paid: readonly string[]
  payments: readonly { header: string; payload: object }[]
  procedures: readonly { name: string; mutation: boolean }[]
}

interface Operation {
  parameters?: readonly { name: string; in: string; schema?: Schema }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
}

type HeaderLine = readonly [name: string, value: string]

interface Draft {
  kind: string
  method: string
  target: string
  headers: readonly HeaderLine[]
  /** JSON, before it is broken. */
  body: string | null
}

export function shots(targets: Targets): Arbitrary<Shot> {
  const { ids, keys } = targets
  const nasty = nastyValue(ids)
  const word = nastyWord(ids)
  const authorization = fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...keys).map((key) => `Bearer ${key}`) },
    { weight: 1, arbitrary: fc.constantFrom(...AUTHORIZATIONS) },
  )
  const signed = authorization.map((value): HeaderLine[] => [['Authorization', value]])

  const declared = fc.oneof(
    ...Object.entries(targets.document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => ofOperation(method.toUpperCase(), path, operation)),
    ),
  )
  const drafts = fc.oneof(
    { weight: 60, arbitrary: declared },
    { weight: 8, arbitrary: mcp() },
    { weight: 8, arbitrary: trpc() },
    { weight: 5, arbitrary: signIn() },
    { weight: 8, arbitrary: payments() },
    { weight: 5, arbitrary: anywhere() },
  )
  return fc
    .tuple(drafts, oddHeaders(), brokenBody(), framing(), fc.integer({ min: 0, max: 3 }))
    .map(([draft, headers, broken, frame, twice]) => assemble(draft, headers, broken, frame, twice === 0))

  function ofOperation(method: string, path: string, { parameters = [], requestBody }: Operation): Arbitrary<Draft> {
    const schema = requestBody?.content['application/json']?.schema
    const body =
      schema === undefined ? fc.constant(null) : bodies(schema, targets.document.components?.schemas ?? {}, ids)
    const places = path.split('/').map((part) => (part.startsWith('{') ? word : fc.constant(part)))
    const asked = parameters.filter((one) => one.in === 'query').map(({ name }) => name)
    return fc
      .tuple(
        fc.tuple(...places),
        query(asked),
        signed,
        body,
        fc.constantFrom(...Array<string>(15).fill(method), ...METHODS),
      )
      .map(([parts, search, headers, given, verb]) => ({
        ...{ kind: `${method} ${path}`, method: verb, target: parts.join('/') + search, headers, body: given },
      }))
  }

  function query(names: readonly string[]): Arbitrary<string> {
    const name = fc.constantFrom(
      ...names,
      'limit',
      'offset',
      'limit[]',
      'limit[a]',
      '__proto__[x]',
      'constructor',
      '%00',
      '',
    )
    const value = fc.oneof(
      word,
      fc.constantFrom('1', '20', '100', '101', '-1', '1.5', 'true', 'draft', 'all', '1&limit=2'),
    )
    return fc
      .array(fc.tuple(name, value), { maxLength: 3 })
      .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.map(([a, b]) => `${a}=${b}`).join('&')}`))
  }

  function mcp(): Arbitrary<Draft> {
    const tools = ['search_tools', 'describe_tool', 'call_tool', 'get_balance', '__proto__', ...ids]
    const method = fc.constantFrom(
      ...['initialize', 'tools/list', 'tools/call', 'ping', 'resources/list', 'prompts/get'],
      ...NOTES,
    )
    const args = fc.record({ slug: nasty, input: nasty, query: nasty }, { requiredKeys: [] }).map((given) => {
      return `{${Object.entries(given)
        .map(([name, text]) => `"${name}":${text}`)
        .join(',')}}`
    })
    const params = fc.oneof(
      nasty,
      fc
        .tuple(fc.constantFrom(...tools), args)
        .map(([name, given]) => `{"name":${JSON.stringify(name)},"arguments":${given}}`),
      fc.constant('{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}'),
    )
    const id = fc.oneof({ weight: 4, arbitrary: fc.constant('1') }, { weight: 1, arbitrary: nasty })
    const message = fc
      .tuple(id, method, params)
      .map(([number, name, given]) => `{"jsonrpc":"2.0","id":${number},"method":"${name}","params":${given}}`)
    const body = fc.oneof(
      message,
      fc.array(message, { maxLength: 4 }).map((all) => `[${all.join(',')}]`),
      nasty,
    )
    const path = fc.constantFrom(
      '/tools/mcp',
      '/tools/mcp',
      '/tools/mcp?view=all',
      '/tools/mcp?key=x',
      '/tools/mcp/messages?sessionId=x',
    )
    const session = fc.constantFrom<HeaderLine[]>(
      [],
      [['Mcp-Session-Id', 'x']],
      [['Mcp-Protocol-Version', '1']],
      [['Last-Event-Id', 'x']],
    )
    return fc
      .tuple(path, signed, session, body, fc.constantFrom('POST', 'POST', 'POST', 'GET', 'DELETE'))
      .map((drawn) => {
        const [target, headers, more, given, verb] = drawn
        const accept: HeaderLine = ['Accept', 'application/json, text/event-stream']
        return {
          ...{ kind: 'mcp', method: verb, target, headers: [...headers, ...more, accept] },
          body: verb === 'POST' ? given : null,
        }
      })
  }

  function trpc(): Arbitrary<Draft> {
    const one = fc.constantFrom(...targets.procedures)
    const input = fc.oneof(
      nasty,
      fc.constantFrom(...ids).map((id) => `{"id":"${id}"}`),
      nasty.map((value) => `{"id":${value},"slug":${value},"limit":${value},"body":${value}}`),
    )
    return fc
      .tuple(
        fc.array(one, { minLength: 1, maxLength: 3 }),
        fc.array(input, { minLength: 1, maxLength: 3 }),
        signed,
        fc.boolean(),
      )
      .map(([chosen, inputs, headers, batch]) => {
        const { mutation } = chosen[0]!
        const names = batch ? chosen.map(({ name }) => name).join(',') : chosen[0]!.name
        const whole = batch ? `{${inputs.map((text, place) => `"${String(place)}":${text}`).join(',')}}` : inputs[0]!
        const search = mutation
          ? batch
            ? '?batch=1'
            : ''
          : `?${batch ? 'batch=1&' : ''}input=${encodeURIComponent(wellFormed(whole)).slice(0, 9_000)}`
        return {
          ...{ kind: 'trpc', method: mutation ? 'POST' : 'GET', target: `/trpc/${names}${search}`, headers },
          body: mutation ? whole : null,
        }
      })
  }

  function signIn(): Arbitrary<Draft> {
    const fields = [
      'email',
      'password',
      'name',
      'token',
      'newPassword',
      'walletAddress',
      'message',
      'signature',
      'chainId',
      'callbackURL',
    ]
    const body = fc
      .array(fc.tuple(fc.constantFrom(...fields), nasty), { maxLength: 5 })
      .map((pairs) => `{${pairs.map(([name, value]) => `"${name}":${value}`).join(',')}}`)
    const origin = fc.constantFrom<HeaderLine[]>(
      [],
      [['Origin', 'http://localhost:0']],
      [['Cookie', 'coinslot.session_token=x.y']],
    )
    return fc
      .tuple(fc.constantFrom(...SIGN_IN), origin, body, query(['token', 'callbackURL']))
      .map(([path, headers, given, search]) => {
        const [method = '', target = ''] = path.split(' ')
        return { ...{ kind: 'auth', method, target: target + search, headers }, body: method === 'POST' ? given : null }
      })
  }

  function payments(): Arbitrary<Draft> {
    const mutated = fc
      .tuple(fc.constantFrom(...targets.payments), fc.integer({ min: 0 }), nasty, fc.integer({ min: 0, max: 3 }))
      .map(([{ header, payload }, at, value, how]): HeaderLine => {
        const text = how === 0 ? JSON.stringify(payload) : replaced(JSON.stringify(payload), at, value)
        const coded = Buffer.from(text).toString('base64')
        if (how === 2) return [header, coded.slice(0, at % coded.length)]
        if (how === 3) return [header, coded.replaceAll('=', '').replaceAll('+', '-').replaceAll('A', '%')]
        return [header, coded]
      })
    const extra = fc.oneof(
      { weight: 5, arbitrary: fc.constant<HeaderLine[]>([]) },
      {
        weight: 1,
        arbitrary: fc.tuple(fc.constantFrom('X-Payment-ID', 'X-Payment-Token'), word).map((line) => [line]),
      },
    )
    const method = fc.constantFrom('GET', 'POST', 'POST')
    return fc
      .tuple(fc.constantFrom(...targets.paid), fc.array(mutated, { maxLength: 2 }), extra, method, nasty)
      .map(([target, headers, more, verb, given]) => ({
        ...{
          kind: 'payment',
          method: verb,
          target,
          headers: [...headers, ...more],
          body: verb === 'POST' ? given : null,
        },
      }))
  }

  function anywhere(): Arbitrary<Draft> {
    const root = fc.constantFrom(
      '/v1',
      '/tools',
      '/facilitator',
      '/p',
      '/gate',
      '/trpc',
      '/auth',
      '/docs',
      '',
      '/gate/weather',
      '/p/assets',
    )
    return fc
      .tuple(
        root,
        fc.array(word, { maxLength: 4 }),
        signed,
        fc.constantFrom('GET', 'POST', ...METHODS),
        fc.constantFrom(...TARGETS),
      )
      .map(([start, parts, headers, method, odd]) => ({
        ...{ kind: 'anywhere', method, target: odd ?? [start, ...parts].join('/'), headers, body: null },
      }))
  }
}

/** Most have none of it: one oddity at a time is what tells where it is not looked for. */
function oddHeaders(): Arbitrary<readonly HeaderLine[]> {
  return fc.oneof(
    { weight: 8, arbitrary: fc.constant<HeaderLine[]>([]) },
    { weight: 1, arbitrary: fc.constantFrom<HeaderLine>(...ODD).map((line) => [line]) },
    {
      weight: 1,
      arbitrary: fc.string({ unit: 'binary', maxLength: 60 }).map((text): HeaderLine[] => {
        return [
          [
            'Idempotency-Key',
            Buffer.from(wellFormed(text))
              .toString('latin1')
              .replaceAll(/[\r\n\0]/g, '?'),
          ],
        ]
      }),
    },
  )
}

type Broken = (text: string) => Buffer

function brokenBody(): Arbitrary<Broken> {
  const as =
    (change: (text: string) => string): Broken =>
    (text) =>
      Buffer.from(change(text))
  return fc.oneof(
    { weight: 20, arbitrary: fc.constant(as((text) => text)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Broken>(
        as((text) => text.slice(0, text.length / 2)),
        as((text) => text + text),
        as((text) => `\ufeff${text}`),
        as((text) => text.replace('{', '{"__proto__":{"polluted":true},')),
        as((text) => text.replace(/"(\w+)":/, '"$1":null,"$1":')),
        as(() => '['.repeat(100_000)),
        as(() => ''),
        as(() => ' '),
        as((text) => `[${text}]`),
        (text) => Buffer.from(text, 'utf16le'),
        (text) => Buffer.concat([Buffer.from(text.slice(0, -1)), Buffer.from([0xff, 0xc0, 0x80]), Buffer.from('}')]),
        () => Buffer.alloc(300_000, 'x'),
        () => Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]),
      ),
    },
  )
}

type Framing = 'length' | 'chunked' | 'short' | 'long' | 'chunks broken' | 'chunks endless'

function framing(): Arbitrary<Framing> {
  const odd = fc.constantFrom<Framing>('chunked', 'chunked', 'short', 'long', 'chunks broken', 'chunks endless')
  return fc.oneof({ weight: 15, arbitrary: fc.constant<Framing>('length') }, { weight: 1, arbitrary: odd })
}

function assemble(draft: Draft, odd: readonly HeaderLine[], broken: Broken, framing: Framing, typeless: boolean): Shot {
  const { kind, method, target } = draft
  const body = draft.body === null ? null : broken(wellFormed(draft.body))
  const given = [...draft.headers, ...odd]
  const has = (name: string): boolean => given.some((line) => line[0].toLowerCase() === name)
  const headers: HeaderLine[] = [['Host', '127.0.0.1'], ['Connection', 'close'], ...given]
  if (body !== null && !has('content-type') && !(typeless && odd.length > 0))
    headers.push(['Content-Type', 'application/json'])
  let content = body ?? Buffer.alloc(0)
  let ends = false
  if (body !== null) {
    if (framing === 'length' || framing === 'short' || framing === 'long') {
      const length = content.length + (framing === 'short' ? 5 : framing === 'long' ? -Math.min(2, content.length) : 0)
      headers.push(['Content-Length', String(length)])
      ends = framing === 'short'
    } else {
      headers.push(['Transfer-Encoding', 'chunked'])
      const size = framing === 'chunks broken' ? '-1;x=y' : content.length.toString(16)
      const last = framing === 'chunks endless' ? '' : '0\r\n\r\n'
      content = Buffer.concat([Buffer.from(`${size}\r\n`), content, Buffer.from(`\r\n${last}`)])
      ends = framing === 'chunks endless'
      // No bytes are a last chunk too.
      if (body.length === 0) ends = true
    }
  }
  // Announced by an odd header, and never sent.
  const announced = given.find(([name]) => name === 'Content-Length')?.[1] ?? ''
  if (Number(announced) > content.length) ends = true
  const lines = [`${method} ${target} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`), '', '']
  return { kind, bytes: Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), content]), ends }
}

/** Another value for one of the values in it. */
function replaced(text: string, at: number, value: string): string {
  const places = [...text.matchAll(/:("[^"]*"|\d+)/g)]
  const found = places[at % Math.max(1, places.length)]
  if (found === undefined) return value
  return `${text.slice(0, found.index + 1)}${wellFormed(value)}${text.slice(found.index + found[0].length)}`
}

const METHODS = ['PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'get', 'FOO', 'CONNECT', 'QUERY']
const NOTES = [
  'notifications/cancelled',
  'notifications/initialized',
  'completion/complete',
  'logging/setLevel',
  '__proto__',
  '',
]
/** Now and then something that is no path at all. */
const TARGETS: readonly (string | null)[] = [
  ...Array<null>(8).fill(null),
  ...[
    '*',
    '//',
    '/..',
    '/../../etc/passwd',
    'http://evil.example/v1/me',
    '/v1//me',
    '/V1/ME',
    '/v1/me/',
    '/v1/me;a=b',
    '/%76%31/me',
  ],
  ...[
    '/v1/me?%',
    '/v1/me#a',
    '/\\evil.example',
    '//evil.example/..',
    'https:',
    '/docs/../package.json',
    '/docs/%2e%2e/%2e%2e/package.json',
  ],
]
const AUTHORIZATIONS = [
  '',
  'Bearer',
  'Bearer ',
  'Bearer x',
  'Basic eDp5',
  `Bearer ${'x'.repeat(9_000)}`,
  'Bearer a.b.c',
  'Bearer \u00ff\u00fe',
]
const SIGN_IN = [
  ...[
    'POST /auth/sign-up/email',
    'POST /auth/sign-in/email',
    'POST /auth/sign-out',
    'POST /auth/siwe/nonce',
    'POST /auth/siwe/verify',
  ],
  ...[
    'GET /auth/get-session',
    'POST /auth/change-password',
    'POST /auth/request-password-reset',
    'POST /auth/reset-password',
  ],
  ...[
    'POST /auth/update-user',
    'GET /auth/verify-email',
    'GET /auth/list-sessions',
    'POST /auth/revoke-session',
    'GET /auth/ok',
  ],
]
const ODD: readonly HeaderLine[] = [
  ...(
    [
      'text/plain',
      'application/xml',
      'application/json; charset=utf-16',
      'multipart/form-data; boundary=x',
      '',
      '\u00ff',
    ] as const
  ).map((type): HeaderLine => ['Content-Type', type]),
  ...(['text/html', 'text/event-stream', '*/*;q=0', ',', 'x'.repeat(1_000)] as const).map((type): HeaderLine => [
    'Accept',
    type,
  ]),
  ...(['production', 'sandbox', 'PRODUCTION', '', 'sandbox, production'] as const).map((name): HeaderLine => [
    'Coinslot-Environment',
    name,
  ]),
  ...(['a', 'a', 'x'.repeat(256), ' ', '\u00e9'] as const).map((key): HeaderLine => ['Idempotency-Key', key]),
  ...(['gzip', 'br, gzip', 'identity, gzip', 'x'] as const).map((coding): HeaderLine => ['Content-Encoding', coding]),
  ...(['https://evil.example', 'null', 'x', ''] as const).map((origin): HeaderLine => ['Origin', origin]),
  ...(['wait=0', 'wait=-1', 'wait=9999', 'wait', 'respond-async'] as const).map((what): HeaderLine => ['Prefer', what]),
  ['Authorization', 'Bearer second'],
  ['Content-Length', '5'],
  ['Content-Length', '-1'],
  ['Content-Length', '1e3'],
  ['Content-Length', '99999999999999999999'],
  ['Transfer-Encoding', 'gzip, chunked'],
  ['Transfer-Encoding', 'xchunked'],
  ['Expect', '100-continue'],
  ['Expect', 'something'],
  ['Upgrade', 'websocket'],
  ['Upgrade', 'h2c'],
  ['X-Forwarded-For', '1.2.3.4, x'],
  ['X-Http-Method-Override', 'DELETE'],
  ['Cookie', 'coinslot.session_token=x; coinslot.session_token=y'],
  ['Cookie', 'a=b; '.repeat(500)],
  ['X-Large', 'x'.repeat(20_000)],
  ['Range', 'bytes=0-1,2-3'],
  ['Host', 'evil.example'],
  ['Accept-Encoding', 'br;q=x'],
  ['X-Nul', 'a\u0000b'],
  ['X-Folded', 'a\r\n b'],
  ['Bad Name', 'x'],
  ['', 'x'],
]
