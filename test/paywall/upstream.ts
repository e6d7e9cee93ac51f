import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'

/** The seller's API: it responds as a test tells it to, and records its requests. */
export interface Upstream {
  url: string
  requests: ReceivedRequest[]
  /** Sets the response for a path; requests to other paths are echoed. */
  on(path: string, answer: (request: IncomingMessage, response: ServerResponse, body: Buffer) => void): void
  /** Sends back what comes while it comes. */
  mirrors(path: string): void
  close(): Promise<void>
}

export interface ReceivedRequest {
  method: string
  url: string
  headers: IncomingMessage['headers']
  rawHeaders: string[]
  body: Buffer
}

export async function startUpstream(): Promise<Upstream> {
  const requests: ReceivedRequest[] = []
  const answers = new Map<string, Parameters<Upstream['on']>[1]>()
  const mirrors = new Set<string>()
  const server = createServer((request, response) => {
    if (mirrors.has(request.url ?? '')) {
      response.writeHead(200, { 'content-type': 'application/octet-stream' })
      response.flushHeaders()
      request.pipe(response)
      return
    }
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      const { method = '', url = '', headers, rawHeaders } = request
      requests.push({ method, url, headers, rawHeaders, body })
      const answer = answers.get(url.split('?')[0] ?? '')
      if (answer !== undefined) answer(request, response, body)
      else json(response, 200, { method, url, body: body.toString() })
    })
  })
  const sockets = new WebSocketServer({ noServer: true })
  const tunnels = new Set<Duplex>()
  server.on('upgrade', (request, socket, head) => {
    const { method = '', url = '', headers, rawHeaders } = request
    requests.push({ method, url, headers, rawHeaders, body: Buffer.alloc(0) })
    tunnels.add(socket)
    sockets.handleUpgrade(request, socket, head, (client) => {
      client.on('message', (message: Buffer) => client.send(`echo ${message.toString()}`))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    requests,
    on: (path, answer) => answers.set(path, answer),
    mirrors: (path) => mirrors.add(path),
    async close() {
      for (const socket of tunnels) socket.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

/** Reads a response piece by piece. */
export function readerOf({ body }: Response): ReadableStreamDefaultReader<Uint8Array> {
  if (body === null) throw new Error('the answer has no body')
  return (body as ReadableStream<Uint8Array>).getReader()
}

export async function pieceOf(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  return Buffer.from((await reader.read()).value ?? []).toString()
}
