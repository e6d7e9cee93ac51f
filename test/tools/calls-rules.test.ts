import fc from 'fast-check'
import { pino } from 'pino'
import { DomainError } from '../../service/kit/errors.ts'
import type { HttpUpstream, Place, Tool } from '../../service/tools/model/tool.ts'
import { createInputCheck } from '../../service/tools/service/calls/check.ts'
import { newId } from '../../service/kit/ids.ts'
import { blames, outputOf } from '../../service/tools/rules/answer.ts'
import { classOf, FAILED, msOf, statsOf } from '../../service/tools/rules/stats.ts'
import { requestOf } from '../../service/tools/rules/request.ts'
import { faultOfShape } from '../../service/tools/rules/shape.ts'

const NOTHING = { headers: {}, query: {} }

function upstream(where: Record<string, Place>, more: Partial<HttpUpstream> = {}): HttpUpstream {
  return {
    kind: 'http',
    method: 'GET',
    server: 'https://api.example/v1',
    path: '/things',
    where,
    bodyType: null,
    auth: null,
    answer: { status: 200, contentType: 'application/json' },
    ...more,
  }
}

describe('the request that an input means', () => {
  const queryOf = (place: Omit<Place, 'in' | 'name'>, value: unknown) =>
    decodeURIComponent(
      new URL(requestOf(upstream({ a: { in: 'query', name: 'a', ...place } }), { a: value }, NOTHING).url).search.slice(
        1,
      ),
    )

  test.each<[string, Omit<Place, 'in' | 'name'>, unknown, string]>([
    ['a text', {}, 'x y', 'a=x+y'],
    ['a number', {}, 5, 'a=5'],
    ['a boolean', {}, false, 'a=false'],
    ['a list, by default exploded', {}, ['x', 'y'], 'a=x&a=y'],
    ['a list by commas', { style: 'form', explode: false }, ['x', 'y'], 'a=x,y'],
    ['a list by pipes', { style: 'pipeDelimited' }, ['x', 'y'], 'a=x|y'],
    ['a list by spaces', { style: 'spaceDelimited' }, ['x', 'y'], 'a=x+y'],
    ['an object, by default its fields', {}, { b: 1, c: 2 }, 'b=1&c=2'],
    ['an object by commas', { style: 'form', explode: false }, { b: 1, c: 2 }, 'a=b,1,c,2'],
    ['an object in brackets', { style: 'deepObject' }, { b: { c: 1 }, d: ['x', 'y'] }, 'a[b][c]=1&a[d]=x&a[d]=y'],
    ['JSON', { json: true }, { b: [1] }, 'a={"b":[1]}'],
    ['a list of nothing', {}, [], ''],
  ])('%s in the query', (_, place, value, query) => {
    expect(queryOf(place, value)).toBe(query)
  })

  test.each<[Omit<Place, 'in' | 'name'>, unknown, string]>([
    [{}, 'a/b c', '/things/a%2Fb%20c'],
    [{}, ['x', 'y'], '/things/x,y'],
    [{ style: 'label', explode: true }, ['x', 'y'], '/things/.x.y'],
    [{ style: 'matrix' }, 'x', '/things/;id=x'],
    [{ explode: true }, { b: 1, c: 2 }, '/things/b=1,c=2'],
  ])('%j in the path', (place, value, path) => {
    const to = upstream({ id: { in: 'path', name: 'id', ...place } }, { path: '/things/{id}' })
    expect(requestOf(to, { id: value }, NOTHING).url).toBe(`https://api.example/v1${path}`)
  })

  test('keeps every path value within its own segment', () => {
    const to = upstream({ id: { in: 'path', name: 'id' } }, { path: '/things/{id}/parts' })
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.constantFrom('.', '..', '%2e%2e', '', '//')),
        (id) => {
          let url: string
          try {
            ;({ url } = requestOf(to, { id }, NOTHING))
          } catch (error) {
            expect(error).toBeInstanceOf(DomainError)
            return
          }
          const { origin, pathname, search, hash } = new URL(url)
          expect([origin, search, hash]).toEqual(['https://api.example', '', ''])
          expect(pathname).toMatch(/^\/v1\/things\/[^/]+\/parts$/)
        },
      ),
      { verbose: true },
    )
  })

  test.each([
    ...['../admin', 'a/../../admin', 'a/./b', '%2e%2e', '%2e%2e/admin', '..%2fadmin', '%2E%2E%2Fadmin', 'a%2fb', '%2f'],
    ...[
      '%252e%252e%252fadmin',
      '%25252e%25252e',
      '..\\admin',
      '..%5cadmin',
      'a%255cb',
      '..;/admin',
      '%2e%2e;x=1/admin',
    ],
    ...['%c0%ae%c0%ae/admin', '..%c0%af', '%u002e%u002e', 'a%00', `%${'25'.repeat(9)}2e`, ' .. /admin'],
  ])('refuses an input that a second decoding would turn into another path: %j', (id) => {
    const to = upstream({ id: { in: 'path', name: 'id' } }, { path: '/things/{id}/parts' })
    expect(() => requestOf(to, { id }, NOTHING)).toThrow(
      expect.objectContaining({ kind: 'invalid', fields: { details: { id: expect.any(String) } } }) as Error,
    )
  })

  test('refuses values that form dots together, and accepts ordinary dots, slashes and percent signs', () => {
    const both = upstream({ a: { in: 'path', name: 'a' }, b: { in: 'path', name: 'b' } }, { path: '/x/{a}{b}/y' })
    expect(() => requestOf(both, { a: '.', b: '.' }, NOTHING)).toThrow()
    const next = upstream({ a: { in: 'path', name: 'a' } }, { path: '/x/.{a}/y' })
    expect(() => requestOf(next, { a: '.' }, NOTHING)).toThrow()
    const to = upstream({ id: { in: 'path', name: 'id' } }, { path: '/things/{id}' })
    const pathOf = (id: string) => new URL(requestOf(to, { id }, NOTHING).url).pathname
    expect(['100%', 'v1.2', '...', 'docs/read me.md', 'a/50%25'].map(pathOf)).toEqual([
      '/v1/things/100%25',
      '/v1/things/v1.2',
      '/v1/things/...',
      '/v1/things/docs%2Fread%20me.md',
      '/v1/things/a%2F50%2525',
    ])
  })

  test.each<[string, unknown, string, string]>([
    ['application/json', { a: { b: [1] } }, 'application/json', '{"a":{"b":[1]}}'],
    [
      'application/x-www-form-urlencoded',
      { a: { b: [1, 2] } },
      'application/x-www-form-urlencoded',
      'a%5Bb%5D=1&a%5Bb%5D=2',
    ],
    ['text/plain', { a: 'x' }, 'text/plain', '{"a":"x"}'],
  ])('a body of %s', (bodyType, input, type, content) => {
    const to = upstream({ a: { in: 'body', name: 'a' } }, { method: 'POST', bodyType })
    const { body, headers } = requestOf(to, input as Record<string, unknown>, NOTHING)
    expect([headers['content-type'], body]).toEqual([type, content])
  })

  test('encodes the names of a multipart form, so that they stay inside their quotes', () => {
    const name = 'a"\r\nX: y'
    const to = upstream({ a: { in: 'body', name } }, { method: 'POST', bodyType: 'multipart/form-data' })
    const { body, headers } = requestOf(to, { a: 'value' }, NOTHING)
    const [, boundary] = /boundary=(\S+)$/.exec(headers['content-type']!)!
    expect(Buffer.from(body!).toString()).toBe(
      `--${boundary!}\r\nContent-Disposition: form-data; name="a%22%0D%0AX: y"\r\n\r\nvalue\r\n--${boundary!}--\r\n`,
    )
  })

  test('has a whole body from one input, and an empty one without inputs', () => {
    const root = upstream({ all: { in: 'bodyRoot', name: 'all' } }, { method: 'POST', bodyType: 'application/json' })
    expect(requestOf(root, { all: [1, 2] }, NOTHING).body).toBe('[1,2]')
    expect(requestOf(root, {}, NOTHING).body).toBeNull()
    const parts = upstream({ a: { in: 'body', name: 'a' } }, { method: 'POST', bodyType: 'application/json' })
    expect(requestOf(parts, {}, NOTHING).body).toBe('{}')
  })

  test("puts the platform's credentials above a caller's input", () => {
    const to = upstream({ key: { in: 'header', name: 'Authorization' }, q: { in: 'query', name: 'api_key' } })
    const credentials = { headers: { authorization: 'Bearer house' }, query: { api_key: 'house' } }
    const { url, headers } = requestOf(to, { key: 'Bearer mine', q: 'mine' }, credentials)
    expect([headers['authorization'], new URL(url).search]).toEqual(['Bearer house', '?api_key=house'])
  })
})

test('each field of an input is checked against its own pattern', () => {
  const check = createInputCheck(pino({ level: 'silent' }))
  const properties = {
    letters: { type: 'string', pattern: '^[a-z]+$' },
    digits: { type: 'string', pattern: '^[0-9]+$' },
  }
  const tool = {
    id: newId('tool', new Date()),
    version: 1,
    slug: 'two',
    input: { type: 'object', properties },
  } as unknown as Tool
  expect(check.faultsOf(tool, { letters: 'abc', digits: '123' })).toBeNull()
  expect(Object.keys(check.faultsOf(tool, { letters: '123', digits: 'abc' })!)).toEqual(['letters', 'digits'])
})

describe('the meaning of a response', () => {
  const answered = (status: number, contentType: string | null, body: string | Buffer, wantsJson = true) =>
    outputOf({ status, contentType, body: Buffer.from(body) }, wantsJson)

  test('is JSON, text, bytes or null', () => {
    expect(answered(200, 'application/problem+json; charset=utf-8', '{"a":1}')).toEqual({
      kind: 'json',
      value: { a: 1 },
    })
    expect(answered(200, 'text/csv', 'a,b')).toEqual({ kind: 'text', value: 'a,b' })
    expect(answered(200, 'text/html', '<p>', false)).toEqual({ kind: 'text', value: '<p>' })
    expect(answered(204, null, '')).toEqual({ kind: 'json', value: null })
    expect(answered(200, null, Buffer.from([0xff, 0xfe, 0]))).toMatchObject({ kind: 'binary', value: { bytes: 3 } })
    expect(answered(200, 'text/plain', Buffer.from([65, 0, 66]))).toMatchObject({ kind: 'binary' })
  })

  test.each([
    [404, '{"error":{"message":"No such thing"}}', 'No such thing'],
    [400, '{"detail":"Wrong"}', 'Wrong'],
    [500, 'plain words', 'plain words'],
    [500, '', null],
    [302, '', null],
  ])('%i is a refusal with the tool’s message', (status, body, message) => {
    const refusal: unknown = caught(() => answered(status, 'application/json', body))
    expect(refusal).toMatchObject({ code: 'upstream_error', fields: { upstream: { status, message } } })
  })

  test('a status counts against the caller or the tool', () => {
    expect([400, 404, 422, 401, 429, 500, 503].map(blames)).toEqual([
      ...['caller', 'caller', 'caller'],
      ...['upstream', 'upstream', 'upstream', 'upstream'],
    ])
  })
})

describe('figures', () => {
  test('keep a duration within about a quarter', () => {
    fc.assert(
      fc.property(fc.integer({ min: 10, max: 100_000 }), (ms) => {
        const rounded = msOf(classOf(ms))
        expect(rounded / ms).toBeGreaterThan(0.99)
        expect(rounded / ms).toBeLessThan(1.25)
      }),
      { verbose: true },
    )
  })

  test('count quantiles of successes only, and our own faults not at all', () => {
    const counters = new Map([
      [classOf(10), 90],
      [classOf(1_000), 10],
      [FAILED.upstream, 20],
      [FAILED.caller, 5],
      [FAILED.ours, 7],
    ])
    const { calls, succeeded, p50Ms, p95Ms } = statsOf(counters)
    expect([calls, succeeded]).toEqual([125, 100])
    expect(p50Ms).toBe(msOf(classOf(10)))
    expect(p95Ms).toBe(msOf(classOf(1_000)))
    expect(statsOf(new Map([[FAILED.upstream, 3]]))).toEqual({ calls: 3, succeeded: 0, p50Ms: null, p95Ms: null })
  })
})

test('an input is measured without a stack of its own', () => {
  let deep: unknown = 1
  for (let level = 0; level < 200_000; level++) deep = [deep]
  expect(faultOfShape({ a: deep })).toEqual({ a: 'must be nested at most 32 deep' })
  expect(faultOfShape({ a: [{ b: 1, c: 'a whole 👍' }] })).toBeNull()
  expect(faultOfShape({ a: ['\ud83d'] })).toEqual({ a: 'must not contain an incomplete Unicode character' })
})

function caught(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}
