import * as oauth from 'oauth4webapi'
import { authorizationRefused, GrantOver } from '../connections/errors.ts'
import type { DeviceCode, Tokens } from '../connections/model.ts'
import { DomainError } from '../kit/errors.ts'

/* What authorization servers answer, bounded and in our own words. */

export function toTokens({
  access_token,
  token_type,
  refresh_token,
  expires_in,
  scope,
}: oauth.TokenEndpointResponse): Tokens {
  if (token_type !== 'bearer') throw new Fault('its tokens are of a kind that is not supported')
  if (!TOKEN.test(access_token) || (refresh_token !== undefined && !TOKEN.test(refresh_token))) {
    throw new Fault('it answered with a token that no request can hold')
  }
  return {
    accessToken: access_token,
    refreshToken: refresh_token ?? null,
    expiresInSeconds: expires_in === undefined ? null : Math.min(LIFE_MAX, Math.max(LIFE_MIN, expires_in)),
    scopes:
      scope === undefined
        ? null
        : scope
            .split(/[ ,]+/)
            .filter((one) => SCOPE.test(one))
            .slice(0, SCOPES_MAX),
  }
}

/** What a person enters, and where: both are shown to them, so they are bounded and of a safe form. */
export function toDeviceCode(answer: oauth.DeviceAuthorizationResponse, checked: Checked): DeviceCode {
  const { device_code, user_code, verification_uri, verification_uri_complete, expires_in, interval } = answer
  if (!TOKEN.test(device_code) || !USER_CODE.test(user_code)) {
    throw new Fault('its server answered with a code that cannot be shown')
  }
  const shown = [verification_uri_complete, verification_uri].find(
    (url) => url !== undefined && url.length <= URL_MAX && URL.canParse(url),
  )
  if (shown === undefined) throw new Fault('its server named no address where the code is entered')
  return {
    deviceCode: device_code,
    userCode: user_code,
    verificationUrl: checked(shown, 'verificationUrl'),
    expiresInSeconds: Math.min(CODE_LIFE_MAX, Math.max(LIFE_MIN, expires_in)),
    intervalSeconds: Math.min(INTERVAL_MAX, Math.max(1, Math.ceil(interval ?? INTERVAL))),
  }
}

export type Checked = (url: string, field: string) => string

/** Not an error to anybody: the person has not decided yet. */
export class Waiting extends Error {
  readonly how: 'pending' | 'slower'
  constructor(how: 'pending' | 'slower') {
    super(how)
    this.how = how
  }
}

export const WAITS: ReadonlyMap<string, 'pending' | 'slower'> = new Map([
  ['authorization_pending', 'pending'],
  ['slow_down', 'slower'],
])

export function isCodeOver(error: unknown): error is oauth.ResponseBodyError {
  return error instanceof oauth.ResponseBodyError && error.status < 500 && !RETRIED.has(error.error)
}

const RETRIED: ReadonlySet<string> = new Set(['temporarily_unavailable', 'server_error'])

class Fault extends Error {}

/** In our own words: a server's text may repeat the secrets that it was sent. */
export function refusalOf(name: string, error: unknown): Error {
  if (error instanceof DomainError || error instanceof GrantOver || error instanceof Waiting) return error
  if (error instanceof Fault) return authorizationRefused(name, error.message)
  if (error instanceof oauth.ResponseBodyError) {
    const code = CODE.test(error.error) ? error.error : 'refused'
    if (code === 'invalid_grant') return new GrantOver(code)
    return authorizationRefused(name, `its server answered ${code}`)
  }
  if (error instanceof oauth.AuthorizationResponseError) {
    if (error.error === 'access_denied') return authorizationRefused(name, 'the access was not allowed there')
    return authorizationRefused(name, `its server answered ${CODE.test(error.error) ? error.error : 'refused'}`)
  }
  const cause = error instanceof Error ? new Error(error.message) : undefined
  return authorizationRefused(name, faultOf(error)).causedBy(cause)
}

export function isClientRefused(error: unknown): error is oauth.ResponseBodyError {
  return error instanceof oauth.ResponseBodyError && CLIENT_REFUSED.has(error.error)
}

const CLIENT_REFUSED: ReadonlySet<string> = new Set(['invalid_client', 'unauthorized_client'])

function faultOf(error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  if (message.includes('"iss"')) return 'the answer came from another server than the one that was asked'
  if (message.includes('"state"')) return 'the answer belongs to another request'
  if (message.includes('"code"')) return 'the answer has no code'
  if (message.includes('"access_token"')) return 'its server answered without an access token'
  if (message.includes('"token_type"')) return 'its tokens are of a kind that is not supported'
  if (message.includes('"expires_in"')) return 'its server answered with a life that no token can have'
  return 'its server gave an answer that is not OAuth 2'
}

const TOKEN = /^[\x21-\x7e]{1,4096}$/
const CODE = /^[a-z_]{1,50}$/
const SCOPE = /^[\x21-\x7e]{1,200}$/
const SCOPES_MAX = 100
const USER_CODE = /^[\x21-\x7e](?:[\x20-\x7e]{0,62}[\x21-\x7e])?$/
const URL_MAX = 2_048
/** Seconds. The person has a quarter of an hour. */
const CODE_LIFE_MAX = 900
const INTERVAL = 5
const INTERVAL_MAX = 60
/** A token that ends at once is used once; with less than a minute it would be renewed all the time. */
const LIFE_MIN = 60
/** Ten years, in seconds. */
const LIFE_MAX = 315_000_000
