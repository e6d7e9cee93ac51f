import { createServer as createHttpServer, type RequestListener, type Server as HttpServer } from 'node:http'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'

export interface Listening {
  readonly port: number
  /** Sockets that were accepted so far. */
  readonly accepted: () => number
  close(): Promise<void>
}

/** A server that sends arbitrary bytes once a request has begun to arrive. */
export function rawServer(answer: (socket: Socket) => void): Promise<Listening> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      answer(socket)
    })
  })
  return listening(server)
}

export function httpServer(listener: RequestListener): Promise<Listening> {
  return listening(createHttpServer(listener))
}

export async function listening(server: Server | HttpServer): Promise<Listening> {
  const sockets = new Set<Socket>()
  let accepted = 0
  server.on('connection', (socket: Socket) => {
    accepted += 1
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    accepted: () => accepted,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve()
        })
        for (const socket of sockets) socket.destroy()
      }),
  }
}

/** Writes the same piece for as long as the other side reads, never buffering more than one. */
export function pour(socket: Socket, piece: Buffer | string, times = Infinity, after?: () => void): void {
  let left = times
  const more = () => {
    while (left > 0 && !socket.destroyed) {
      left -= 1
      if (!socket.write(piece)) {
        socket.once('drain', more)
        return
      }
    }
    after?.()
  }
  more()
}
