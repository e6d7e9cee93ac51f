import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:https'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { outboundClient, type Outbound } from '../../service/outbound/client.ts'
import { faultOf } from './fault.ts'
import { httpServer, listening, type Listening } from './servers.ts'

const TEXT = 'All is well. '.repeat(5000)

describe('a call', () => {
  let requests: { headers: IncomingMessage['headers']; method: string | undefined; body: string }[]
  let server: Listening
  let client: Outbound
  let base: string

  beforeAll(async () => {
    server = await httpServer((request, response) => {
      let body = ''
      request.setEncoding('utf8')
      request.on('data', (text: string) => (body += text))
      request.on('end', () => {
        requests.push({ headers: request.headers, method: request.method, body })
        const url = request.url ?? ''
        if (url === '/silent') return
        if (url === '/drip') {
          response.write('first')
          return
        }
        response.setHeader('x-kept', 'yes')
        response.setHeader('set-cookie', ['a=1', 'b=2'])
        if (url === '/gzip') response.setHeader('content-encoding', 'gzip').end(gzipSync(TEXT))
        else if (url === '/brotli') response.setHeader('content-encoding', 'br').end(brotliCompressSync(TEXT))
        else if (url === '/deflate') response.setHeader('content-encoding', 'deflate').end(deflateSync(TEXT))
        else if (url === '/two')
          response.setHeader('content-encoding', 'br, gzip').end(gzipSync(brotliCompressSync(TEXT)))
        else if (url === '/identity') response.setHeader('content-encoding', 'identity').end(TEXT)
        else if (url === '/304') response.writeHead(304, { 'content-encoding': 'gzip' }).end()
        else if (url === '/204') response.writeHead(204, { 'content-encoding': 'gzip' }).end()
        else if (url === '/empty') response.writeHead(200, { 'content-encoding': 'gzip' }).end()
        else if (url === '/418') response.writeHead(418).end(TEXT)
        else response.end(TEXT)
      })
    })
    client = outboundClient({ policy: { allowPrivate: true, allowHosts: [] } })
    base = `http://127.0.0.1:${String(server.port)}`
  })
  beforeEach(() => (requests = []))
  afterAll(async () => {
    await client.close()
    await server.close()
  })

  it("sends its method, headers and body, with the service's user agent", async () => {
    const headers = { 'Content-Type': 'application/json', 'X-Own': 'a' }
    const answer = await client.send({ url: `${base}/?q=1`, method: 'post', headers, body: '{"ä":1}' })
    expect([answer.status, answer.truncated, answer.body.toString()]).toEqual([200, false, TEXT])
    expect(requests[0]).toMatchObject({ method: 'POST', body: '{"ä":1}' })
    expect(requests[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-own': 'a',
      'user-agent': 'Coinslot/0.1',
      host: `127.0.0.1:${String(server.port)}`,
    })
  })

  it.each(['/', '/gzip', '/brotli', '/deflate', '/two', '/identity', '/418'])(
    'is answered decoded: %s',
    async (path) => {
      const answer = await client.send({ url: base + path })
      expect(answer.body.toString()).toBe(TEXT)
      expect(answer.headers).toMatchObject({ 'x-kept': 'yes', 'set-cookie': ['a=1', 'b=2'] })
      for (const name of ['content-encoding', 'content-length', 'transfer-encoding', 'connection', 'keep-alive']) {
        expect(answer.headers[name]).toBeUndefined()
      }
    },
  )

  it.each([
    ['HEAD', '/gzip', 200],
    ['GET', '/204', 204],
    ['GET', '/304', 304],
    ['GET', '/empty', 200],
  ])('may be answered without a body: %s %s', async (method, path, status) => {
    const answer = await client.send({ url: base + path, method })
    expect([answer.status, answer.body.length, answer.truncated]).toEqual([status, 0, false])
  })

  it.each([
    [TEXT.length, false, TEXT.length],
    [TEXT.length - 1, true, TEXT.length - 1],
    [0, true, 0],
  ])('cut at %i bytes is truncated: %p', async (bodyBytes, truncated, length) => {
    for (const path of ['/', '/gzip', '/brotli']) {
      const answer = await client.send({ url: base + path, truncate: true, limits: { bodyBytes } })
      expect([answer.truncated, answer.body.length]).toEqual([truncated, length])
    }
  })

  it("with exactly the limit's bytes passes, with one more fails", async () => {
    for (const path of ['/', '/gzip', '/brotli']) {
      const url = base + path
      expect((await client.send({ url, limits: { bodyBytes: TEXT.length } })).body.length).toBe(TEXT.length)
      const fault = await faultOf(client.send({ url, limits: { bodyBytes: TEXT.length - 1 } }))
      expect([fault.code, fault.fields]).toEqual(['response_too_large', { limit: TEXT.length - 1 }])
    }
  })

  it.each([
    'Host',
    'content-length',
    'Transfer-Encoding',
    'connection',
    'keep-alive',
    'Upgrade',
    'TE',
    'trailer',
    'proxy-authorization',
    'proxy-connection',
    'expect',
    'user-agent',
    'accept-encoding',
  ])('may not set %s', async (name) => {
    const fault = await faultOf(client.send({ url: base, headers: { [name]: 'x' } }))
    expect([fault.code, fault.kind, fault.fields]).toEqual(['header_refused', 'invalid', { header: name }])
    expect(requests).toEqual([])
  })

  it.each([
    ['a line break in a value', 'x-own', 'a\r\nhost: evil.test'],
    ['a line feed in a value', 'x-own', 'a\nb'],
    ['a NUL in a value', 'x-own', 'a\0b'],
    ['a value beyond Latin-1', 'x-own', '→'],
    ['a line break in a name', 'x-own\r\nhost', 'a'],
    ['a colon in a name', 'x:own', 'a'],
    ['an empty name', '', 'a'],
  ])('may not smuggle %s', async (_name, name, value) => {
    expect((await faultOf(client.send({ url: base, headers: { [name]: value } }))).code).toBe('header_refused')
    expect(requests).toEqual([])
  })

  it.each(['CONNECT', 'trace', 'GET / HTTP/1.1\r\nhost: evil.test\r\n\r\nGET', '', 'G ET'])(
    'may not use the method %p',
    async (method) => {
      expect((await faultOf(client.send({ url: base, method }))).code).toBe('method_refused')
      expect(requests).toEqual([])
    },
  )

  it('reuses its connections', async () => {
    const fresh = outboundClient({ policy: { allowPrivate: true, allowHosts: [] } })
    const before = server.accepted()
    for (let turn = 0; turn < 5; turn++) await fresh.send({ url: base })
    // Two rather than one: the pool learns a moment after the answer's end that a connection is free.
    expect(server.accepted() - before).toBeLessThanOrEqual(2)
    await fresh.close()
  })

  it('does not inherit a connection from a client with a laxer policy', async () => {
    await client.send({ url: base })
    const strict = outboundClient({ policy: { allowPrivate: false, allowHosts: [] } })
    expect((await faultOf(strict.send({ url: base }))).code).toBe('address_refused')
    await strict.close()
  })

  it('ends when its caller says so, with the caller’s reason', async () => {
    const stop = new AbortController()
    const reason = new Error('the run was cancelled')
    const waiting = client.send({ url: `${base}/silent`, signal: stop.signal })
    stop.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    await expect(client.send({ url: base, signal: stop.signal })).rejects.toBe(reason)

    const later = new AbortController()
    const { body } = await client.open({ url: `${base}/drip`, signal: later.signal })
    const read = async () => {
      for await (const piece of body) if (String(piece) === 'first') later.abort(reason)
    }
    await expect(read()).rejects.toBe(reason)
  })

  it('is closed when its reader stops reading', async () => {
    const { body, status } = await client.open({ url: `${base}/drip` })
    for await (const piece of body) {
      expect([status, String(piece)]).toEqual([200, 'first'])
      break
    }
    expect(body.destroyed).toBe(true)
  })

  it('to a closed port fails without a reason', async () => {
    const closed = await httpServer(() => undefined)
    await closed.close()
    const host = `127.0.0.1:${String(closed.port)}`
    const fault = await faultOf(client.send({ url: `http://${host}/` }))
    expect([fault.code, fault.kind, fault.message]).toEqual([
      'connection_failed',
      'upstream',
      `The connection to ${host} failed.`,
    ])
  })
})

describe('a call over TLS', () => {
  let certificate: string
  let server: Listening

  beforeAll(async () => {
    const fixture = (name: string) => readFile(new URL(`fixtures/${name}.pem`, import.meta.url), 'utf8')
    certificate = await fixture('certificate')
    server = await listening(
      createServer({ cert: certificate, key: await fixture('key') }, (_request, response) => response.end('sealed')),
    )
  })
  afterAll(() => server.close())

  const call = async (host: string, authorities?: string) => {
    const client = outboundClient({
      policy: { allowPrivate: true, allowHosts: [] },
      resolve: () => Promise.resolve(['127.0.0.1']),
      ...(authorities === undefined ? {} : { authorities }),
    })
    try {
      return await client.send({ url: `https://${host}:${String(server.port)}/` })
    } finally {
      await client.close()
    }
  }

  it.each(['shop.test', 'shop.test.'])('checks the certificate against the name, not the address: %s', async (host) => {
    expect((await call(host, certificate)).body.toString()).toBe('sealed')
  })

  it('refuses a certificate of another name, for an address, and of an unknown authority', async () => {
    const cases = [['other.test', certificate], ['127.0.0.1', certificate], ['shop.test']] as const
    for (const [host, authorities] of cases) {
      const fault = await faultOf(call(host, authorities))
      expect([fault.code, fault.kind]).toEqual(['certificate_refused', 'upstream'])
    }
  })
})
