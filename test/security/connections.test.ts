import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import express, { type Express } from 'express'
import { Agent, request } from 'undici'
import { listen, type ConnectionLimits, type RunningServer } from '../../service/api/server.ts'
import { testService, type TestPerson, type TestService } from '../harness/service.ts'

/** Raw bytes, without a client that would correct them or wait for its turn. */
describe('connections', () => {
  let service: TestService
  let person: TestPerson
  const running: RunningServer[] = []
  const sockets: Socket[] = []

  beforeAll(async () => {
    service = await testService({ BODY_BYTES_MAX: '4096', RATE_API_PER_MINUTE: '0' })
    person = await service.person()
  })
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy()
    await Promise.all(running.splice(0).map((server) => server.drain(0)))
  })
  afterAll(() => service.close())

  describe('that are slow', () => {
    test.each([
      ['says nothing at all', ''],
      ['never ends its headers', 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: '],
      ['never ends its first line', 'GET /'],
    ])('one that %s gets 408, and is closed', async (_, sent) => {
      const port = await serve({ headersMs: 150, requestMs: 60_000 })
      expectRefused(await whole(open(port, sent)), 408, 'request_timeout')
    })

    test('one that never ends its body gets 408, too', async () => {
      const port = await serve({ headersMs: 150, requestMs: 150 })
      const sent = post('/v1/wallet/deposit', ['Content-Length: 100']) + '{"amount"'
      expectRefused(await whole(open(port, sent)), 408, 'request_timeout')
    })

    test('one that sends a byte now and then gets 408, too', async () => {
      const port = await serve({ headersMs: 200, requestMs: 400 })
      const socket = open(port, post('/v1/wallet/deposit', ['Transfer-Encoding: chunked']))
      const drip = setInterval(() => socket.write('1\r\nx\r\n'), 20)
      expectRefused(await whole(socket).finally(() => clearInterval(drip)), 408, 'request_timeout')
    })

    test('one that reads nothing is closed', async () => {
      const port = await serve({ idleMs: 150 }, (app) => {
        app.get('/endless', (_request, response) => {
          const more = (): void => {
            while (response.write('x'.repeat(65_536)));
          }
          response.on('drain', more)
          response.once('close', () => app.emit('left'))
          more()
        })
      })
      const left = once(app(), 'left')
      const socket = open(port, 'GET /endless HTTP/1.1\r\nHost: x\r\n\r\n')
      socket.pause()
      await left
    })

    test('an idle one is closed', async () => {
      const port = await serve({ keepAliveMs: 50 })
      const socket = open(port, 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
      expect(await whole(socket)).toMatch(/^HTTP\/1.1 200 /)
    })
  })

  describe('that are many', () => {
    test('are refused beyond the limit, while the open ones are served', async () => {
      const port = await serve({ connections: 3 })
      const sockets = [open(port), open(port), open(port)]
      await Promise.all(sockets.map((socket) => once(socket, 'connect')))
      expect(await whole(open(port, 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'))).toBe('')
      const [first] = sockets
      first!.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
      expect(await whole(first!)).toMatch(/^HTTP\/1.1 200 /)
      expect(await whole(open(port, 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'))).toMatch(/ 200 /)
    })

    test('pipelined requests are answered in their order', async () => {
      const port = await serve()
      const paths = Array.from({ length: 20 }, (_, place) => (place % 2 === 0 ? '/healthz' : '/nothing'))
      const requests = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
      const last = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
      const statuses = statusesOf(await whole(open(port, requests.join('') + last)))
      expect(statuses).toEqual([...paths.map((path) => (path === '/healthz' ? 200 : 404)), 200])
    })

    test('one connection has a limited number of requests', async () => {
      const port = await serve({ requestsPerConnection: 5, keepAliveMs: 50 })
      const requests = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(50)
      const received = await whole(open(port, requests))
      // The fifth response announces the end of the connection; requests that did not wait for it are refused
      // unprocessed.
      expect(statusesOf(received)).toEqual([...Array<number>(5).fill(200), ...Array<number>(45).fill(503)])
      expect(received.match(/x-request-id: req_/gi)).toHaveLength(5)
    })

    test.each(['2025-11-25', '2026-07-28'])(
      'an MCP %s client gets every answer across the limit of requests per connection',
      async (version) => {
        const port = await serve({ requestsPerConnection: 3 })
        const agent = new Agent({ connections: 1, pipelining: 1 })
        const statuses: number[] = []
        const _meta = {
          'io.modelcontextprotocol/protocolVersion': version,
          'io.modelcontextprotocol/clientCapabilities': {},
          'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        }
        for (let count = 0; count < 8; count++) {
          const answer = await request(`http://127.0.0.1:${String(port)}/tools/mcp`, {
            method: 'POST',
            dispatcher: agent,
            headers: {
              ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
              ...{ 'mcp-protocol-version': version, 'mcp-method': 'tools/list' },
            },
            body: JSON.stringify({
              ...{ jsonrpc: '2.0', id: 1, method: 'tools/list' },
              params: version === '2025-11-25' ? {} : { _meta },
            }),
          })
          await answer.body.dump()
          statuses.push(answer.statusCode)
        }
        await agent.close()
        expect(statuses).toEqual(Array<number>(8).fill(200))
      },
    )
  })

  describe('that are too large', () => {
    test.each([
      ['a header', `GET /healthz HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`],
      ['headers', `GET /healthz HTTP/1.1\r\nHost: x\r\n${'X-Many: x\r\n'.repeat(4_000)}\r\n`],
      ['an address', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ])('%s beyond the limit: 431', async (_, sent) => {
      expectRefused(await whole(open(await serve(), sent)), 431, 'headers_too_large')
    })

    test('a body beyond the limit gets 413, and its rest is not read as a request', async () => {
      const smuggled = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'
      const body = 'x'.repeat(5_000) + smuggled
      const sent = post('/v1/wallet/deposit', [`Content-Length: ${String(body.length)}`]) + body
      const port = await serve({ keepAliveMs: 50 })
      expect(statusesOf(await whole(open(port, sent)))).toEqual([413])
    })

    test('a body for a route without one is not read as a request', async () => {
      const smuggled = 'GET /v1/nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
      const first = `GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: ${String(smuggled.length)}\r\n\r\n`
      const port = await serve({ keepAliveMs: 50 })
      expect(statusesOf(await whole(open(port, first + smuggled)))).toEqual([200])
    })
  })

  /** Two parsers of one byte stream that see different requests in it: each of these is refused as a whole. */
  describe('that are ambiguous', () => {
    const NEXT = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'
    const chunks = `0\r\n\r\n${NEXT}`
    const shapes: Readonly<Record<string, string>> = {
      'a length and chunks': post('/v1/wallet/deposit', ['Content-Length: 5', 'Transfer-Encoding: chunked']) + chunks,
      'chunks and a length': post('/v1/wallet/deposit', ['Transfer-Encoding: chunked', 'Content-Length: 5']) + chunks,
      'two lengths': post('/v1/wallet/deposit', ['Content-Length: 5', 'Content-Length: 6']) + `{"a"}${NEXT}`,
      'two lengths in one': post('/v1/wallet/deposit', ['Content-Length: 5, 5']) + `{"a"}${NEXT}`,
      'a length with a sign': post('/v1/wallet/deposit', ['Content-Length: +5']) + `{"a"}${NEXT}`,
      'a length in hexadecimal': post('/v1/wallet/deposit', ['Content-Length: 0x5']) + `{"a"}${NEXT}`,
      'a length below zero': post('/v1/wallet/deposit', ['Content-Length: -5']) + NEXT,
      'a length without end': post('/v1/wallet/deposit', [`Content-Length: ${'9'.repeat(30)}`]) + NEXT,
      'a coding that is nearly chunked': post('/v1/wallet/deposit', ['Transfer-Encoding: xchunked']) + chunks,
      'chunked, but not last': post('/v1/wallet/deposit', ['Transfer-Encoding: chunked, gzip']) + chunks,
      'a space before the colon': post('/v1/wallet/deposit', ['Transfer-Encoding : chunked']) + chunks,
      'a tab before the name': post('/v1/wallet/deposit', ['\tTransfer-Encoding: chunked']) + chunks,
      'a folded header': post('/v1/wallet/deposit', ['Transfer-Encoding:\r\n chunked']) + chunks,
      'a name with NUL': post('/v1/wallet/deposit', ['Transfer-Encoding\u0000: chunked']) + chunks,
      'a value with NUL': post('/v1/wallet/deposit', ['X-Nul: a\u0000b']) + NEXT,
      'a bare return in a value': post('/v1/wallet/deposit', ['X-Return: a\rTransfer-Encoding: chunked']) + chunks,
      'a chunk’s size with a sign': `${post('/v1/wallet/deposit', ['Transfer-Encoding: chunked'])}+5\r\n{"a"}\r\n${chunks}`,
      'a chunk’s size with 0x': `${post('/v1/wallet/deposit', ['Transfer-Encoding: chunked'])}0x5\r\n{"a"}\r\n${chunks}`,
      'a chunk’s size beyond 64 bits': `${post('/v1/wallet/deposit', ['Transfer-Encoding: chunked'])}ffffffffffffffff1\r\n${NEXT}`,
      'a chunk without its end': `${post('/v1/wallet/deposit', ['Transfer-Encoding: chunked'])}5\r\n{"a"}5\r\n${chunks}`,
      'two hosts': `GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n${NEXT}`,
      'no host': `GET /healthz HTTP/1.1\r\n\r\n${NEXT}`,
      'no version': `GET /healthz\r\n\r\n${NEXT}`,
      'another version': `GET /healthz HTTP/3.0\r\nHost: x\r\n\r\n${NEXT}`,
      'the preface of HTTP/2': `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${NEXT}`,
      TLS: '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003',
    }
    test.each(Object.entries(shapes))('%s', async (_, sent) => {
      expectRefused(await whole(open(await serve(), sent)), 400, 'bad_request')
    })

    test('a proxy request is refused', async () => {
      const received = await whole(open(await serve(), 'CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n'))
      expectRefused(received, 405, 'method_not_allowed')
    })

    test('an unknown expectation gets 417', async () => {
      const sent = post('/v1/wallet/deposit', ['Content-Length: 2', 'Expect: a-pony']) + '{}'
      expectRefused(await whole(open(await serve(), sent)), 417, 'expectation_failed')
    })

    test('a client that leaves in the middle of a body causes no error', async () => {
      const port = await serve()
      const socket = open(port, post('/v1/wallet/deposit', ['Content-Length: 100']) + '{"amount"')
      await once(socket, 'connect')
      socket.end()
      await whole(socket)
      const next = await whole(open(port, 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'))
      expect(statusesOf(next)).toEqual([200])
    })
  })

  describe('that are upgraded', () => {
    const refusedUpgrade =
      'GET /gate/nothing/x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
    test.each([
      ['a proxy', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', 405],
      ['a WebSocket', refusedUpgrade, 404],
    ])('%s that is refused ends, however much data follows', async (_, sent, status) => {
      const port = await serve()
      const socket = open(port, sent + 'x'.repeat(200_000))
      socket.once('data', () => socket.end())
      expect(statusesOf(await whole(socket))).toEqual([status])
    })

    test('one still sending when the server stops is closed at the deadline', async () => {
      const port = await serve({}, (app) => {
        app.locals['upgrades'] = [
          { path: '/talk', handler: (_request: unknown, socket: Socket) => socket.write('hello') },
        ]
      })
      const socket = open(port, 'GET /talk/x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
      await once(socket, 'data')
      await running.pop()!.drain(20)
    })
  })

  let front: Express | null = null
  function app(): Express {
    return (front ??= express())
  }

  /** The same service at an address of its own, with limits as a test needs them. */
  async function serve(limits: Partial<ConnectionLimits> = {}, prepare?: (app: Express) => void): Promise<number> {
    front = null
    prepare?.(app())
    app().use(service.app)
    app().locals['upgrades'] ??= service.app.locals['upgrades']
    const server = await listen(app(), 0, '127.0.0.1', limits)
    running.push(server)
    return server.port
  }

  function open(port: number, sent = ''): Socket {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    sockets.push(socket)
    if (sent !== '') socket.write(Buffer.from(sent, 'latin1'))
    return socket
  }

  function post(path: string, headers: readonly string[]): string {
    const lines = [
      'Host: x',
      `Authorization: Bearer ${person?.key ?? 'none'}`,
      'Content-Type: application/json',
      ...headers,
    ]
    return `POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`
  }
})

/** All bytes until the other side closed the connection. */
async function whole(socket: Socket): Promise<string> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  // Not `once` of events, which rejects at an error: a reset is a normal end here.
  await new Promise((resolve) => socket.once('close', resolve))
  return Buffer.concat(chunks).toString()
}

function statusesOf(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
}

/** One response in the service's own format, and then the end: no byte after it was taken for a request. */
function expectRefused(received: string, status: number, code: string): void {
  expect([statusesOf(received), received.slice(0, 500)]).toEqual([[status], expect.any(String)])
  expect(received).toMatch(/^connection: close\r$/im)
  const [head = '', body = ''] = received.split('\r\n\r\n')
  expect(JSON.parse(body)).toMatchObject({ error: expect.any(String), code, requestId: expect.stringMatching(/^req_/) })
  expect(head.toLowerCase()).toContain('x-request-id: req_')
}
