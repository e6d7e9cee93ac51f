import { once } from 'node:events'
import { Agent, createServer, request, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Role } from '../../service/config.ts'

/** One address for many processes: each request goes to the next ready process that serves its path. */
export interface Proxy {
  readonly origin: string
  /** Sets the processes to choose from. */
  serve(targets: readonly Target[]): void
  /** When each of these has said that it is ready, or no more. */
  close(): Promise<void>
}

export interface Target {
  readonly url: string
  readonly roles: readonly Role[]
  readonly ready: () => boolean
}

export async function startProxy(): Promise<Proxy> {
  let targets: readonly Target[] = []
  let turn = 0
  const agent = new Agent({ keepAlive: true })

  /** The proxy never retries a request: a client that lost a response has to find out the outcome itself. */
  function choose(path: string): Target | null {
    const role = roleOf(path)
    const able = targets.filter(({ roles, ready }) => ready() && (role === null || roles.includes(role)))
    return able[turn++ % Math.max(1, able.length)] ?? null
  }

  const server: Server = createServer((incoming, response) => {
    const target = choose(incoming.url ?? '/')
    if (target === null) {
      incoming.resume()
      response.writeHead(503, { 'content-type': 'application/json' }).end('{"error":"Nobody serves this now."}')
      return
    }
    const outgoing = request(`${target.url}${incoming.url ?? '/'}`, {
      agent,
      method: incoming.method,
      headers: forwarded(incoming),
    })
    outgoing.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      answer.pipe(response)
      answer.on('aborted', () => response.destroy())
    })
    outgoing.on('error', () => {
      // Half a response must not look like a whole one.
      if (response.headersSent) response.destroy()
      else response.writeHead(502, { 'content-type': 'application/json' }).end('{"error":"The process went away."}')
    })
    response.on('close', () => outgoing.destroy())
    incoming.pipe(outgoing)
  })
  server.on('upgrade', (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
    const target = choose(incoming.url ?? '/')
    if (target === null) {
      socket.destroy()
      return
    }
    const outgoing = request(`${target.url}${incoming.url ?? '/'}`, {
      method: incoming.method,
      headers: forwarded(incoming),
    })
    outgoing.on('upgrade', (answer, far, first) => {
      const lines = pairs(answer.rawHeaders).map(([name, value]) => `${name}: ${value}\r\n`)
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`)
      far.write(head)
      socket.write(first)
      far.pipe(socket).pipe(far)
      for (const one of [socket, far]) one.on('error', () => [socket, far].forEach((each) => each.destroy()))
    })
    outgoing.on('response', () => socket.destroy())
    outgoing.on('error', () => socket.destroy())
    outgoing.end()
  })
  server.requestTimeout = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    serve(now) {
      targets = now
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      agent.destroy()
    },
  }
}

/** The first prefix that matches counts; null means any role. */
const PATHS: readonly (readonly [string, Role | null])[] = [
  ['/v1', 'api'],
  ['/docs', 'api'],
  ['/openapi.json', 'api'],
  ['/openapi-trpc.json', 'api'],
  ['/tools', 'tools'],
  ['/llms.txt', 'tools'],
  ['/.well-known/mcp.json', 'tools'],
  ['/facilitator', 'facilitator'],
  ['/p', 'pay'],
  ['/gate', 'gate'],
  ['/healthz', null],
  ['/readyz', null],
  ['/metrics', null],
]

function roleOf(url: string): Role | null {
  const path = url.split('?')[0] ?? '/'
  const found = PATHS.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`))
  return found === undefined ? 'dashboard' : found[1]
}

function forwarded({ headers, socket }: IncomingMessage): IncomingMessage['headers'] {
  const before = headers['x-forwarded-for']
  const chain = [...(typeof before === 'string' ? [before] : []), socket.remoteAddress ?? '']
  return { ...headers, 'x-forwarded-for': chain.join(', '), 'x-forwarded-proto': 'http' }
}

function pairs(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, place): [string, string][] => (place % 2 === 0 ? [[name, raw[place + 1] ?? '']] : []))
}
