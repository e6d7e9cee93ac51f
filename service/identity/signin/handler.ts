import type { Request as Incoming, RequestHandler } from 'express'
import { DomainError } from '../../kit/errors.ts'
import { faultOfJsonShape } from '../../kit/json-shape.ts'
import type { Identity } from '../service/identity.ts'

/** The sign-in on Express, under /auth: it speaks the web's requests and answers, Express node's. */
export function signInHandler(identity: Identity, dashboard: string, countTry: CountTry): RequestHandler {
  const { origin } = new URL(dashboard)
  return async (request, response) => {
    const address = origin + request.originalUrl
    if (!URL.canParse(address)) throw new DomainError('missing', 'not_found', 'There is nothing here.')
    const headers = toHeaders(request)
    headers.set('x-request-id', String(response.getHeader('x-request-id') ?? ''))
    const body = await readBody(request)
    const email = emailIn(body)
    // By address alone, whoever has many addresses could guess one person's password without end.
    if (email !== null) await countTry(email)
    const answer = await identity.answerSignIn(
      new Request(address, { method: request.method, headers, ...(body.length === 0 ? {} : { body }) }),
      request.ip ?? null,
    )
    response.status(answer.status)
    for (const [name, value] of answer.headers) if (name !== 'set-cookie') response.setHeader(name, value)
    for (const cookie of answer.headers.getSetCookie()) response.append('set-cookie', cookie)
    // Sessions and tokens: nobody between here and there keeps a copy.
    response.setHeader('cache-control', 'no-store')
    response.end(Buffer.from(await answer.arrayBuffer()))
  }
}

/** Throws where somebody was tried too often. */
type CountTry = (email: string) => Promise<void>

/** Whom a request is about; what cannot be read is refused further on. */
function emailIn(body: Buffer): string | null {
  // As the web's requests read it further on: without a byte order mark.
  const text = new TextDecoder().decode(body)
  if (faultOfJsonShape(text) !== null) return null
  try {
    const said = JSON.parse(text) as { email?: unknown } | null
    return typeof said?.email === 'string' ? said.email.trim().toLowerCase().slice(0, EMAIL_MAX) : null
  } catch {
    return null
  }
}

const EMAIL_MAX = 254

function toHeaders(request: Incoming): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || OF_THE_WIRE.has(name)) continue
    headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  // Node's own fetch names a mode but no site, as no browser does; better-auth would ask it for an Origin.
  if (!headers.has('sec-fetch-site')) headers.delete('sec-fetch-mode')
  return headers
}

/** These described the body on its way here; the web's request counts it anew. */
const OF_THE_WIRE = new Set(['connection', 'content-length', 'transfer-encoding', 'expect'])

async function readBody(request: Incoming): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = []
  let size = 0
  if (request.method === 'GET' || request.method === 'HEAD') return Buffer.concat([])
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > BODY_BYTES_MAX) {
      throw new DomainError(
        'too-large',
        'body_too_large',
        `The body must have at most ${String(BODY_BYTES_MAX)} bytes.`,
      )
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** A password, a name, a wallet's message: nothing here is long. */
const BODY_BYTES_MAX = 16_384
