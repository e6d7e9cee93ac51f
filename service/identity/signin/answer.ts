/**
 * Lets through what is served here and nothing else of the library's many endpoints, and puts its refusals
 * into the house's form: `{error, code}` beside the `message` that its own client reads.
 */
export async function answer(request: Request, handler: (request: Request) => Promise<Response>): Promise<Response> {
  const path = new URL(request.url).pathname.replace(/^\/auth/, '')
  const requestId = request.headers.get('x-request-id') ?? ''
  if (!SERVED.has(`${request.method} ${path}`)) return refusal(requestId, NOTHING_HERE)
  const fault = await faultOf(request)
  if (fault !== null) return refusal(requestId, fault)
  const response = await handler(request)
  return response.status < 400 ? await signed(response) : refusal(requestId, await toFault(response), response.headers)
}

const SERVED = new Set([
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
  'GET /verify-email',
])

interface Fault {
  status: number
  code: string
  message: string
}

const NOTHING_HERE: Fault = { status: 404, code: 'NOT_FOUND', message: 'There is nothing here.' }

/** A form of another site may post text and forms without asking first, but never JSON. */
async function faultOf(request: Request): Promise<Fault | null> {
  if (request.method === 'GET') return null
  const body = await request.clone().text()
  if (body === '') return null
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') {
    return { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE', message: 'The body must be application/json.' }
  }
  // PostgreSQL has no text with this character in it.
  if (body.includes('\\u0000')) {
    return { status: 400, code: 'INVALID_INPUT', message: 'The body must not contain the character \\u0000.' }
  }
  try {
    JSON.parse(body)
    return null
  } catch {
    return { status: 400, code: 'INVALID_JSON', message: 'The body must be JSON.' }
  }
}

/** better-auth tells a session's bare name in the body, and what the API takes for it in a header: one is enough. */
async function signed(response: Response): Promise<Response> {
  const credential = response.headers.get('set-auth-token')
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  // A redirect after a mail's link, or from a provider, says that it is JSON and has no body.
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
  const { code, message } = (typeof said === 'object' && said !== null ? said : {}) as Record<string, unknown>
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
  const { status, code, message } = fault
  return new Response(JSON.stringify({ error: message, code: code.toLowerCase(), requestId, message }), {
    status,
    headers,
  })
}
