import { once } from 'node:events'
import { connect } from 'node:net'
import { openWorld, type World } from './world.ts'

/**
 * Express compares mount paths without regard to case, and direct serving does not: in capitals the same request takes the
 * way through Express.
 */
const BY_EXPRESS = '/GATE'

describe('a gate that is served directly', () => {
  let world: World
  let slug = ''
  beforeAll(async () => {
    world = await openWorld()
    const free = { model: 'free' }
    const sold = await world.sell([
      { method: '*', path: '/echo', pricing: free },
      { method: 'GET', path: '/empty', pricing: free },
      { method: 'GET', path: '/unchanged', pricing: free },
      { method: 'GET', path: '/chunked', pricing: free },
      { method: 'GET', path: '/paid', pricing: { model: 'per-request', amount: 0.01 } },
    ])
    slug = new URL(sold.gate).pathname.split('/').at(-1) ?? ''
    world.upstream.on('/empty', (_request, response) => response.writeHead(204, { 'x-of': 'upstream' }).end())
    world.upstream.on('/unchanged', (_request, response) => response.writeHead(304, { etag: '"1"' }).end())
    world.upstream.on('/chunked', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', trailer: 'x-sum' })
      response.write('one ')
      response.addTrailers({ 'x-sum': '2' })
      response.end('two')
    })
  })
  afterAll(() => world.close())

  const chunked = { headers: ['transfer-encoding: chunked'], body: '3\r\nabc\r\n0\r\n\r\n' }
  const cases = [
    { name: 'GET', line: 'GET {gate}/echo?a=1&a=%202' },
    { name: 'HEAD', line: 'HEAD {gate}/echo' },
    { name: 'OPTIONS', line: 'OPTIONS {gate}/echo' },
    { name: 'a preflight', line: 'OPTIONS {gate}/echo', headers: ['access-control-request-method: POST'] },
    { name: 'a method of its own', line: 'PURGE {gate}/echo' },
    { name: 'TRACE', line: 'TRACE {gate}/echo' },
    { name: 'a body of a known length', line: 'POST {gate}/echo', headers: ['content-length: 3'], body: 'abc' },
    { name: 'a body in chunks', line: 'POST {gate}/echo', ...chunked },
    { name: '204', line: 'GET {gate}/empty' },
    { name: '304', line: 'GET {gate}/unchanged', headers: ['if-none-match: "1"'] },
    { name: 'an answer in chunks with trailers', line: 'GET {gate}/chunked', headers: ['te: trailers'] },
    { name: '402', line: 'GET {gate}/paid' },
    { name: '402 for a browser', line: 'GET {gate}/paid', headers: ['accept: text/html'] },
    { name: 'a route that there is not', line: 'GET {gate}/none' },
    { name: 'the gate alone', line: 'GET {gate}' },
    { name: 'empty segments', line: 'GET {gate}//echo' },
    { name: 'dot segments', line: 'GET {gate}/../echo' },
    { name: 'an encoded slash', line: 'GET {gate}/echo%2f' },
    { name: 'a fragment', line: 'GET {gate}/echo#part' },
    { name: 'a backslash', line: 'GET {gate}/echo\\..' },
    { name: 'a paywall that there is not', line: 'GET {mount}/none/echo' },
    { name: 'no slug', line: 'GET {mount}/' },
    { name: 'the mount alone', line: 'GET {mount}' },
    { name: 'files of its page', line: 'GET {mount}/assets/none.js' },
    { name: 'the status of a payment', line: 'GET {mount}/payments/pay_1' },
    { name: 'two Host headers', line: 'GET {gate}/echo', headers: ['host: other.example'] },
    {
      name: 'two lengths',
      line: 'POST {gate}/echo',
      headers: ['content-length: 3', 'content-length: 4'],
      body: 'abcd',
    },
    {
      name: 'a length and chunks',
      line: 'POST {gate}/echo',
      headers: ['content-length: 3', ...chunked.headers],
      body: chunked.body,
    },
    { name: 'a line break in a header', line: 'GET {gate}/echo', headers: ['x-one: a\rx-two: b'] },
    {
      name: 'hop-by-hop headers',
      line: 'GET {gate}/echo',
      headers: ['connection: close, x-secret', 'x-secret: 1', 'te: gzip'],
    },
    {
      name: 'an expectation that is not supported',
      line: 'POST {gate}/echo',
      headers: ['expect: more', 'content-length: 0'],
    },
    { name: 'a chunk that is none', line: 'POST {gate}/echo', headers: chunked.headers, body: 'zz\r\nabc\r\n' },
  ]

  it.each(cases)('answers and forwards $name as Express does', async ({ line, headers = [], body = '' }) => {
    const [direct, searched] = [await exchange('/gate'), await exchange(BY_EXPRESS)]
    expect(direct).toEqual(searched)
    expect(direct.answer).toMatch(/^HTTP\/1\.1 \d{3} /)

    async function exchange(mount: string) {
      world.upstream.requests.length = 0
      const named = line.replace('{gate}', `${mount}/${slug}`).replace('{mount}', mount)
      const answer = await send([`${named} HTTP/1.1`, 'host: localhost', 'connection: close', ...headers], body)
      const differs = /^(?:coinslot-payment|x-forwarded-for)$/i
      const forwarded = world.upstream.requests.map((request) => ({
        ...request,
        headers: null,
        rawHeaders: request.rawHeaders.filter((_, at, all) => !differs.test(all[at - (at % 2)] ?? '')),
        body: request.body.toString(),
      }))
      return { answer: answer.replaceAll(/\/gate\//gi, '/gate/').replaceAll(/\/gate\b/gi, '/gate'), forwarded }
    }
  })

  it('takes the request after a refused body for itself', async () => {
    const first = ['POST /gate/none/echo HTTP/1.1', 'host: localhost', 'content-length: 5']
    const second = `GET /gate/${slug}/echo HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`
    world.upstream.requests.length = 0
    const answer = await send(first, `abcde${second}`)
    expect(answer.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 200'])
    expect(world.upstream.requests.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /echo'])
  })

  it('serves several requests on one connection in their order', async () => {
    const one = `GET /gate/${slug}/echo?n=1 HTTP/1.1\r\nhost: localhost\r\n\r\n`
    const two = `POST /gate/${slug}/echo?n=2 HTTP/1.1\r\nhost: localhost\r\ncontent-length: 3\r\n\r\nabc`
    const three = `GET /gate/${slug}/echo?n=3 HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`
    const answer = await raw(one + two + three)
    expect([...answer.matchAll(/\?n=(\d)/g)].map(([, n]) => n)).toEqual(['1', '2', '3'])
  })

  /** The whole answer as text, without what differs from one answer to the next. */
  async function send(head: readonly string[], body: string): Promise<string> {
    const text = await raw(`${head.join('\r\n')}\r\n\r\n${body}`)
    // A challenge has a nonce, and so has the body of a 402.
    const own = /^(?:date|x-request-id|www-authenticate):/i
    const [given = '', ...rest] = text.split('\r\n\r\n')
    const [status = '', ...lines] = given.split('\r\n')
    const kept = lines.filter((line) => !own.test(line)).sort()
    const answer = status.includes(' 402 ') ? [] : rest
    return [status, ...kept, '', ...answer].join('\n').replaceAll(/req_\w+/g, 'req')
  }

  async function raw(sent: string): Promise<string> {
    const socket = connect(Number(new URL(world.service.origin).port), '127.0.0.1').setEncoding('utf8')
    let text = ''
    socket.on('data', (part: string) => (text += part)).on('error', () => undefined)
    socket.write(sent)
    await once(socket, 'close')
    return text
  }
})
