import type { ServerResponse } from 'node:http'
import { Stranger, type ReceivedRequest } from '../../harness/stranger.ts'

/** The server behind tools: responds as a test sets it up, well or badly. */
export class Upstream extends Stranger {
  private readonly answers = new Map<string, Answering>()

  get url(): string {
    return this.origin
  }

  protected answer(request: ReceivedRequest, response: ServerResponse): void | Promise<void> {
    const answer = this.answers.get(request.path)
    if (answer !== undefined) return answer(request, response)
    response.writeHead(404).end()
  }

  on(path: string, answer: Answering): void {
    this.answers.set(path, answer)
  }

  respondWith(path: string, body: unknown, status = 200): void {
    this.on(path, (_, response) => respond(response, JSON.stringify(body), 'application/json', status))
  }

  /** Holds all requests until the returned function is called; then answers all of them. */
  holds(path: string, body: unknown): () => void {
    let open: () => void = () => undefined
    const held = new Promise<void>((resolve) => (open = resolve))
    this.on(path, async (_, response) => {
      await held
      respond(response, JSON.stringify(body), 'application/json')
    })
    return open
  }
}

export function respond(response: ServerResponse, content: string | Buffer, type: string, status = 200): void {
  response.writeHead(status, { 'content-type': type }).end(content)
}

type Answering = (request: ReceivedRequest, response: ServerResponse) => void | Promise<void>
