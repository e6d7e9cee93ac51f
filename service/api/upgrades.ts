import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Express } from 'express'

/**
 * Serves requests that want to become a WebSocket. They never reach Express, which would know the client's address, so
 * it is passed along.
 */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer, address: string) => void

export interface Upgrade {
  /** Below this path. */
  path: string
  /** A further test, where the path alone does not decide. */
  isFor?(request: IncomingMessage): boolean
  handler: UpgradeHandler
}

export function serveUpgrades(app: Express, upgrades: readonly Upgrade[]): void {
  app.locals['upgrades'] = upgrades
}

/**
 * Node checks whether there is a listener for upgrades, and then hands over all of them. Clients also offer other
 * protocols (`h2c`, which Java's own client offers with every request) and expect a normal answer if the offer is
 * ignored: such a request is parsed again without the offer.
 */
export function listenForUpgrades(server: Server, app: Express): void {
  const upgrades = (app.locals['upgrades'] ?? []) as readonly Upgrade[]
  if (upgrades.length === 0) return
  const offers = new WeakMap<Duplex, number>()
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const path = request.url?.split('?')[0] ?? ''
    const found = upgrades.find((one) => path.startsWith(`${one.path}/`) && one.isFor?.(request) !== false)
    if (found !== undefined && request.headers.upgrade?.toLowerCase() === 'websocket') {
      socket.on('error', () => socket.destroy())
      found.handler(request, socket, head, addressOf(request, app.get('trust proxy fn') as Trust))
      return
    }
    // After each offer Node's own count of the connection's requests begins at zero.
    const offered = (offers.get(socket) ?? 0) + 1
    offers.set(socket, offered)
    const isLast = offered >= (server.maxRequestsPerSocket ?? Infinity)
    readAnew(server, request, { socket, head, isLast })
  })
}

/** The same as Express's `request.ip`: the nearest address that is not a trusted proxy's. */
function addressOf({ headers, socket }: IncomingMessage, trusts: Trust): string {
  const nearest = socket.remoteAddress ?? 'unknown'
  const behind = listOf(headers['x-forwarded-for']).reverse()
  const addresses = [nearest, ...behind]
  return addresses.find((one, place) => !trusts(one, place)) ?? addresses.at(-1) ?? nearest
}

function listOf(header: string | string[] | undefined): string[] {
  return (typeof header === 'string' ? header : (header ?? []).join(','))
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
}

type Trust = (address: string, hop: number) => boolean

function readAnew(server: Server, request: IncomingMessage, { socket, head, isLast }: Offered): void {
  const lines = [`${request.method ?? 'GET'} ${request.url ?? '/'} HTTP/1.1`]
  const { rawHeaders } = request
  for (let place = 0; place < rawHeaders.length; place += 2) {
    const name = rawHeaders[place] ?? ''
    if (!/^(upgrade|http2-settings|connection)$/i.test(name)) lines.push(`${name}: ${rawHeaders[place + 1] ?? ''}`)
  }
  if (isLast) lines.push('Connection: close')
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  server.emit('connection', socket)
}

interface Offered {
  socket: Duplex
  head: Buffer
  /** The connection is closed after it. */
  isLast: boolean
}
