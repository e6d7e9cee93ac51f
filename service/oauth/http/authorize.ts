import { redirectUriMatches } from '@modelcontextprotocol/sdk/server/auth/handlers/authorize.js'
import { Router, urlencoded, type Request, type Response } from 'express'
import { z } from 'zod'
import type { Caller } from '../../kit/caller.ts'
import { DomainError, invalid } from '../../kit/errors.ts'
import { amount } from '../../kit/wire.ts'
import type { AuthorizationRequest, Endpoints, InvalidRequest } from '../model.ts'
import { isRedirect } from '../rules/clients.ts'
import type { Clients } from '../service/clients.ts'
import type { Grants } from '../service/grants.ts'
import type { FormTokens } from './form-tokens.ts'
import { consentPage, invalidRequestPage, sendPage } from './page.ts'

/**
 * The page to which a client sends its user. The SDK's handler for it is not used: it loses `state` in errors and never
 * sends `iss`.
 */
export function authorizeRouter(deps: AuthorizeDeps): Router {
  const { grants, endpoints } = deps
  const router = Router()

  router.get('/', async (request, response) => {
    const asked = await readRequest(deps, request)
    if ('error' in asked) {
      sendInvalid(response, request, asked, deps)
      return
    }
    const owner = await signedIn(deps, request)
    if (owner === null) {
      const next = `/oauth/authorize${request.originalUrl.slice(request.originalUrl.indexOf('?'))}`
      response.redirect(303, `${endpoints.signIn}?next=${encodeURIComponent(next)}`)
      return
    }
    const token = deps.forms.tokenFor(request, owner, termsOf(request, asked))
    sendPage(response, consentPage(asked, owner.user, { live: deps.live, token }))
  })

  router.post('/', urlencoded({ extended: false, limit: 4_096 }), async (request, response) => {
    const asked = await readRequest(deps, request)
    if ('error' in asked) {
      sendInvalid(response, request, asked, deps)
      return
    }
    const owner = await signedIn(deps, request)
    if (owner === null) throw new DomainError('unauthenticated', 'unauthenticated', 'Sign in and connect again.')
    deps.forms.assertToken(request, owner, termsOf(request, asked))
    const back = (outcome: Outcome) => {
      response.redirect(303, returnAddress(request, asked.redirectUri, outcome, endpoints))
    }
    const decided = decision.safeParse(request.body)
    if (!decided.success) {
      const [issue] = decided.error.issues
      throw invalid({ [issue?.path.join('.') ?? 'body']: issue?.message ?? 'is invalid' })
    }
    if (decided.data.decision === 'refuse') {
      back({ error: 'access_denied', error_description: 'The owner of the account refused.' })
      return
    }
    const { environment, perDay } = decided.data
    if (environment === 'production' && !deps.live) throw invalid({ environment: 'must be sandbox on this server' })
    back({ code: await grants.approve({ ...owner, environment }, asked, perDay) })
  })
  return router
}

export interface AuthorizeDeps {
  clients: Clients
  grants: Grants
  endpoints: Endpoints
  live: boolean
  forms: FormTokens
  /** Also refuses a change that another site's page requests with the owner's cookie. */
  identify(request: Request): Promise<Caller>
}

/**
 * Throws until client and redirect address are known to belong together. Later faults are a result: anyone may register
 * any address, so the browser goes there only once its user has chosen to (RFC 9700, 4.11.2).
 */
async function readRequest(
  { clients, endpoints }: AuthorizeDeps,
  request: Request,
): Promise<AuthorizationRequest | InvalidRequest> {
  const { client_id: clientId, redirect_uri: redirectUri } = request.query
  if (typeof clientId !== 'string') throw invalid({ client_id: 'must be given once' }, 'invalid_request')
  if (typeof redirectUri !== 'string') throw invalid({ redirect_uri: 'must be given once' }, 'invalid_request')
  const client = await clients.find(clientId)
  const isOwn = client.redirectUris.some((registered) => redirectUriMatches(redirectUri, registered))
  if (!isOwn || !isRedirect(redirectUri)) {
    throw invalid({ redirect_uri: 'is not registered for this client' }, 'invalid_request')
  }
  const refuse = (error: string, fault: string): InvalidRequest => ({ client, redirectUri, error, fault })
  const terms = authorization.safeParse(request.query)
  if (!terms.success) {
    const [issue] = terms.error.issues
    const field = issue?.path.join('.') ?? ''
    return refuse(CODES[field] ?? 'invalid_request', `${field}: ${issue?.message ?? 'is invalid'}`)
  }
  const { resource, code_challenge: challenge } = terms.data
  if (resource !== endpoints.resource) return refuse('invalid_target', `resource: must be ${endpoints.resource}`)
  return { client, redirectUri, challenge, resource }
}

/** What the page shows and the decision is about. */
function termsOf(request: Request, { client, redirectUri, challenge, resource }: AuthorizationRequest): unknown {
  return [client.id, redirectUri, challenge, resource, request.query['state'] ?? null]
}

/** Null when the browser has no session. A key or token cannot approve. */
export async function signedIn({ identify }: Pick<AuthorizeDeps, 'identify'>, request: Request) {
  try {
    const caller = await identify(request)
    return caller.via === 'session' && caller.user !== null ? { ...caller, user: caller.user } : null
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'unauthenticated') return null
    throw error
  }
}

function sendInvalid(response: Response, request: Request, asked: InvalidRequest, { endpoints }: AuthorizeDeps): void {
  const outcome = { error: asked.error, error_description: asked.fault }
  sendPage(
    response.status(400),
    invalidRequestPage(asked, returnAddress(request, asked.redirectUri, outcome, endpoints)),
  )
}

function returnAddress(request: Request, redirectUri: string, outcome: Outcome, { issuer }: Endpoints): string {
  const address = new URL(redirectUri)
  const { state } = request.query
  const shown = { ...outcome, ...(typeof state === 'string' ? { state } : {}), iss: issuer }
  for (const [name, value] of Object.entries(shown)) address.searchParams.set(name, value)
  return address.href
}

type Outcome = Readonly<Record<string, string>>

const once = z.string({ error: 'must be given once' })

const authorization = z.object({
  response_type: once.pipe(z.literal('code', { error: 'must be code' })),
  code_challenge: once.regex(/^[\w-]{43}$/, 'must be a SHA-256 hash in base64url'),
  code_challenge_method: once.pipe(z.literal('S256', { error: 'must be S256' })),
  resource: once,
  state: once.max(2_048).optional(),
})

const CODES: Readonly<Record<string, string>> = {
  response_type: 'unsupported_response_type',
  resource: 'invalid_target',
}

const decision = z.discriminatedUnion('decision', [
  z.object({ decision: z.literal('refuse') }),
  z.object({
    decision: z.literal('approve'),
    environment: z.enum(['sandbox', 'production']),
    perDay: z
      .string({ error: 'must be an amount' })
      .regex(/^\d{1,9}(\.\d{1,6})?$/, 'must be an amount in USDC, such as 1.5')
      .transform(Number)
      .pipe(amount),
  }),
])
