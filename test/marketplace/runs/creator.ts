import type { ServerResponse } from 'node:http'
import { Stranger, type Asked } from '../../harness/stranger.ts'

/** A creator's server: responds as a test sets it up. */
export class CreatorServer extends Stranger {
  /** The response for each path; 404 for any other path. */
  readonly answers = new Map<string, (asked: Asked) => Said | Promise<Said>>()

  protected async answer(asked: Asked, response: ServerResponse): Promise<void> {
    const answer = this.answers.get(asked.path)
    if (answer === undefined) {
      response.writeHead(404).end()
      return
    }
    const said = await answer(asked)
    if (said === 'hang up') {
      response.destroy()
      return
    }
    const { status = 200, body = '', headers = { 'content-type': 'application/json' } } = said
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
  }

  url(path: string): string {
    return this.origin + path
  }

  on(path: string, answer: (asked: Asked) => Said | Promise<Said>): string {
    this.answers.set(path, answer)
    return this.url(path)
  }
}

export type Said = { status?: number; body?: unknown; headers?: Record<string, string> } | 'hang up'
