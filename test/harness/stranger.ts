import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A third party's server: records the requests it gets, in order. */
export abstract class Stranger {
  readonly requests: ReceivedRequest[] = []
  private readonly server: Server
  private readonly listeners = new Set<() => void>()

  constructor() {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://stranger')
        const { method = '', headers } = request
        const received = { method, path: pathname, query, headers, body: Buffer.concat(chunks).toString() }
        this.requests.push(received)
        for (const listener of this.listeners) listener()
        void this.answer(received, response)
      })
    })
  }

  protected abstract answer(request: ReceivedRequest, response: ServerResponse): void | Promise<void>

  async listen(port = 0): Promise<this> {
    this.server.listen(port, '127.0.0.1')
    await once(this.server, 'listening')
    return this
  }

  get origin(): string {
    return `http://127.0.0.1:${String((this.server.address() as AddressInfo).port)}`
  }

  to(path: string): ReceivedRequest[] {
    return this.requests.filter((request) => request.path === path)
  }

  /** Resolves when this path has been requested so many times. */
  async waitForRequest(path: string, times = 1): Promise<ReceivedRequest> {
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (this.to(path).length < times) return
        this.listeners.delete(look)
        resolve()
      }
      this.listeners.add(look)
      look()
    })
    return this.to(path)[times - 1]!
  }

  async close(): Promise<void> {
    this.server.closeAllConnections()
    this.server.close()
    await once(this.server, 'close')
  }
}

export interface ReceivedRequest {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  body: string
}
