import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A third party's server: records the requests it gets, in order. */
export abstract class Stranger {
  readonly asked: Asked[] = []
  private readonly server: Server
  private readonly listeners = new Set<() => void>()

  constructor() {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://stranger')
        const { method = '', headers } = request
        const asked = { method, path: pathname, query, headers, body: Buffer.concat(chunks).toString() }
        this.asked.push(asked)
        for (const listener of this.listeners) listener()
        void this.answer(asked, response)
      })
    })
  }

  protected abstract answer(asked: Asked, response: ServerResponse): void | Promise<void>

  async listen(port = 0): Promise<this> {
    this.server.listen(port, '127.0.0.1')
    await once(this.server, 'listening')
    return this
  }

  get origin(): string {
    return `http://127.0.0.1:${String((this.server.address() as AddressInfo).port)}`
  }

  to(path: string): Asked[] {
    return this.asked.filter((asked) => asked.path === path)
  }

  /** Resolves when this path has been requested so many times. */
  async wasAsked(path: string, times = 1): Promise<Asked> {
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

export interface Asked {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  body: string
}
