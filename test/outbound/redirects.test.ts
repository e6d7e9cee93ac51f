import type { IncomingMessage } from 'node:http'
import { outboundClient, type Outbound } from '../../service/outbound/client.ts'
import { faultOf } from './fault.ts'
import { httpServer, type Listening } from './servers.ts'

describe('a redirect', () => {
  let requests: {
    method: string | undefined
    url: string | undefined
    headers: IncomingMessage['headers']
    body: string
  }[]
  let good: Listening
  let victim: Listening
  let client: Outbound
  let base: string

  beforeAll(async () => {
    victim = await httpServer((_request, response) => response.end('the inner service'))
    good = await httpServer((request, response) => {
      let body = ''
      request.setEncoding('utf8')
      request.on('data', (text: string) => (body += text))
      request.on('end', () => {
        const { method, url = '', headers } = request
        requests.push({ method, url, headers, body })
        const [, status, location] = /^\/(\d{3})\?(.*)$/.exec(url) ?? []
        if (status === undefined || location === undefined) response.end(`arrived at ${url}`)
        else response.writeHead(Number(status), { location: decodeURIComponent(location) }).end('moved')
      })
    })
    // Both names lead to the one good server; the policy knows nothing of the victim.
    const port = String(good.port)
    client = outboundClient({
      policy: { allowPrivate: false, allowHosts: [`good.test:${port}`, `other.test:${port}`] },
      resolve: () => Promise.resolve(['127.0.0.1']),
    })
    base = `http://good.test:${port}`
  })
  beforeEach(() => (requests = []))
  afterAll(async () => {
    await client.close()
    await good.close()
    await victim.close()
  })

  const via = (status: number, location: string) => `${base}/${String(status)}?${encodeURIComponent(location)}`

  it.each([301, 302, 303, 307, 308])('is an error by default: %i', async (status) => {
    const fault = await faultOf(client.send({ url: via(status, '/next') }))
    expect([fault.code, fault.kind, fault.fields['status']]).toEqual(['redirect_refused', 'upstream', status])
    expect(requests).toHaveLength(1)
  })

  it('is returned to callers that pass it on', async () => {
    const answer = await client.send({ url: via(302, 'http://127.0.0.1/'), redirects: 'pass' })
    expect([answer.status, answer.headers['location'], answer.body.toString()]).toEqual([
      302,
      'http://127.0.0.1/',
      'moved',
    ])
    expect(requests).toHaveLength(1)
  })

  it.each([
    ['loopback', () => `http://127.0.0.1:${String(victim.port)}/`],
    ['loopback, decimal', () => `http://2130706433:${String(victim.port)}/`],
    ['loopback, octal', () => `http://0177.0.0.1:${String(victim.port)}/`],
    ['loopback, without a scheme', () => `//127.0.0.1:${String(victim.port)}/`],
    ['loopback, by a name', () => `http://inner.test:${String(victim.port)}/`],
    ['another port of an allowed host', () => `http://good.test:${String(victim.port)}/`],
    ['IPv6 loopback', () => `http://[::1]:${String(victim.port)}/`],
    ['IPv4-mapped loopback', () => `http://[::ffff:127.0.0.1]:${String(victim.port)}/`],
    ['metadata', () => 'http://169.254.169.254/latest/meta-data/'],
    ['credentials', () => `http://user:password@good.test:${String(good.port)}/`],
    ['a file', () => 'file:///etc/passwd'],
    ['gopher', () => `gopher://127.0.0.1:${String(victim.port)}/_x`],
    ['data', () => 'data:text/plain,hello'],
    ['no URL', () => 'http://[::1'],
  ])('is judged like a first call: to %s', async (_name, location) => {
    const fault = await faultOf(client.send({ url: via(302, location()), redirects: 5 }))
    expect([fault.code, fault.kind]).toEqual(['redirect_refused', 'upstream'])
    expect(fault.message).toMatch(/^good\.test:\d+ answered with a redirect that cannot be followed: /)
    expect(fault.message).not.toMatch(/127|inner|password|169/)
    expect(victim.accepted()).toBe(0)
  })

  it('is judged on every hop, and the hops are counted', async () => {
    const twice = via(302, via(302, `http://127.0.0.1:${String(victim.port)}/`))
    expect((await faultOf(client.send({ url: twice, redirects: 5 }))).code).toBe('redirect_refused')
    expect(victim.accepted()).toBe(0)
    expect((await client.send({ url: via(302, via(302, '/end')), redirects: 2 })).body.toString()).toBe(
      'arrived at /end',
    )
    expect((await faultOf(client.send({ url: via(302, via(302, '/end')), redirects: 1 }))).code).toBe(
      'redirect_refused',
    )
  })

  it('in a circle ends', async () => {
    const circle = await httpServer((_request, response) => response.writeHead(302, { location: '/' }).end())
    const open = outboundClient({ policy: { allowPrivate: true, allowHosts: [] } })
    const fault = await faultOf(open.send({ url: `http://127.0.0.1:${String(circle.port)}/`, redirects: 10 }))
    expect(fault.code).toBe('redirect_refused')
    await open.close()
    await circle.close()
  })

  const secrets = { authorization: 'Bearer x', cookie: 'a=b', 'x-api-key': 'x', 'webhook-signature': 'v1,x' }

  it('keeps method, body and headers on the same origin', async () => {
    await client.send({ url: via(307, '/next'), method: 'POST', body: 'hello', headers: secrets, redirects: 1 })
    expect(requests[1]).toMatchObject({ method: 'POST', url: '/next', body: 'hello', headers: secrets })
  })

  it('drops every header that the caller gave on another', async () => {
    const other = `http://other.test:${String(good.port)}/next`
    await client.send({ url: via(302, other), headers: secrets, redirects: 1 })
    expect(requests[0]?.headers).toMatchObject(secrets)
    expect(Object.keys(requests[1]?.headers ?? {}).sort()).toEqual([
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
    ])
  })

  it.each([307, 308])('carries no body to another: %i', async (status) => {
    const other = `http://other.test:${String(good.port)}/next`
    const fault = await faultOf(client.send({ url: via(status, other), method: 'POST', body: 'hello', redirects: 1 }))
    expect(fault.code).toBe('redirect_refused')
    expect(requests).toHaveLength(1)
  })

  it.each([
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [303, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [303, 'HEAD', 'HEAD'],
    [302, 'PUT', 'PUT'],
    [307, 'POST', 'POST'],
    [308, 'DELETE', 'DELETE'],
  ])('%i of a %s sends a %s', async (status, method, next) => {
    const body = method === 'HEAD' ? {} : { body: 'hello', headers: { 'content-type': 'text/plain' } }
    await client.send({ url: via(status, '/next'), method, redirects: 1, ...body })
    expect(requests[1]?.method).toBe(next)
    const keepsBody = next === method && method !== 'HEAD'
    expect([requests[1]?.body, requests[1]?.headers['content-type']]).toEqual(
      keepsBody ? ['hello', 'text/plain'] : ['', undefined],
    )
  })
})
