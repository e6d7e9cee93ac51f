import { Router, urlencoded, type Request, type RequestHandler, type Response } from 'express'
import { z } from 'zod'
import type { Caller } from '../../kit/caller.ts'
import { DomainError, invalid } from '../../kit/errors.ts'
import type { Log } from '../../kit/log.ts'
import { ONE_LINE } from '../../kit/text.ts'
import type { Endpoints } from '../model.ts'
import { DEVICE_GRANT, DEVICE_MS, INTERVAL_SECONDS, shownUserCode, userCodeOf } from '../rules/devices.ts'
import type { Devices } from '../service/devices.ts'
import { signedIn } from './authorize.ts'
import type { FormTokens } from './form-tokens.ts'
import { deviceConsentPage, deviceDonePage, deviceEntryPage } from './device-page.ts'
import { sendPage } from './page.ts'

/** Where a command line gets the code that it shows. */
export function deviceAuthorization({ devices, endpoints, log }: DeviceDeps): RequestHandler[] {
  return [
    form,
    async (request, response) => {
      await inOAuthAnswer(response, log, async () => {
        const asked = read(begun, request.body)
        const { deviceCode, userCode } = await devices.begin(asked.client_id, asked.device_name)
        const address = `${endpoints.address}/device`
        const shown = shownUserCode(userCode)
        return {
          device_code: deviceCode,
          user_code: shown,
          verification_uri: address,
          verification_uri_complete: `${address}?user_code=${shown}`,
          expires_in: DEVICE_MS / 1_000,
          interval: INTERVAL_SECONDS,
        }
      })
    },
  ]
}

/** The token endpoint's grant for device codes; the MCP SDK's handler, which comes after it, refuses it. */
export function deviceToken({ devices, log }: DeviceDeps): RequestHandler[] {
  return [
    form,
    async (request, response, next) => {
      const body = (request.body ?? {}) as { grant_type?: unknown }
      if (request.method !== 'POST' || body.grant_type !== DEVICE_GRANT) {
        next()
        return
      }
      await inOAuthAnswer(response, log, async () => {
        const asked = read(redeemed, body)
        const key = await devices.redeem(asked.device_code, asked.client_id)
        return { access_token: key, token_type: 'Bearer' }
      })
    },
  ]
}

/** The page on which a signed-in person enters the code, sees what asks, and decides. */
export function devicePage(deps: DeviceDeps): Router {
  const { devices, endpoints } = deps
  const router = Router()

  router.get('/', async (request, response) => {
    const owner = await signedIn(deps, request)
    if (owner === null) {
      const query = request.originalUrl.includes('?') ? request.originalUrl.slice(request.originalUrl.indexOf('?')) : ''
      response.redirect(303, `${endpoints.signIn}?next=${encodeURIComponent(`/oauth/device${query}`)}`)
      return
    }
    const { user_code: typed } = request.query
    if (typeof typed !== 'string') {
      sendPage(response, deviceEntryPage(null))
      return
    }
    const code = userCodeOf(typed)
    const find = async () => (code === null ? null : await devices.waiting(code))
    const device = await deps.guesses.guess(owner.subject, find, (found) => found !== null)
    if (code === null || device === null) {
      sendPage(
        response,
        deviceEntryPage('This code is wrong or has expired. Look at your terminal, or start again there.'),
      )
      return
    }
    const token = deps.forms.tokenFor(request, owner, code)
    sendPage(response, deviceConsentPage({ code, name: device.name, user: owner.user, live: deps.live, token }))
  })

  router.post('/', form, async (request, response) => {
    const owner = await signedIn(deps, request)
    if (owner === null) throw new DomainError('unauthenticated', 'unauthenticated', 'Sign in and enter the code again.')
    const decided = read(decision, request.body)
    const code = userCodeOf(decided.user_code)
    const isRefused = decided.decision === 'refuse'
    const environment = isRefused ? 'sandbox' : decided.environment
    if (environment === 'production' && !deps.live) throw invalid({ environment: 'must be sandbox on this server' })
    const decide = async (): Promise<boolean> => {
      deps.forms.assertToken(request, owner, code)
      return code !== null && (await devices.decide(code, isRefused ? null : { ...owner, environment }))
    }
    const isDecided = await deps.guesses.guess(owner.subject, decide, (done) => done)
    if (!isDecided) {
      sendPage(
        response,
        deviceEntryPage('This code is wrong or has expired. Look at your terminal, or start again there.'),
      )
      return
    }
    sendPage(response, deviceDonePage(isRefused))
  })
  return router
}

export interface DeviceDeps {
  devices: Devices
  endpoints: Endpoints
  live: boolean
  log: Log
  forms: FormTokens
  /** Of one person's wrong codes: who guesses codes could take over the terminals of others. */
  guesses: { guess<T>(person: string, look: () => Promise<T>, isRight: (found: T) => boolean): Promise<T> }
  identify(request: Request): Promise<Caller>
}

/** The protocol has an error form of its own. */
async function inOAuthAnswer(response: Response, log: Log, work: () => Promise<object>): Promise<void> {
  response.set('Cache-Control', 'no-store')
  try {
    response.json(await work())
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind === 'failed') {
      log.error({ err: error }, 'an OAuth request failed')
      const error_description = 'Something went wrong on our side. Try again.'
      response.status(500).json({ error: 'server_error', error_description })
      return
    }
    // The protocol knows no quotas: the account cannot have this key, so it was denied.
    const code = error.kind === 'invalid' ? error.code : 'access_denied'
    response.status(400).json({ error: code, error_description: error.message })
  }
}

function read<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw invalid({ [issue?.path.join('.') ?? 'body']: issue?.message ?? 'is invalid' }, 'invalid_request')
}

const form = urlencoded({ extended: false, limit: 4_096 })
const once = z.string({ error: 'must be given once' })
const begun = z.object({
  client_id: once.max(512),
  device_name: once.trim().min(1).max(80).regex(ONE_LINE, 'must be one line of text').default('Command line'),
})
const redeemed = z.object({ client_id: once.max(512), device_code: once.max(200) })
const decision = z.discriminatedUnion('decision', [
  z.object({ decision: z.literal('refuse'), user_code: once.max(40) }),
  z.object({
    decision: z.literal('approve'),
    user_code: once.max(40),
    environment: z.enum(['sandbox', 'production']),
  }),
])
