import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A bad line to the service: requests arrive, but the first responses to calls that cost money are lost. */
export class BadLine {
  /** The keys of the calls that it let through. */
  readonly keys: (string | undefined)[] = []
  private readonly server: Server

  constructor(service: string, lost: number) {
    const { hostname, port } = new URL(service)
    this.server = createServer((asked, answer) => {
      const onward = request(
        { hostname, port, path: asked.url, method: asked.method, headers: asked.headers },
        (told) => {
          const key = asked.headers['idempotency-key']
          if (asked.method === 'POST') this.keys.push(Array.isArray(key) ? key[0] : key)
          if (asked.method === 'POST' && this.keys.length <= lost) {
            told.resume().once('end', () => asked.socket.destroy())
          } else {
            answer.writeHead(told.statusCode ?? 500, told.headers)
            told.pipe(answer)
          }
        },
      )
      asked.pipe(onward)
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
