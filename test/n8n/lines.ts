import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A bad line to the service: requests arrive, but the first responses to calls that cost money are lost. */
export class BadLine {
  /** The keys of the calls that it let through. */
  readonly keys: (string | undefined)[] = []
  private readonly server: Server

  constructor(service: string, lost: number) {
    const { hostname, port } = new URL(service)
    this.server = createServer((incoming, answer) => {
      const onward = request(
        { hostname, port, path: incoming.url, method: incoming.method, headers: incoming.headers },
        (reply) => {
          const key = incoming.headers['idempotency-key']
          if (incoming.method === 'POST') this.keys.push(Array.isArray(key) ? key[0] : key)
          if (incoming.method === 'POST' && this.keys.length <= lost) {
            reply.resume().once('end', () => incoming.socket.destroy())
          } else {
            answer.writeHead(reply.statusCode ?? 500, reply.headers)
            reply.pipe(answer)
          }
        },
      )
      incoming.pipe(onward)
    })
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve))
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.server.address() as AddressInfo).port)}/v1`
  }

  async close(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }
}
