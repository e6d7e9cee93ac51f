import { helpHeaders, type ErrorCode } from '../kit/error-codes/catalogue.ts'
import { createServer, STATUS_CODES, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Express } from 'express'
import { addressGroup } from '../kit/http.ts'
import { systemClock } from '../kit/clock.ts'
import { newId } from '../kit/ids.ts'
import { quotaExceeded } from '../kit/quota.ts'
import { classesOf } from './direct.ts'
import { endStreams } from './events.ts'
import { listenForUpgrades } from './upgrades.ts'

export interface RunningServer {
  port: number
  /** Accepts no new connections, lets open requests finish, and resolves; after the deadline it cuts the rest. */
  drain(deadlineMs: number): Promise<void>
}

/** The limits of one connection, and of all together. */
export interface ConnectionLimits {
  /** From the first byte of a request to the end of its headers. */
  headersMs: number
  /** To the end of its body. */
  requestMs: number
  /**
   * Time without a byte in either direction. A client that reads nothing, or has silently gone, loses its connection.
   */
  idleMs: number
  /**
   * Time between two requests. It is longer than proxies wait, so that we never close a connection on which a request
   * is already under way.
   */
  keepAliveMs: number
  headerBytes: number
  connections: number
  /** Connections per address; an IPv6 address counts by its /64. 0 means no limit. */
  connectionsPerAddress: number
  /** Addresses that many clients share: this machine and the trusted proxies. */
  shared: (address: string) => boolean
  /** One connection cannot queue up work without end. */
  requestsPerConnection: number
}

/** A run may take three minutes without a byte, a gate's upstream five. */
const LIMITS: ConnectionLimits = {
  headersMs: 15_000,
  requestMs: 120_000,
  idleMs: 330_000,
  keepAliveMs: 65_000,
  headerBytes: 16_384,
  connections: 10_000,
  requestsPerConnection: 1_000,
  connectionsPerAddress: 0,
  shared: () => false,
}

/** Starts to listen, or throws an error that says in one sentence why it cannot. */
export async function listen(
  app: Express,
  port: number,
  host: string,
  given: Partial<ConnectionLimits> = {},
): Promise<RunningServer> {
  const limits = { ...LIMITS, ...given }
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.keepAliveMs,
      maxHeaderSize: limits.headerBytes,
      // Node checks for late requests at this interval, by default every 30 seconds.
      connectionsCheckingInterval: Math.min(5_000, limits.headersMs),
      // Node's own refusal would have no body.
      requireHostHeader: false,
      ...classesOf(app),
    },
    app,
  )
  server.timeout = limits.idleMs
  server.maxConnections = limits.connections
  server.maxRequestsPerSocket = limits.requestsPerConnection
  const sockets = socketsOf(server)
  limitAddresses(server, limits)
  answerTheUnreadable(server)
  listenForUpgrades(server, app)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'EADDRINUSE' ? new PortTaken(port) : error)
    })
    server.listen(port, host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    drain(deadlineMs) {
      endStreams(app)
      return drain(server, sockets, deadlineMs)
    },
  }
}

/**
 * True for loopback and the trusted proxies: many clients share one such address, and the rate limits of requests tell
 * them apart.
 */
export function sharedAddresses(app: Express): (address: string) => boolean {
  const isTrusted = app.get('trust proxy fn') as (address: string, hop: number) => boolean
  return (address) => LOOPBACK.test(address) || isTrusted(address, 0)
}

const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/

class PortTaken extends Error {
  constructor(port: number) {
    super(`Port ${String(port)} is already taken: stop what listens there, or set PORT to another one.`)
  }
}

/** A request that cannot be parsed is refused in the same form as all others, and its connection closed. */
function answerTheUnreadable(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (socket.writable && !isAnswering(socket)) socket.write(refusal(UNREADABLE[error.code ?? ''] ?? BROKEN))
    socket.destroy()
  })
  server.on('connect', (_request, socket) => {
    socket.end(refusal({ status: 405, code: 'method_not_allowed', sentence: 'This server is not a proxy.' }))
    // Nothing else reads this socket any more, and Node does not notice the end of a socket that is not read.
    socket.resume()
  })
  server.on('checkExpectation', (_request, response) => {
    const { body, headers } = toAnswer(NO_EXPECTATION)
    response.writeHead(417, { ...headers, Connection: 'close' }).end(body)
  })
}

/** If an answer has begun on this connection, a second one would be taken for a part of it. */
function isAnswering(socket: Duplex): boolean {
  return (socket as { _httpMessage?: { headersSent: boolean } | null })._httpMessage?.headersSent === true
}

interface Refusal {
  status: number
  code: ErrorCode
  sentence: string
  fields?: Readonly<Record<string, unknown>>
}

const BROKEN: Refusal = { status: 400, code: 'bad_request', sentence: 'The request cannot be read.' }
const NO_EXPECTATION: Refusal = {
  status: 417,
  code: 'expectation_failed',
  sentence: 'Expect: 100-continue is the only expectation we support.',
}
const UNREADABLE: Readonly<Record<string, Refusal>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'request_timeout', sentence: 'The request took too long to arrive.' },
  HPE_HEADER_OVERFLOW: { status: 431, code: 'headers_too_large', sentence: 'The headers or the address are too long.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, code: 'body_too_large', sentence: 'Chunk extensions are too long.' },
}

function refusal(refused: Refusal): string {
  const { body, headers } = toAnswer(refused)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const status = `${String(refused.status)} ${STATUS_CODES[refused.status] ?? ''}`
  return `HTTP/1.1 ${status}\r\nConnection: close\r\n${lines.join('')}\r\n${body}`
}

function toAnswer({ code, sentence, fields }: Refusal): { body: string; headers: Record<string, string> } {
  const requestId = newId('req', systemClock.now())
  const body = JSON.stringify({ error: sentence, code, requestId, ...fields })
  return {
    body,
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': String(Buffer.byteLength(body)),
      'X-Content-Type-Options': 'nosniff',
      'X-Request-Id': requestId,
      ...helpHeaders(code),
    },
  }
}

/** All open sockets. Node forgets sockets that were upgraded from HTTP, and yet waits for them when it closes. */
function socketsOf(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>()
  onEachSocket(server, (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return sockets
}

/** Once for each connection: one whose request is parsed again is announced again. */
function onEachSocket(server: Server, act: (socket: Socket) => void): void {
  const known = new WeakSet<Socket>()
  server.on('connection', (socket: Socket) => {
    if (known.has(socket)) return
    known.add(socket)
    act(socket)
  })
}

/** One address cannot use up all connections. A connection over the limit gets a refusal and is closed. */
function limitAddresses(server: Server, { connectionsPerAddress: most, shared }: ConnectionLimits): void {
  if (most === 0) return
  const open = new Map<string, number>()
  onEachSocket(server, (socket) => {
    const address = socket.remoteAddress ?? 'unknown'
    if (shared(address)) return
    const group = addressGroup(address)
    const own = open.get(group) ?? 0
    if (own >= most) {
      const { message, code, fields } = quotaExceeded('connections', most, null)
      socket.end(refusal({ status: 429, code, sentence: message, fields }))
      // The server no longer reads what the client still sends.
      socket.destroySoon()
      return
    }
    open.set(group, own + 1)
    socket.once('close', () => {
      const left = (open.get(group) ?? 1) - 1
      if (left === 0) open.delete(group)
      else open.set(group, left)
    })
  })
}

async function drain(server: Server, sockets: ReadonlySet<Socket>, deadlineMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      resolve()
    })
  })
  server.closeIdleConnections()
  // Keep-alive connections become idle one by one; this closes each when it does.
  const sweep = setInterval(() => {
    server.closeIdleConnections()
  }, 100)
  const cut = setTimeout(() => {
    for (const socket of sockets) socket.destroy()
  }, deadlineMs)
  await closed
  clearInterval(sweep)
  clearTimeout(cut)
}
