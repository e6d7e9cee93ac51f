import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'

/** A customer's webhook server: it records what it received and responds as the test says. */
export interface Receiver {
  readonly url: string
  readonly calls: readonly Call[]
  /** How it responds from now on. */
  answers(answer: Answering): void
  /** Resolves when this many calls have come in all. */
  waitForCalls(count: number): Promise<void>
  of(id: string): Call[]
  close(): Promise<void>
}

export interface Call {
  id: string
  headers: IncomingHttpHeaders
  body: string
}

export type Answering = (response: ServerResponse, call: Call) => void | Promise<void>

export const ok: Answering = (response) => void response.writeHead(200).end('{"ok":true}')

export function status(code: number, body = ''): Answering {
  return (response) => void response.writeHead(code).end(body)
}

export async function startReceiver(answer: Answering = ok, port = 0): Promise<Receiver> {
  const calls: Call[] = []
  const waiting = new Set<() => void>()
  let answering = answer
  const server = createServer((request, response) => void receive(request, response))
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const call = {
      id: String(request.headers['webhook-id']),
      headers: request.headers,
      body: Buffer.concat(chunks).toString('utf8'),
    }
    calls.push(call)
    for (const look of waiting) look()
    await answering(response, call)
  }

  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/hook`,
    calls,
    answers(next) {
      answering = next
    },
    waitForCalls: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (calls.length < count) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
    of: (id) => calls.filter((call) => call.id === id),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Whether the official library takes the call for genuine. */
export function isGenuine(secret: string, { headers, body }: Call): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>)
    return true
  } catch {
    return false
  }
}
