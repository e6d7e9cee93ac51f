/**
 * Lets through what is served here and nothing else of the library's many endpoints, and puts its refusals
 * into the house's form: `{error, code}` beside the `message` that its own client reads.
 */
export async function answer(request: Request, handler: (request: Request) => Promise<Response>): Promise<Response> {
  const path = new URL(request.url).pathname.replace(/^\/auth/, '')
  if (!SERVED.has(`${request.method} ${path}`)) return refusal(404, 'NOT_FOUND', 'There is nothing here.')
  const fault = await faultOf(request)
  if (fault !== null) return fault
  const response = await handler(request)
  return response.status < 400 ? response : await inHouseForm(response)
}

const SERVED = new Set([
  'POST /sign-up/email',
  'POST /sign-in/email',
  'POST /sign-out',
  'POST /siwe/nonce',
  'POST /siwe/verify',
  'GET /get-session',
  'GET /list-sessions',
  'POST /revoke-session',
  'POST /revoke-sessions',
  'POST /revoke-other-sessions',
  'POST /change-password',
  'POST /update-user',
  'POST /send-verification-email',
  'GET /verify-email',
])

/** A form of another site may post text and forms without asking first, but never JSON. */
async function faultOf(request: Request): Promise<Response | null> {
  if (request.method === 'GET') return null
  const body = await request.clone().text()
  if (body === '') return null
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') return refusal(415, 'UNSUPPORTED_MEDIA_TYPE', 'The body must be application/json.')
  // PostgreSQL has no text with this character in it.
  if (body.includes('\\u0000')) return refusal(400, 'INVALID_INPUT', 'The body must not contain the character \\u0000.')
  try {
    JSON.parse(body)
    return null
  } catch {
    return refusal(400, 'INVALID_JSON', 'The body must be JSON.')
  }
}

async function inHouseForm(response: Response): Promise<Response> {
  const { status } = response
  const headers = new Headers(response.headers)
  headers.delete('content-length')
  if (status >= 500) return refusal(status, 'INTERNAL', 'Something went wrong on our side.', headers)
  const said: unknown = await response.json().catch(() => null)
  const { code, message } = (typeof said === 'object' && said !== null ? said : {}) as Record<string, unknown>
  return refusal(
    status,
    typeof code === 'string' ? code : 'REFUSED',
    typeof message === 'string' ? message : 'The request was refused.',
    headers,
  )
}

function refusal(status: number, code: string, message: string, headers = new Headers()): Response {
  headers.set('content-type', 'application/json')
  const body = { error: message, code: code.toLowerCase(), message }
  return new Response(JSON.stringify(body), { status, headers })
}
