import fc from 'fast-check'
import type { GrowingRequest } from '../../harness/request-growth.ts'
import { bodies, type Schema } from './schema.ts'
import { SIGN_IN } from './words.ts'

/** The service's own document, as far as it says what can be sent. */
export interface Document {
  paths: Record<string, Record<string, Operation>>
  components?: { schemas?: Record<string, Schema> }
}

interface Operation {
  parameters?: readonly { name: string; in: string }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
}

type Unit = readonly [name: string, before: string, unit: string, after: string]

/** Texts of JSON that are worst for some reader. */
const WHOLE: readonly Unit[] = [
  ['a number of zeros', '{"a":1', '0', '1}'],
  ['brackets', '', '[', ''],
  ['spaces', '{', ' ', '}'],
]
const VALUES: readonly Unit[] = [
  ['hyphens', '"', 'a-', '"'],
  ['a list', '[1', ',1', ']'],
]
const HEADERS = ['authorization', 'cookie', 'idempotency-key', 'accept', 'x-forwarded-for', 'forwarded', 'traceparent']
/** Of those that an x402 payment comes with, the size of a header is all there is. */
const PAYMENT_HEADERS = [
  'payment-signature',
  'payment-authorization',
  'x-payment',
  'x-payment-id',
  'x-payment-token',
  'sign-in-with-x',
]
const HEADER_BYTES = 12_288
const JSON_TYPE = { 'content-type': 'application/json' }

/** Every route that takes a body, and every other place where a stranger decides how long something is. */
export function growingRequests(deps: {
  document: Document
  key: string
  /** What stands for a path's parameter, by the parameter's place in the path. */
  place(path: string): string
  procedures: readonly { name: string; mutation: boolean }[]
  /** Paths of checkouts, gates and tools that are paid by x402. */
  paid: readonly string[]
  bodyBytes: number
}): GrowingRequest[] {
  const { document, key, bodyBytes } = deps
  const schemas = document.components?.schemas ?? {}
  const authorized = { authorization: `Bearer ${key}` }
  const requests: GrowingRequest[] = []

  const ofBody = (method: string, path: string, [name, before, unit, after]: Unit, headers = {}): void => {
    requests.push({
      name: `${method} ${path}: ${name}`,
      largest: bodyBytes,
      make(size) {
        const body = Buffer.from(before + unit.repeat((size - before.length - after.length) / unit.length) + after)
        return { method, path, headers: { ...JSON_TYPE, ...authorized, ...headers }, body }
      },
    })
  }
  const ofHeader = (method: string, path: string, header: string, before: string, unit: string): void => {
    requests.push({
      name: `${method} ${path}: ${header} of ${unit}`,
      largest: HEADER_BYTES,
      make: (size) => ({
        ...{ method, path, body: null },
        headers: { ...authorized, [header]: before + unit.repeat((size - before.length) / unit.length) },
      }),
    })
  }
  const ofQuery = (path: string, before: string, unit: string): void => {
    requests.push({
      name: `GET ${path}?${before}${unit}`,
      largest: HEADER_BYTES,
      make: (size) => ({
        ...{ method: 'GET', headers: authorized, body: null },
        path: `${path}?${before}${unit.repeat((size - before.length) / unit.length)}`,
      }),
    })
  }

  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [verb, { parameters = [], requestBody }] of Object.entries(operations)) {
      const at = path.replaceAll(/\{[^}]+\}/g, deps.place(path))
      for (const one of parameters.filter(({ in: where }) => where === 'query')) ofQuery(at, `${one.name}=`, '0')
      const schema = requestBody?.content['application/json']?.schema
      if (schema === undefined) continue
      for (const unit of WHOLE) ofBody(verb.toUpperCase(), at, unit)
      // As good a body as the document promises, but for one field.
      const [text = '{}'] = fc.sample(bodies(schema, schemas, [deps.place(path)]), { seed: 1, numRuns: 1 })
      const good = objectOf(text)
      for (const field of Object.keys(propertiesOf(schema, schemas))) {
        const rest = Object.entries(good).filter(([name]) => name !== field)
        const start = `{${rest.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)},`).join('')}`
        for (const [name, before, unit, after] of VALUES)
          ofBody(verb.toUpperCase(), at, [`${field} of ${name}`, `${start}"${field}":${before}`, unit, `${after}}`])
      }
      ofKeys(verb.toUpperCase(), at)
    }
  }
  for (const { name } of deps.procedures.filter(({ mutation }) => mutation)) {
    ofBody('POST', `/trpc/${name}`, WHOLE[0]!)
    ofKeys('POST', `/trpc/${name}`)
  }
  ofBody('POST', '/trpc/keys.create,keys.create?batch=1', WHOLE[1]!)
  ofQuery('/trpc/keys.list', 'batch=1&input=', '%5B')
  const stream = { accept: 'application/json, text/event-stream' }
  const toolCall = (inside: string): string => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${inside}`
  ofBody('POST', '/tools/mcp', WHOLE[0]!, stream)
  ofBody('POST', '/tools/mcp', WHOLE[1]!, stream)
  ofBody('POST', '/tools/mcp', ['a batch', '[1', ',{"jsonrpc":"2.0","method":"ping"}', ']'], stream)
  ofBody(
    'POST',
    '/tools/mcp',
    ['words', toolCall('"name":"search_tools","arguments":{"query":"'), 'aing ', '"}}}'],
    stream,
  )
  ofBody('POST', '/tools/mcp', ['a name', toolCall('"name":"'), 'a-', '","arguments":{}}}'], stream)
  for (const [method, path] of SIGN_IN.map((line) => line.split(' ') as [string, string])) {
    if (method !== 'POST') continue
    ofBody('POST', path, ['an address', '{"email":"a@', 'a.', '","password":"x","name":"x","message":"x"}'])
    ofBody('POST', path, ['a message', '{"signature":"0x","walletAddress":"0x","message":"', 'a\\n', '"}'])
    ofKeys('POST', path)
  }
  for (const path of deps.paid) {
    for (const unit of WHOLE) ofBody('POST', path, unit)
    for (const header of PAYMENT_HEADERS) {
      ofHeader('GET', path, header, '', 'A')
      ofHeader('GET', path, header, Buffer.from('{"a":1').toString('base64'), 'MDAw')
      ofHeader('GET', path, header, '', 'W1tb')
    }
    ofQuery(path, '', 'a=1&')
  }
  for (const header of HEADERS)
    for (const unit of ['a', ' ,', 'a=b;', '1.', 'eyJaaaaaaaa.']) ofHeader('GET', '/v1/me', header, 'a', unit)
  return requests

  function ofKeys(method: string, path: string): void {
    requests.push({
      name: `${method} ${path}: keys`,
      largest: bodyBytes,
      make(size) {
        const names = Array.from({ length: size / 16 }, (_, place) => `"k${String(place).padStart(8, '0')}":1`)
        const body = Buffer.from(`{${names.join(',')}}`.padEnd(size))
        return { method, path, headers: { ...JSON_TYPE, ...authorized }, body: body.subarray(0, size) }
      },
    })
  }
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {}
  } catch {
    return {}
  }
}

function propertiesOf(schema: Schema, schemas: Readonly<Record<string, Schema>>): Readonly<Record<string, Schema>> {
  const name = schema.$ref?.split('/').at(-1)
  const resolved = name === undefined ? schema : (schemas[name] ?? schema)
  if (resolved.properties !== undefined) return resolved.properties
  const choices = resolved.anyOf ?? resolved.oneOf ?? resolved.allOf ?? []
  return Object.assign({}, ...choices.map((each) => propertiesOf(each, schemas))) as Readonly<Record<string, Schema>>
}
