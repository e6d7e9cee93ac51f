import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The server behind tools: answers as it is told to, well or badly, and remembers what it was asked. */
export class Upstream {
  readonly asked: Asked[] = []
  private readonly answers = new Map<string, Answering>()
  private readonly server: Server
  private readonly listeners = new Set<() => void>()

  constructor() {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://upstream')
        const { method = '', headers } = request
        const asked = { method, path: pathname, query, headers, body: Buffer.concat(chunks).toString() }
        this.asked.push(asked)
        for (const listener of this.listeners) listener()
        const answer = this.answers.get(pathname)
        if (answer === undefined) response.writeHead(404).end()
        else void answer(asked, response)
      })
    })
  }

  async listen(port = 0): Promise<this> {
    this.server.listen(port, '127.0.0.1')
    await once(this.server, 'listening')
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.server.address() as AddressInfo).port)}`
  }

  on(path: string, answer: Answering): void {
    this.answers.set(path, answer)
  }

  says(path: string, body: unknown, status = 200): void {
    this.on(path, (_, response) => respond(response, JSON.stringify(body), 'application/json', status))
  }

  /** Answers nobody before what is returned is called; then all that wait. */
  holds(path: string, body: unknown): () => void {
    let open: () => void = () => undefined
    const held = new Promise<void>((resolve) => (open = resolve))
    this.on(path, async (_, response) => {
      await held
      respond(response, JSON.stringify(body), 'application/json')
    })
    return open
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

export function respond(response: ServerResponse, content: string | Buffer, type: string, status = 200): void {
  response.writeHead(status, { 'content-type': type }).end(content)
}

interface Asked {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  body: string
}

type Answering = (asked: Asked, response: ServerResponse) => void | Promise<void>
