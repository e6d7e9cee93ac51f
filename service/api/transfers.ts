import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Request, RequestHandler, Response } from 'express'
import { assertPerson, type Caller } from '../kit/caller.ts'
import { invalid } from '../kit/errors.ts'
import { bodyTooLarge, bodyUnfinished, refuseEncoding } from './json.ts'
import { contextOf } from './requests.ts'
import type { Incoming, Outgoing, Reply } from './route.ts'

/** A request's body as a file. What is too long, or does not say how long it is, is refused before it is read. */
export function incoming(request: Request, bytesMax: number): Incoming {
  refuseEncoding(request)
  const length = request.headers['content-length']
  // Node accepts only a whole number here, and reads exactly so many bytes.
  if (length === undefined) throw invalid({ 'content-length': 'is required' }, 'length_required')
  const bytes = Number(length)
  if (bytes > bytesMax) throw bodyTooLarge(bytesMax)
  return { bytes, mediaType: request.headers['content-type'] ?? null, chunks: chunksOf(request) }
}

async function* chunksOf(request: Request): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of request) yield chunk as Buffer
  } catch (error) {
    throw bodyUnfinished().causedBy(error)
  }
}

/** Reads the next piece only when the client has taken the one before. */
export function sendFile(response: Response, { type, bytes, chunks, headers }: Outgoing): void {
  response.set({ ...headers, 'Content-Type': type, 'Content-Length': String(bytes) })
  if (response.req.method === 'HEAD') {
    response.end()
    return
  }
  // A client that hung up, or a file that cannot be read to its end: the connection breaks, so that no part is taken
  // for the whole.
  pipeline(Readable.from(chunks), response).catch(() => response.destroy())
}

/** Uploads by the dashboard, which has its session instead of a key, and the pictures among them. */
export function serveUploads(path: string, { bytesMax, identify, receive, find }: Uploads): RequestHandler {
  return async (request, response, next) => {
    if (request.method === 'GET' && request.path !== '/') {
      contextOf(response).route = `${path}/:id`
      sendFile(response, await find(request.path.slice(1)))
      return
    }
    if (request.method !== 'POST' || request.path !== '/') {
      next()
      return
    }
    const context = contextOf(response)
    context.route = path
    const caller = (context.caller = await identify(request))
    assertPerson(caller)
    const { status, body } = await receive(caller, request.query, incoming(request, bytesMax))
    response.status(status).json(body)
  }
}

interface Uploads {
  bytesMax: number
  identify(request: Request): Promise<Caller>
  /** For everyone, as on the pages that buyers see. */
  find(picture: string): Promise<Outgoing>
  receive(caller: Caller, query: unknown, file: Incoming): Promise<Pick<Reply, 'status' | 'body'>>
}
