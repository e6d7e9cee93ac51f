import type { Socket } from 'node:net'
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import { outboundClient, type Outbound } from '../../service/outbound/client.ts'
import type { OutboundRequest } from '../../service/outbound/model.ts'
import { faultOf } from './fault.ts'
import { heldDuring } from './memory.ts'
import { pour, rawServer, type Listening } from './servers.ts'

const MB = 1_048_576
const ZEROS = Buffer.alloc(100 * MB)
const GZIP_BOMB = gzipSync(ZEROS, { level: 9 })
const BROTLI_BOMB = brotliCompressSync(ZEROS, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
const HALF_GZIP = gzipSync(Buffer.from('hello '.repeat(1000))).subarray(0, 40)
const PIECE = Buffer.alloc(65_536, 'x')

type Expected = readonly [code: string, kind: string]
interface Trick {
  readonly name: string
  readonly answer: (socket: Socket) => void
  readonly expected: Expected
  readonly request?: Partial<OutboundRequest>
}

const TOO_LARGE: Expected = ['response_too_large', 'upstream']
const TOO_LATE: Expected = ['response_timeout', 'late']
const INVALID: Expected = ['response_invalid', 'upstream']
const BROKEN: Expected = ['connection_failed', 'upstream']
const UNDECODABLE: Expected = ['response_undecodable', 'upstream']

const TRICKS: readonly Trick[] = [
  {
    name: 'a body of 100 MB that is announced',
    answer: (socket) => {
      socket.write(head('content-length: 104857600'))
      pour(socket, PIECE, 1600)
    },
    expected: TOO_LARGE,
  },
  {
    name: 'a body of 100 MB in chunks',
    answer: (socket) => {
      socket.write(head('transfer-encoding: chunked'))
      pour(socket, chunk(PIECE), 1600)
    },
    expected: TOO_LARGE,
  },
  {
    name: 'a body without an end or a length',
    answer: (socket) => {
      socket.write(head('connection: close'))
      pour(socket, PIECE)
    },
    expected: TOO_LARGE,
  },
  { name: 'a gzip bomb', answer: whole('content-encoding: gzip', GZIP_BOMB), expected: TOO_LARGE },
  { name: 'a gzip bomb as x-gzip', answer: whole('content-encoding: X-GZip', GZIP_BOMB), expected: TOO_LARGE },
  { name: 'a brotli bomb', answer: whole('content-encoding: br', BROTLI_BOMB), expected: TOO_LARGE },
  {
    name: 'a deflate bomb',
    answer: whole('content-encoding: deflate', deflateSync(ZEROS, { level: 9 })),
    expected: TOO_LARGE,
  },
  {
    name: 'a bomb inside a bomb',
    answer: whole('content-encoding: gzip, gzip', gzipSync(GZIP_BOMB)),
    expected: TOO_LARGE,
  },
  {
    name: 'a bomb in two headers',
    answer: whole('content-encoding: br\r\ncontent-encoding: gzip', gzipSync(BROTLI_BOMB)),
    expected: TOO_LARGE,
  },
  {
    name: 'empty gzip members without an end',
    answer: (socket) => {
      socket.write(head('content-encoding: gzip'))
      pour(socket, Buffer.concat(Array<Buffer>(1000).fill(gzipSync(''))))
    },
    expected: TOO_LARGE,
  },
  {
    name: 'encodings without number',
    answer: whole(`content-encoding: ${Array(50).fill('gzip').join(',')}`, GZIP_BOMB),
    expected: UNDECODABLE,
  },
  { name: 'an encoding that was not requested', answer: whole('content-encoding: zstd', 'x'), expected: UNDECODABLE },
  {
    name: 'an encoding by a name of JavaScript',
    answer: whole('content-encoding: constructor', 'x'),
    expected: UNDECODABLE,
  },
  { name: 'invalid gzip', answer: whole('content-encoding: gzip', 'hello hello'), expected: UNDECODABLE },
  { name: 'invalid brotli', answer: whole('content-encoding: br', 'hello hello'), expected: UNDECODABLE },
  { name: 'gzip cut short', answer: whole('content-encoding: gzip', HALF_GZIP), expected: UNDECODABLE },
  {
    name: 'a slow drip of body',
    answer: (socket) => {
      socket.write(head('content-length: 1000'))
      drip(socket, 'x')
    },
    expected: TOO_LATE,
  },
  {
    name: 'a slow drip of headers',
    answer: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx-slow: ')
      drip(socket, 'x')
    },
    expected: TOO_LATE,
  },
  {
    name: 'a slow drip of preliminary answers',
    answer: (socket) => {
      drip(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n')
    },
    expected: TOO_LATE,
  },
  {
    name: 'no answer at all',
    answer: () => undefined,
    expected: TOO_LATE,
    request: { limits: { headersMs: 100, totalMs: 60_000 } },
  },
  {
    name: 'a body that stops',
    answer: (socket) => void socket.write(`${head('content-length: 10')}12345`),
    expected: TOO_LATE,
    request: { limits: { idleMs: 100, totalMs: 60_000 } },
  },
  {
    name: 'a header without an end',
    answer: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx-long: ')
      pour(socket, PIECE)
    },
    expected: TOO_LARGE,
  },
  {
    name: 'headers without number',
    answer: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      pour(socket, 'x-many: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n')
    },
    expected: TOO_LARGE,
  },
  {
    name: 'trailers without number',
    answer: (socket) => {
      socket.write(`${head('transfer-encoding: chunked')}1\r\nx\r\n0\r\n`)
      pour(socket, 'x-many: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n')
    },
    expected: TOO_LARGE,
  },
  { name: 'a length below zero', answer: respondWith(`${head('content-length: -1')}x`), expected: INVALID },
  { name: 'a length that is no number', answer: respondWith(`${head('content-length: ten')}x`), expected: INVALID },
  {
    name: 'a length beyond all numbers',
    answer: respondWith(`${head(`content-length: ${'9'.repeat(40)}`)}x`),
    expected: INVALID,
  },
  {
    name: 'two lengths',
    answer: respondWith(`${head('content-length: 1\r\ncontent-length: 2')}xx`),
    expected: INVALID,
  },
  {
    name: 'a length and chunks',
    answer: respondWith(`${head('content-length: 1\r\ntransfer-encoding: chunked')}1\r\nx\r\n0\r\n\r\n`),
    expected: INVALID,
  },
  { name: 'less than the length', answer: respondWith(`${head('content-length: 10')}12345`), expected: BROKEN },
  {
    name: 'an invalid chunk size',
    answer: respondWith(`${head('transfer-encoding: chunked')}zz\r\nx`),
    expected: INVALID,
  },
  { name: 'chunks cut short', answer: respondWith(`${head('transfer-encoding: chunked')}5\r\nab`), expected: BROKEN },
  { name: 'no HTTP', answer: respondWith('SSH-2.0-OpenSSH_9.2\r\n'), expected: INVALID },
  { name: 'an invalid status', answer: respondWith('HTTP/1.1 9999 No\r\n\r\n'), expected: INVALID },
  { name: 'another protocol', answer: respondWith('HTTP/1.1 101 Switching\r\nupgrade: h2c\r\n\r\n'), expected: BROKEN },
  { name: 'hanging up', answer: (socket) => void socket.end(), expected: BROKEN },
  { name: 'a reset', answer: (socket) => void socket.resetAndDestroy(), expected: BROKEN },
]

describe('a hostile answer', () => {
  let client: Outbound
  let server: Listening | undefined
  const serve = async (answer: (socket: Socket) => void): Promise<string> => {
    server = await rawServer(answer)
    return `127.0.0.1:${String(server.port)}`
  }
  afterEach(() => server?.close())
  beforeAll(() => {
    client = outboundClient({
      policy: { allowPrivate: true, allowHosts: [] },
      limits: { bodyBytes: MB, totalMs: 700, headersMs: 5000, idleMs: 5000 },
    })
  })
  afterAll(() => client.close())

  it.each(TRICKS)('ends in a clear error, memory flat: $name', async ({ answer, expected, request }) => {
    const host = await serve(answer)
    const url = `http://${host}/`
    const sent = await heldDuring(() =>
      // Only endless responses are ended by the timeout: on a busy machine the others may take their time.
      faultOf(
        client.send({ url, ...request, limits: { totalMs: expected === TOO_LATE ? 700 : 20_000, ...request?.limits } }),
      ),
    )
    const { code, kind, message } = sent.result
    expect([code, kind]).toEqual(expected)
    expect(message).toContain(host)
    expect(message).not.toMatch(/UND_|HPE_|ECONN|Z_|socket|undefined/)
    expect(sent.buffers).toBeLessThan(8 * MB)
    expect(sent.resident).toBeLessThan(64 * MB)
  })

  it.each([
    ['a large body', 'connection: close', undefined],
    ['a gzip bomb', 'content-encoding: gzip', GZIP_BOMB],
    ['a brotli bomb', 'content-encoding: br', BROTLI_BOMB],
  ])('is cut instead where the caller allows it: %s', async (_name, header, body) => {
    const host = await serve((socket) => {
      if (body === undefined) {
        socket.write(head(header))
        pour(socket, PIECE)
      } else whole(header, body)(socket)
    })
    const url = `http://${host}/`
    const { buffers, result } = await heldDuring(() =>
      client.send({ url, truncate: true, limits: { bodyBytes: 2048 } }),
    )
    expect([result.status, result.truncated, result.body.length]).toEqual([200, true, 2048])
    expect(buffers).toBeLessThan(8 * MB)
  })

  it('of 100 MB streams through where allowed, with little of it in memory', async () => {
    const host = await serve(whole('content-encoding: gzip', GZIP_BOMB))
    const { buffers, result } = await heldDuring(async () => {
      const url = `http://${host}/`
      const { body } = await client.open({ url, limits: { bodyBytes: 100 * MB, totalMs: 20_000 } })
      let bytes = 0
      for await (const piece of body) bytes += (piece as Buffer).length
      return bytes
    })
    expect(result).toBe(100 * MB)
    // Buffers that were read wait for the garbage collector, which runs every 32 MB or so.
    expect(buffers).toBeLessThan(48 * MB)
  })

  it('that is not read ends at its time limit, and breaks nothing else', async () => {
    const host = await serve((socket) => {
      socket.write(head('content-length: 1000'))
      drip(socket, 'x')
    })
    const { body } = await client.open({ url: `http://${host}/`, limits: { totalMs: 100 } })
    await new Promise((resolve) => body.once('close', resolve))
    const read = async () => {
      for await (const piece of body) expect(piece).toBeDefined()
    }
    expect((await faultOf(read())).code).toBe('response_timeout')
  })

  it('does not reach the next request of its connection', async () => {
    const host = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged')
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ntrue'))
    })
    const url = `http://${host}/`
    const first = await client.send({ url }).catch(() => undefined)
    const second = await client.send({ url }).catch(() => undefined)
    expect(first?.body.toString() ?? 'ok').toBe('ok')
    expect(second?.body.toString()).not.toBe('forged')
  })
})

function head(...headers: readonly string[]): string {
  return `HTTP/1.1 200 OK\r\n${headers.join('\r\n')}\r\n\r\n`
}

function chunk(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}

function respondWith(text: string): (socket: Socket) => void {
  return (socket) => void socket.end(text)
}

function whole(header: string, body: Buffer | string): (socket: Socket) => void {
  return (socket) => {
    socket.write(head(header, `content-length: ${String(body.length)}`))
    socket.end(body)
  }
}

function drip(socket: Socket, drop: string): void {
  const timer = setInterval(() => socket.write(drop), 20)
  socket.once('close', () => {
    clearInterval(timer)
  })
}
