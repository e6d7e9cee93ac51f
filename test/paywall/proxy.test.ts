import { connect } from 'node:net'
import { createHmac } from 'node:crypto'
import { WebSocket } from 'ws'
import { verifyIdentity } from '../../service/paywall/middleware/index.ts'
import { json, pieceOf, readerOf } from './upstream.ts'
import { openWorld, until, type World } from './world.ts'

describe('the gate as a proxy', () => {
  /*
   * What crosses the gate, in both directions, and what does not. Most of it on free routes: the way is the same.
   */

  let world: World
  let gate: string
  let secret: string
  beforeAll(async () => {
    world = await openWorld({
      environment: {
        GATE_HEADERS_TIMEOUT_MS: '500',
        GATE_BODY_BYTES_MAX: '2000',
        PUBLIC_GATE_URL: 'https://apis.example/gate',
        ALLOW_PRIVATE_CALLBACKS: 'true',
      },
    })
    const paywall = await world.sell(
      [
        { method: '*', path: '/paid/*', pricing: { model: 'per-request', amount: 1 } },
        { method: 'GET', path: '/socket', pricing: { model: 'free' } },
        { method: '*', path: '/*', pricing: { model: 'free' } },
      ],
      { upstreamHeaders: { 'X-Api-Key': 'the upstream key', Authorization: 'Bearer owned' } },
    )
    gate = paywall.gate
    secret = paywall.secret
  })
  afterAll(() => world.close())

  const last = () => world.upstream.requests.at(-1)!

  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
    'passes %s on with its query and body',
    async (method) => {
      const body = method === 'GET' || method === 'OPTIONS' ? undefined : Buffer.from([0, 255, 1, 254])
      const answer = await world.request(`${gate}/a/b%20c?x=1&x=2&y=%2F`, {
        method,
        ...(body === undefined ? {} : { body }),
      })
      expect(answer.status).toBe(200)
      expect(last()).toMatchObject({ method, url: '/a/b%20c?x=1&x=2&y=%2F' })
      expect(last().body).toEqual(body ?? Buffer.alloc(0))
    },
  )

  it('streams a large body through in both directions at once', async () => {
    const body = Buffer.alloc(8_000_000, 'x')
    world.upstream.mirrors('/mirror')
    const response = await fetch(`${gate}/mirror`, { method: 'POST', body })
    expect(response.status).toBe(200)
    expect(Buffer.from(await response.arrayBuffer()).equals(body)).toBe(true)
  })

  it('sends the owner’s headers, and no header that forges the client', async () => {
    await world.request(`${gate}/headers`, {
      headers: {
        authorization: 'Bearer mine',
        cookie: 'coinslot.session_token=secret',
        'x-forwarded-for': '1.2.3.4',
        'x-forwarded-user': 'admin',
        'x-real-ip': '1.2.3.4',
        forwarded: 'for=1.2.3.4',
        'cf-connecting-ip': '1.2.3.4',
        'coinslot-payment': 'v1.forged.forged',
        'x-payment-payer': `0x${'1'.repeat(40)}`,
        'x-api-key': 'mine',
        'x-mine': 'kept',
        'user-agent': 'a client',
      },
    })
    const { headers } = last()
    expect(headers).toMatchObject({
      authorization: 'Bearer owned',
      'x-api-key': 'the upstream key',
      'x-mine': 'kept',
      'user-agent': 'a client',
      'x-forwarded-for': expect.stringMatching(/127\.0\.0\.1$/),
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'apis.example',
      via: '1.1 coinslot',
    })
    for (const name of [
      'cookie',
      'x-forwarded-user',
      'x-real-ip',
      'forwarded',
      'cf-connecting-ip',
      'x-payment-payer',
    ]) {
      expect(headers[name]).toBeUndefined()
    }
    expect(headers.host).toBe(new URL(world.upstream.url).host)
    const identity = verifyIdentity(String(headers['coinslot-payment']), secret, { method: 'GET', path: '/headers' })
    expect(identity).toMatchObject({ payer: null, payment: null, pricing: 'free', state: 'free' })
    expect(verifyIdentity(String(headers['coinslot-payment']), secret, { method: 'GET', path: '/other' })).toBeNull()
    const forged = Buffer.from('{}').toString('base64url')
    const wrong = createHmac('sha256', 'another').update(`v1.${forged}`).digest('base64url')
    expect(verifyIdentity(`v1.${forged}.${wrong}`, secret, { method: 'GET', path: '/headers' })).toBeNull()
  })

  it('sends its own public address as the host, whatever host the client sends', async () => {
    const { hostname, port, pathname } = new URL(`${gate}/named`)
    const lines = [
      `GET ${pathname} HTTP/1.1`,
      ...[
        'Host: evil.example',
        'X-Forwarded-Host: evil.example',
        'X-Forwarded-Proto: https',
        'Forwarded: host=evil.example',
      ],
      ...['Connection: close', '', ''],
    ]
    const socket = connect(Number(port), hostname)
    socket.write(lines.join('\r\n'))
    let answer = ''
    for await (const chunk of socket) answer += String(chunk)
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    const { url, headers } = last()
    expect(url).toBe('/named')
    expect(headers).toMatchObject({ 'x-forwarded-host': 'apis.example', 'x-forwarded-proto': 'https' })
    expect(headers.forwarded).toBeUndefined()
  })

  it('does not forward a key of this service on a free route, but forwards other keys', async () => {
    const other = await world.sell([{ path: '/*', pricing: { model: 'free' } }])
    await world.request(`${other.gate}/x`, { headers: { authorization: `Bearer ${world.seller.key}` } })
    expect(last().headers.authorization).toBeUndefined()
    await world.request(`${other.gate}/x`, { headers: { authorization: 'Bearer theirs' } })
    expect(last().headers.authorization).toBe('Bearer theirs')
  })

  it("removes an upstream's cookies, scripts and browser policies", async () => {
    world.upstream.on('/page', (_request, response) => {
      response.writeHead(200, {
        'content-type': 'text/html',
        'set-cookie': ['coinslot.session_token=x; Path=/', 'b=1'],
        'content-security-policy': "default-src 'unsafe-inline'",
        'strict-transport-security': 'max-age=1',
        'clear-site-data': '"*"',
        'service-worker-allowed': '/',
        'access-control-allow-origin': 'https://theirs.example',
        'x-request-id': 'theirs',
        'x-payment-balance': '1000000',
        connection: 'x-hop',
        'x-hop': '1',
        'x-theirs': 'kept',
        link: ['<a>; rel=x', '<b>; rel=y'],
      })
      response.end('<script>alert(1)</script>')
    })
    const { headers } = await world.request(`${gate}/page`)
    expect(headers.get('set-cookie')).toBeNull()
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    for (const name of [
      'strict-transport-security',
      'clear-site-data',
      'service-worker-allowed',
      'x-hop',
      'x-payment-balance',
    ]) {
      expect(headers.get(name)).toBeNull()
    }
    expect(headers.get('access-control-allow-origin')).toBe('https://theirs.example')
    expect(headers.get('x-request-id')).toMatch(/^req_/)
    expect(headers.get('x-theirs')).toBe('kept')
    expect(headers.get('link')).toBe('<a>; rel=x, <b>; rel=y')
  })

  it('allows requests from every origin, without credentials', async () => {
    const preflight = await world.request(`${gate}/paid/x`, {
      method: 'OPTIONS',
      headers: { 'access-control-request-method': 'POST', 'access-control-request-headers': 'payment-signature' },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
    expect(preflight.headers.get('access-control-allow-headers')).toBe('payment-signature')
    const unpaid = await world.request(`${gate}/paid/x`, { headers: { origin: 'https://elsewhere.example' } })
    expect(unpaid.status).toBe(402)
    expect(unpaid.headers.get('access-control-expose-headers')).toBe('*')
  })

  it('passes compressed answers and trailers on as they are', async () => {
    world.upstream.on('/trailers', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', trailer: 'x-checksum, x-payment-balance' })
      response.write('body')
      response.addTrailers({ 'x-checksum': 'abc', 'x-payment-balance': '1000' })
      response.end()
    })
    const raw = await talk(`GET /gate/${slug()}/trailers HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    expect(raw).toMatch(/body\r\n0\r\nx-checksum: abc/i)
    // What a payer has left is the gate's to say.
    expect(raw).not.toContain('1000')
  })

  it('passes events on as they come, and closes when their reader does', async () => {
    let closed = false
    world.upstream.on('/events', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: first\n\n')
      response.on('close', () => (closed = true))
    })
    const controller = new AbortController()
    const response = await fetch(`${gate}/events`, { signal: controller.signal })
    const reader = readerOf(response)
    expect(await pieceOf(reader)).toBe('data: first\n\n')
    controller.abort()
    await until(() => closed)
  })

  it('forwards WebSockets, and refuses unpaid ones', async () => {
    const socket = new WebSocket(`${gate.replace('http', 'ws')}/socket?room=1`)
    await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject))
    const echoed = new Promise((resolve) => socket.on('message', (data: Buffer) => resolve(data.toString())))
    socket.send('hello')
    expect(await echoed).toBe('echo hello')
    expect(last()).toMatchObject({ url: '/socket?room=1' })
    expect(last().headers['coinslot-payment']).toMatch(/^v1\./)
    socket.close()
    const unpaid = new WebSocket(`${gate.replace('http', 'ws')}/paid/socket`)
    const refused = await new Promise((resolve) =>
      unpaid
        .on('unexpected-response', (_request, response) => resolve(response.statusCode))
        .on('error', () => undefined),
    )
    expect(refused).toBe(402)
  })

  it('serves clients that offer another protocol as if they had not', async () => {
    const body = '{"a":1}'
    const raw = await talk(
      `POST /gate/${slug()}/h2c HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n` +
        `HTTP2-Settings: AAMAAABk\r\nContent-Length: ${String(body.length)}\r\n\r\n${body}`,
      /"body":/,
    )
    expect(raw).toMatch(/^HTTP\/1\.1 200/)
    expect(last()).toMatchObject({ method: 'POST', url: '/h2c' })
    expect(last().body.toString()).toBe(body)
    expect(last().headers.upgrade).toBeUndefined()
    expect(await talk('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n', /ok/)).toMatch(
      / 200 /,
    )
  })

  it.each([
    ['two lengths', 'Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello'],
    [
      'a length and chunks',
      'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /paid/x HTTP/1.1\r\n\r\n',
    ],
    ['chunks in disguise', 'Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n'],
    ['chunks twice over', 'Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n'],
    ['a folded header', 'X-A: b\r\n Transfer-Encoding: chunked\r\nContent-Length : 3\r\n\r\nabc'],
    ['a bare line feed', 'X-A: b\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a header name with a space', 'Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n'],
  ])('refuses a request that could hide a second one with %s', async (_what, rest) => {
    const before = world.upstream.requests.length
    const raw = await talk(`POST /gate/${slug()}/smuggle HTTP/1.1\r\nHost: x\r\n${rest}`)
    expect(raw).toMatch(/^HTTP\/1\.1 400/)
    expect(world.upstream.requests).toHaveLength(before)
  })

  it('answers 431 to oversized headers, without a request to the upstream', async () => {
    const before = world.upstream.requests.length
    const raw = await talk(`GET /gate/${slug()}/big HTTP/1.1\r\nHost: x\r\nX-Payment: ${'A'.repeat(20_000)}\r\n\r\n`)
    expect(raw).toMatch(/^HTTP\/1\.1 431/)
    expect(world.upstream.requests).toHaveLength(before)
  })

  it.each([
    ['/PAID/x', 402],
    ['/paid/x/', 402],
    ['/%70aid/x', 402],
    ['/paid;a=b/x', 402],
    ['/paid/..%2fx', 400],
    ['/free/../paid/x', 400],
    ['/free/%2e%2e/paid/x', 400],
    ['/free/..;/paid/x', 400],
    ['//paid/x', 400],
    ['/./paid/x', 400],
    ['/paid%2fx', 400],
    ['/paid%5cx', 400],
    ['/%00paid/x', 400],
    ['/%zz', 400],
    ['/paid/x#', 400],
    ['/free#/../paid/x', 400],
  ])('finds no way around the price by %s', async (path, status) => {
    const before = world.upstream.requests.length
    const raw = await talk(`GET /gate/${slug()}${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    expect(raw).toMatch(new RegExp(`^HTTP/1\\.1 ${String(status)}`))
    expect(world.upstream.requests).toHaveLength(before)
  })

  it('answers 404 for paths without a route, and for an unknown paywall', async () => {
    const narrow = await world.sell([{ path: '/only/:id', pricing: { model: 'free' } }])
    expect((await world.request(`${narrow.gate}/only/1`)).status).toBe(200)
    expect((await world.request(`${narrow.gate}/only/1`, { method: 'HEAD' })).status).toBe(200)
    for (const path of ['/', '/only', '/only/1/2', '/other']) {
      expect(await world.request(narrow.gate + path)).toMatchObject({ status: 404, body: { code: 'route_not_found' } })
    }
    expect((await world.request(`${narrow.gate}/only/1`, { method: 'POST' })).status).toBe(404)
    expect((await world.request(`${world.service.origin}/gate/none/x`)).body.code).toBe('paywall_not_found')
    expect((await world.request(`${world.service.origin}/gate/payments/pay_x`)).body.code).toBe('payment_not_found')
  })

  it('calls no upstream at a forbidden address, also not one that moved there, and does not follow redirects', async () => {
    const created = await world.seller.call('POST', '/v1/paywalls', {
      body: {
        slug: 'metadata',
        name: 'x',
        upstreamUrl: 'http://169.254.169.254',
        network: 'base-sepolia',
        recipient: world.recipient,
        routes: [{ method: 'GET', path: '/*', pricing: { model: 'free' } }],
      },
    })
    expect(created).toMatchObject({ status: 400, body: { details: { upstreamUrl: expect.any(String) } } })
    world.upstream.on('/moved', (_request, response) => {
      response.writeHead(302, { location: 'http://169.254.169.254/' }).end()
    })
    const moved = await world.request(`${gate}/moved`, { redirect: 'manual' })
    expect(moved.status).toBe(302)
    expect(moved.headers.get('location')).toBe('http://169.254.169.254/')
  })

  it('answers 504 when the upstream is silent, and 502 when it is the gate itself', async () => {
    world.upstream.on('/silent', () => undefined)
    expect(await world.request(`${gate}/silent`)).toMatchObject({ status: 504, body: { code: 'upstream_timeout' } })
    const loop = await world.sell([{ path: '/*', pricing: { model: 'free' } }], {
      slug: 'loop',
      upstreamUrl: `${world.service.origin}/gate/loop`,
    })
    expect(await world.request(`${loop.gate}/x`)).toMatchObject({ status: 502, body: { code: 'gate_loop' } })
  })

  it('pauses and ends', async () => {
    const paywall = await world.sell([{ path: '/*', pricing: { model: 'free' } }])
    await world.seller.call('PATCH', `/v1/paywalls/${paywall.id}`, { body: { status: 'paused' } })
    world.service.clock.forward(2_000)
    expect(await world.request(`${paywall.gate}/x`)).toMatchObject({ status: 503, body: { code: 'paywall_paused' } })
    await world.seller.call('DELETE', `/v1/paywalls/${paywall.id}`)
    world.service.clock.forward(2_000)
    expect((await world.request(`${paywall.gate}/x`)).status).toBe(404)
  })

  it('simulates payments with the owner’s token in test mode, and takes no money there', async () => {
    const paywall = await world.sell(
      [
        { path: '/one', pricing: { model: 'per-request', amount: 0.05 } },
        { path: '/tokens', pricing: { model: 'per-token', input: 0.001, output: 0.001, minimum: 0.001, maximum: 1 } },
      ],
      { testMode: true, recipient: null, network: 'base' },
    )
    world.upstream.on('/tokens', (_request, response) => {
      json(response, 200, { usage: { prompt_tokens: 5_000, completion_tokens: 0 } })
    })
    const token = paywall.paywall.testToken as string
    expect(token).toMatch(/^test_/)
    const unpaid = await world.request(`${paywall.gate}/one`)
    expect(unpaid).toMatchObject({ status: 402, body: { testMode: true, accepts: [], amount: '0.05' } })
    const paid = await world.request(`${paywall.gate}/one`, { headers: { 'x-payment-token': token } })
    expect(paid.status).toBe(200)
    expect(paid.headers.get('coinslot-test')).toBe('true')
    const id = paid.headers.get('x-payment-id')!
    expect((await world.service.paywalls.payment(id)).txHash).toBe(`simulated:${id}`)
    expect((await world.request(`${paywall.gate}/tokens`, { headers: { 'x-payment-token': token } })).status).toBe(200)
    expect((await world.request(`${paywall.gate}/one`, { headers: { 'x-payment-token': 'test_wrong' } })).status).toBe(
      400,
    )
    const { body } = await world.seller.call('GET', `/v1/paywalls/${paywall.id}/payments`)
    expect((body.payments as { amount: number; payer: string }[]).map(({ amount, payer }) => [amount, payer])).toEqual([
      [0.005, `0x${'0'.repeat(40)}`],
      [0.05, `0x${'0'.repeat(40)}`],
    ])
    expect((await world.seller.call('GET', `/v1/paywalls/${paywall.id}/analytics`)).body.analytics.revenue).toBe(0)
  })

  it('has an origin of its own where one is configured, and changes nothing else there', async () => {
    const apart = await openWorld({
      environment: { PUBLIC_GATE_URL: 'http://gates.test:9', ALLOW_PRIVATE_CALLBACKS: 'true' },
    })
    try {
      const paywall = await apart.sell([{ path: '/*', pricing: { model: 'free' } }])
      expect(paywall.paywall.url).toBe('http://gates.test:9/api-1')
      const port = Number(new URL(apart.service.origin).port)
      const reply = await talk(
        'GET /api-1/x HTTP/1.1\r\nHost: gates.test:9\r\nConnection: close\r\n\r\n',
        undefined,
        port,
      )
      expect(reply).toMatch(/^HTTP\/1\.1 200[^]*"url":"\/x"/)
      expect((await apart.service.call('GET', '/healthz')).status).toBe(200)
      expect((await apart.seller.call('GET', '/v1/paywalls')).body.total).toBe(1)
    } finally {
      await apart.close()
    }
  })

  it("limits the body's size on a paid route", async () => {
    const paywall = await world.sell([{ method: 'POST', path: '/x', pricing: { model: 'per-request', amount: 1 } }], {
      testMode: true,
    })
    const headers = { 'x-payment-token': String(paywall.paywall.testToken) }
    const post = (bytes: number) =>
      world.request(`${paywall.gate}/x`, { method: 'POST', headers, body: 'x'.repeat(bytes) })
    expect((await post(2_000)).status).toBe(200)
    expect(await post(2_001)).toMatchObject({ status: 413, body: { code: 'body_too_large' } })
  })

  const slug = (): string => new URL(gate).pathname.split('/').at(-1)!

  /** Says these very bytes, and hears until the other side hangs up or has said what is waited for. */
  function talk(text: string, enough?: RegExp, port = Number(new URL(world.service.origin).port)): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(text))
      let received = ''
      socket.on('data', (chunk: Buffer) => {
        received += chunk.toString()
        if (enough?.test(received) === true) socket.destroy()
      })
      socket.on('close', () => resolve(received))
      socket.on('error', reject)
    })
  }
})
