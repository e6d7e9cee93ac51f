import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A model vendor that speaks OpenAI's protocol, as far as the tests need it. */
export class Vendor {
  readonly requests: { headers: IncomingMessage['headers']; body: Record<string, unknown> }[] = []
  closed = 0
  answer: (response: ServerResponse) => void = () => undefined
  private readonly server = createServer((request, response) => {
    const chunks: Buffer[] = []
    response.once('close', () => this.closed++)
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      this.requests.push({ headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) })
      this.answer(response)
    })
  })

  async listen(): Promise<string> {
    this.server.listen(0, '127.0.0.1')
    await once(this.server, 'listening')
    return `http://127.0.0.1:${String((this.server.address() as AddressInfo).port)}/v1`
  }

  async close(): Promise<void> {
    this.server.closeAllConnections()
    this.server.close()
    await once(this.server, 'close')
  }
}

export function stream(response: ServerResponse, chunks: readonly unknown[], end = true): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\n\n`)
  if (end) response.end('data: [DONE]\n\n')
}

export const piece = (content: string, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: { content }, finish_reason }],
})
