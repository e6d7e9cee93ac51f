import type { ServerResponse } from 'node:http'
import { Stranger, type ReceivedRequest } from '../../harness/stranger.ts'

/** A creator's server: responds as a test sets it up. */
export class CreatorServer extends Stranger {
  /** The response for each path; 404 for any other path. */
  readonly answers = new Map<string, (request: ReceivedRequest) => Reply | Promise<Reply>>()

  protected async answer(request: ReceivedRequest, response: ServerResponse): Promise<void> {
    const answer = this.answers.get(request.path)
    if (answer === undefined) {
      response.writeHead(404).end()
      return
    }
    const reply = await answer(request)
    if (reply === 'hang up') {
      response.destroy()
      return
    }
    const { status = 200, body = '', headers = { 'content-type': 'application/json' } } = reply
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
  }

  url(path: string): string {
    return this.origin + path
  }

  on(path: string, answer: (request: ReceivedRequest) => Reply | Promise<Reply>): string {
    this.answers.set(path, answer)
    return this.url(path)
  }
}

export type Reply = { status?: number; body?: unknown; headers?: Record<string, string> } | 'hang up'
