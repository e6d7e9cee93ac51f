import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A creator's server: answers as it is told to, and remembers what it was asked. */
export class CreatorServer {
  readonly asked: Asked[] = []
  /** What it answers, by path; 404 where nothing is said. */
  readonly answers = new Map<string, (asked: Asked) => Said | Promise<Said>>()
  private readonly server: Server
  private readonly listeners = new Set<() => void>()

  constructor() {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const url = new URL(request.url ?? '/', 'http://creator')
        const asked: Asked = {
          method: request.method ?? '',
          path: url.pathname,
          query: url.searchParams,
          headers: request.headers,
          body: Buffer.concat(chunks).toString(),
        }
        this.asked.push(asked)
        for (const listener of this.listeners) listener()
        const answer = this.answers.get(asked.path)
        if (answer === undefined) {
          response.writeHead(404).end()
          return
        }
        void Promise.resolve(answer(asked)).then((said) => {
          if (said === 'hang up') {
            request.socket.destroy()
            return
          }
          const { status = 200, body = '', headers = { 'content-type': 'application/json' } } = said
          response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
        })
      })
    })
  }

  async listen(): Promise<this> {
    this.server.listen(0, '127.0.0.1')
    await once(this.server, 'listening')
    return this
  }

  url(path: string): string {
    return `http://127.0.0.1:${String((this.server.address() as AddressInfo).port)}${path}`
  }

  on(path: string, answer: (asked: Asked) => Said | Promise<Said>): string {
    this.answers.set(path, answer)
    return this.url(path)
  }

  to(path: string): Asked[] {
    return this.asked.filter((asked) => asked.path === path)
  }

  /** When this path was asked so many times. */
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

export type Said = { status?: number; body?: unknown; headers?: Record<string, string> } | 'hang up'
