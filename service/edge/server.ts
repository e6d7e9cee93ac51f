import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Express } from 'express'
import { endStreams } from './events.ts'
import { listenForUpgrades } from './upgrades.ts'

export interface RunningServer {
  port: number
  /** Takes no new work, lets what is under way finish, and resolves; cuts what is left after the deadline. */
  drain(deadlineMs: number): Promise<void>
}

/** Listens, or says in one sentence why it cannot. */
export async function listen(app: Express, port: number, host: string): Promise<RunningServer> {
  const server = createServer(
    // Slow senders give up their place: headers in 15 s, a whole request in two minutes.
    { headersTimeout: 15_000, requestTimeout: 120_000, keepAliveTimeout: 65_000, maxHeaderSize: 16_384 },
    app,
  )
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
      return drain(server, deadlineMs)
    },
  }
}

class PortTaken extends Error {
  constructor(port: number) {
    super(`Port ${String(port)} is already taken: stop what listens there, or set PORT to another one.`)
  }
}

async function drain(server: Server, deadlineMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      resolve()
    })
  })
  server.closeIdleConnections()
  // Kept-alive connections go idle one by one; each is closed as it does.
  const sweep = setInterval(() => {
    server.closeIdleConnections()
  }, 100)
  const cut = setTimeout(() => {
    server.closeAllConnections()
  }, deadlineMs)
  await closed
  clearInterval(sweep)
  clearTimeout(cut)
}
