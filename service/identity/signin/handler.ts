import type { Request as Incoming, RequestHandler } from 'express'
import { DomainError } from '../../kit/errors.ts'
import { faultOfJsonShape } from '../../kit/json-shape.ts'
import type { Identity } from '../service/identity.ts'

/**
 * The sign-in on Express, under /auth: it converts between Node's requests and answers, which Express uses, and the
 * web-standard ones, which the sign-in uses.
 */
export function signInHandler(identity: Identity, { dashboard, countTry, assertAccount }: SignInRules): RequestHandler {
  const { origin } = new URL(dashboard)
  return async (request, response) => {
    const address = origin + request.originalUrl
    if (!URL.canParse(address)) throw new DomainError('missing', 'not_found', 'Not found.')
    if (request.get('coinslot-account') !== undefined) await assertAccount(request)
    const headers = toHeaders(request)
    headers.set('x-request-id', String(response.getHeader('x-request-id') ?? ''))
    const body = await readBody(request)
    const email = emailIn(body)
    // With a limit per network address only, an attacker with many addresses could guess one person's password without
    // end.
    if (email !== null) await countTry(email)
    const answer = await identity.answerSignIn(
      new Request(address, { method: request.method, headers, ...(body.length === 0 ? {} : { body }) }),
      request.ip ?? null,
    )
    response.status(answer.status)
    for (const [name, value] of answer.headers) if (name !== 'set-cookie') response.setHeader(name, value)
    for (const cookie of answer.headers.getSetCookie()) response.append('set-cookie', cookie)
    // The answer holds sessions and tokens, so no cache on the way may store it.
    response.setHeader('cache-control', 'no-store')
    response.end(Buffer.from(await answer.arrayBuffer()))
  }
}

interface SignInRules {
  /** The dashboard's address. */
  dashboard: string
  /** Throws when there were too many attempts for one e-mail address. */
  countTry(email: string): Promise<void>
  /** Throws when the page that sends the request is not of the account that is signed in. */
  assertAccount(request: Incoming): Promise<unknown>
}

/** The e-mail address that a request is about; a body that cannot be read is refused later. */
function emailIn(body: Buffer): string | null {
  // Decoded as the web-standard request decodes it later: without a byte order mark.
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
  // Node's own fetch sends Sec-Fetch-Mode without Sec-Fetch-Site, which no browser does; better-auth would then require
  // an Origin.
  if (!headers.has('sec-fetch-site')) headers.delete('sec-fetch-mode')
  return headers
}

/** These headers describe the original connection and body; the web-standard request sets its own. */
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

/** The largest body: a password, a name or a wallet's message is short. */
const BODY_BYTES_MAX = 16_384
