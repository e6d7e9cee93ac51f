import fc, { type Arbitrary } from 'fast-check'
import { bodies, type Schema } from './schema.ts'
import { nastyValue, nastyWord, wellFormed } from './values.ts'
import { AUTHORIZATIONS, METHODS, NOTES, SIGN_IN, TARGETS } from './words.ts'
import type { Draft, HeaderLine } from './draft.ts'
import { assemble, brokenBody, framing, oddHeaders, type Shot } from './oddities.ts'

/** What there is to shoot at. */
export interface Targets {
  document: { paths: Record<string, Record<string, Operation>>; components?: { schemas?: Record<string, Schema> } }
  /** Of the accounts, the checkouts, the tools that are there. */
  ids: readonly string[]
  keys: readonly string[]
  /** Paths of checkouts, gates and tools that are paid by x402, and a payment in the form of each version. */
  paid: readonly string[]
  /** `scheme` stands before the encoded payload. */
  payments: readonly { header: string; scheme?: string; payload: object }[]
  procedures: readonly { name: string; mutation: boolean }[]
}

interface Operation {
  parameters?: readonly { name: string; in: string; schema?: Schema }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
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
    { weight: 8, arbitrary: statelessMcp() },
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
    const queryNames = parameters.filter((one) => one.in === 'query').map(({ name }) => name)
    return fc
      .tuple(
        fc.tuple(...places),
        query(queryNames),
        signed,
        body,
        fc.constantFrom(...Array<string>(15).fill(method), ...METHODS),
      )
      .map(([parts, search, headers, body, verb]) => ({
        ...{ kind: `${method} ${path}`, method: verb, target: parts.join('/') + search, headers, body },
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
    const tools = ['search_tools', 'describe_tool', 'call_tool', 'get_result', 'get_balance', '__proto__', ...ids]
    const method = fc.constantFrom(
      ...['initialize', 'tools/list', 'tools/call', 'ping', 'resources/list', 'prompts/get'],
      ...NOTES,
    )
    const args = fc.record({ slug: nasty, input: nasty, query: nasty }, { requiredKeys: [] }).map((drawn) => {
      return `{${Object.entries(drawn)
        .map(([name, text]) => `"${name}":${text}`)
        .join(',')}}`
    })
    const params = fc.oneof(
      nasty,
      fc
        .tuple(fc.constantFrom(...tools), args)
        .map(([name, input]) => `{"name":${JSON.stringify(name)},"arguments":${input}}`),
      fc.constant('{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}'),
    )
    const id = fc.oneof({ weight: 4, arbitrary: fc.constant('1') }, { weight: 1, arbitrary: nasty })
    const message = fc
      .tuple(id, method, params)
      .map(([number, name, params]) => `{"jsonrpc":"2.0","id":${number},"method":"${name}","params":${params}}`)
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
        const [target, headers, more, body, verb] = drawn
        const accept: HeaderLine = ['Accept', 'application/json, text/event-stream']
        return {
          ...{ kind: 'mcp', method: verb, target, headers: [...headers, ...more, accept] },
          body: verb === 'POST' ? body : null,
        }
      })
  }

  /** MCP without sessions, with headers that mostly name what the body names. */
  function statelessMcp(): Arbitrary<Draft> {
    const method = fc.constantFrom(
      ...['server/discover', 'tools/list', 'tools/call', 'tasks/get', 'tasks/cancel', 'tasks/update'],
      ...['resources/read', 'subscriptions/listen', 'initialize', ...NOTES],
    )
    const envelope = fc.oneof(
      { weight: 4, arbitrary: fc.constant(ENVELOPE) },
      { weight: 1, arbitrary: nasty.map((value) => `{"io.modelcontextprotocol/protocolVersion":${value}}`) },
      { weight: 1, arbitrary: nasty },
    )
    const field = fc.tuple(fc.constantFrom('uri', 'taskId', 'requestState', 'inputResponses', 'cursor'), nasty)
    const tool = fc.constantFrom('search_tools', 'call_tool', '__proto__', ...ids)
    return fc
      .tuple(method, envelope, field, tool, nasty, signed, fc.boolean())
      .map(([name, meta, [key, value], called, input, headers, isNamed]) => {
        const params = `{"_meta":${meta},"name":${JSON.stringify(called)},"arguments":${input},"${key}":${value}}`
        const lines: HeaderLine[] = [
          ['Mcp-Protocol-Version', '2026-07-28'],
          ['Mcp-Method', name],
          ...(isNamed ? [['Mcp-Name', called] satisfies HeaderLine] : []),
        ]
        return {
          ...{ kind: 'mcp', method: 'POST', target: '/tools/mcp', headers: [...headers, ...lines] },
          body: `{"jsonrpc":"2.0","id":1,"method":"${name}","params":${params}}`,
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
      .map(([path, headers, body, search]) => {
        const [method = '', target = ''] = path.split(' ')
        return { ...{ kind: 'auth', method, target: target + search, headers }, body: method === 'POST' ? body : null }
      })
  }

  function payments(): Arbitrary<Draft> {
    const mutated = fc
      .tuple(fc.constantFrom(...targets.payments), fc.integer({ min: 0 }), nasty, fc.integer({ min: 0, max: 3 }))
      .map(([{ header, scheme = '', payload }, at, value, how]): HeaderLine => {
        const text = how === 0 ? JSON.stringify(payload) : replaced(JSON.stringify(payload), at, value)
        const coded = Buffer.from(text).toString('base64')
        if (how === 2) return [header, scheme + coded.slice(0, at % coded.length)]
        if (how === 3) return [header, scheme + coded.replaceAll('=', '').replaceAll('+', '-').replaceAll('A', '%')]
        return [header, scheme + coded]
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
      .map(([target, headers, more, verb, body]) => ({
        ...{
          kind: 'payment',
          method: verb,
          target,
          headers: [...headers, ...more],
          body: verb === 'POST' ? body : null,
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

/** Another value for one of the values in it. */
function replaced(text: string, at: number, value: string): string {
  const places = [...text.matchAll(/:("[^"]*"|\d+)/g)]
  const found = places[at % Math.max(1, places.length)]
  if (found === undefined) return value
  return `${text.slice(0, found.index + 1)}${wellFormed(value)}${text.slice(found.index + found[0].length)}`
}

const ENVELOPE = JSON.stringify({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {
    elicitation: { url: {} },
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  },
})
