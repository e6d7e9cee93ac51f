import { helpHeaders } from '../../kit/error-codes/catalogue.ts'
import { isOfAnotherSite } from '../../kit/http.ts'
import { faultOfJsonShape } from '../../kit/json-shape.ts'
import { ONE_LINE } from '../../kit/text.ts'
import { toFields } from './user.ts'

/**
 * Passes on only the served ones of better-auth's many endpoints, and gives its refusals our error form: `{error,
 * code}`, beside the `message` that its own client reads.
 */
export async function answer(
  request: Request,
  handler: (request: Request) => Promise<Response>,
  mayTryPassword: (headers: Headers) => Promise<boolean>,
): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url)
  const path = pathname.replace(/^\/auth/, '')
  const requestId = request.headers.get('x-request-id') ?? ''
  if (request.method === 'GET' && path === '/verify-email') return toPage(searchParams.get('token') ?? '')
  if (!SERVED.has(`${request.method} ${path}`)) return refusal(requestId, NOTHING_HERE)
  // better-auth checks the Origin header, but a browser may send a form of another site without one.
  const { headers } = request
  const isForeign = !headers.has('origin') && isOfAnotherSite(headers.get('sec-fetch-site'))
  if (request.method !== 'GET' && headers.has('cookie') && isForeign) return refusal(requestId, FOREIGN)
  const fault = await faultOf(request)
  if (fault !== null) return refusal(requestId, fault)
  // The limit counts by the session's user, not by the e-mail address in the body as for a sign-in: the thief of a
  // session can write any address there.
  const isTry = WITH_PASSWORD.has(path) && (await hasPassword(request))
  if (isTry && !(await mayTryPassword(headers))) return refusal(requestId, TOO_MANY_TRIES)
  const response = await handler(request)
  return response.status < 400 ? await signed(response) : refusal(requestId, await toFault(response), response.headers)
}

/** The link of older mails: it changes nothing, as the page of today's. */
function toPage(token: string): Response {
  return new Response(null, { status: 302, headers: { location: `/verify-email?token=${encodeURIComponent(token)}` } })
}

export const SERVED: ReadonlySet<string> = new Set([
  'POST /sign-up/email',
  'POST /sign-in/email',
  'POST /sign-out',
  'POST /siwe/nonce',
  'POST /siwe/verify',
  'POST /siwe/link',
  'POST /siwe/unlink',
  'GET /siwe/wallets',
  'GET /email',
  'POST /email/change',
  'POST /email/confirm',
  'POST /oidc/start',
  'GET /oidc/callback',
  'GET /get-session',
  'GET /list-sessions',
  'POST /revoke-session',
  'POST /revoke-sessions',
  'POST /revoke-other-sessions',
  'POST /change-password',
  'POST /request-password-reset',
  'POST /reset-password',
  'POST /update-user',
  'POST /send-verification-email',
  'POST /verify-email',
])

/** Endpoints on which a signed-in user gives the password again. */
const WITH_PASSWORD: ReadonlySet<string> = new Set(['/change-password', '/email/change', '/siwe/link', '/siwe/unlink'])

interface Fault {
  status: number
  code: string
  message: string
}

const FOREIGN: Fault = {
  status: 403,
  code: 'FOREIGN_ORIGIN',
  message: 'This request came from another site. Open the dashboard and try again.',
}
const TOO_MANY_TRIES: Fault = {
  status: 429,
  code: 'TOO_MANY_TRIES',
  message: 'Too many password attempts. Try again in an hour.',
}
const NOTHING_HERE: Fault = { status: 404, code: 'NOT_FOUND', message: 'Not found.' }

/** Whether the body has a password; a signature of a wallet cannot be guessed. */
async function hasPassword(request: Request): Promise<boolean> {
  const body: unknown = await request
    .clone()
    .json()
    .catch(() => null)
  const { password, currentPassword, owner } = toFields(body)
  return [password, currentPassword, toFields(owner)['password']].some((one) => one !== undefined)
}

/** A form of another site may post text and forms without a CORS preflight, but never JSON. */
async function faultOf(request: Request): Promise<Fault | null> {
  if (request.method === 'GET') return null
  const body = await request.clone().text()
  if (body === '') return null
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') {
    return { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE', message: 'The body must be application/json.' }
  }
  // PostgreSQL cannot store this character in a text.
  if (body.includes('\\u0000')) {
    return { status: 400, code: 'INVALID_INPUT', message: 'The body must not contain the character \\u0000.' }
  }
  const misshapen = faultOfJsonShape(body)
  if (misshapen !== null) return { status: 400, code: 'INVALID_JSON', message: `The body ${misshapen}.` }
  try {
    return faultOfTexts(JSON.parse(body))
  } catch {
    return { status: 400, code: 'INVALID_JSON', message: 'The body must be JSON.' }
  }
}

/** better-auth passes some fields to the database without checking their type. */
function faultOfTexts(body: unknown): Fault | null {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return invalidInput('The body must be an object.')
  for (const [field, value] of Object.entries(body)) {
    if (!TEXTS.has(field) || value === undefined || value === null) continue
    if (typeof value !== 'string') return invalidInput(`${field} must be a string.`)
    if (SHOWN.has(field) && !ONE_LINE.test(value)) return invalidInput(`${field} must be one line.`)
  }
  return null
}

function invalidInput(message: string): Fault {
  return { status: 400, code: 'INVALID_INPUT', message }
}

const TEXTS = new Set(['name', 'image', 'email', 'newEmail', 'password', 'newPassword', 'currentPassword', 'token'])
/** Shown to other people too, and in mails. */
const SHOWN = new Set(['name', 'email', 'newEmail'])

/**
 * better-auth returns the unsigned session token in the body and the signed one, which the API accepts, in a header.
 * Clients get only the signed one, in the body.
 */
async function signed(response: Response): Promise<Response> {
  const credential = response.headers.get('set-auth-token')
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  // A redirect after a mail's link, or from a provider, has a JSON content type but no body.
  if (credential === null || !isJson || response.status !== 200) return response
  const said: unknown = await response.json()
  const hasToken = typeof said === 'object' && said !== null && 'token' in said && typeof said.token === 'string'
  const headers = new Headers(response.headers)
  headers.delete('content-length')
  const body = hasToken ? { ...said, token: credential } : said
  return new Response(JSON.stringify(body), { status: response.status, headers })
}

async function toFault(response: Response): Promise<Fault> {
  const { status } = response
  if (status >= 500) return { status, code: 'INTERNAL', message: 'Something went wrong on our side.' }
  const said: unknown = await response.json().catch(() => null)
  const { code, message } = toFields(said)
  return {
    status,
    code: typeof code === 'string' ? code : 'REFUSED',
    message: typeof message === 'string' ? message : 'The request was refused.',
  }
}

function refusal(requestId: string, fault: Fault, from: Headers = new Headers()): Response {
  const headers = new Headers(from)
  headers.delete('content-length')
  headers.set('content-type', 'application/json')
  const { status, message } = fault
  const code = fault.code.toLowerCase()
  for (const [name, value] of Object.entries(helpHeaders(code))) headers.set(name, value)
  return new Response(JSON.stringify({ error: message, code, requestId, message }), { status, headers })
}
