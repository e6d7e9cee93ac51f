import type {
  IDataObject,
  IExecuteFunctions,
  IHookFunctions,
  IHttpRequestMethods,
  ILoadOptionsFunctions,
  IWebhookFunctions,
} from 'n8n-workflow'

export interface Call {
  method: IHttpRequestMethods
  /** The tools have their own address. */
  surface?: 'api' | 'tools'
  /** Relative to the surface's address, with a leading slash. */
  path: string
  /** Undefined values are omitted. */
  query?: IDataObject
  body?: IDataObject
  /** Sent with every attempt: a second request with the same key gets the first answer again. */
  idempotencyKey?: string
  /** How long the request waits for a person to approve the call. */
  approvalSeconds?: number
  timeoutMs?: number
  /** Aborts the call when the execution is cancelled. */
  abortSignal?: AbortSignal
}

/**
 * An answer of any status, or the reason why there is none. Nothing is thrown: each caller decides what an outage
 * means.
 */
export type HttpResult =
  | { reached: true; status: number; body: IDataObject; address: string; retryAfterSeconds?: number }
  /** `broken`: the connection was open and broke, so the call may have arrived. */
  | { reached: false; reason: string; address: string; broken: boolean }

export type Caller = IHookFunctions | IWebhookFunctions | IExecuteFunctions | ILoadOptionsFunctions

/** All requests to the service go through this function. */
export async function ask(caller: Caller, call: Call): Promise<HttpResult> {
  let address = ''
  try {
    address = addressOf(await caller.getCredentials('coinslotApi'), call.surface)
    const answer: unknown = await caller.helpers.httpRequestWithAuthentication.call(caller, 'coinslotApi', {
      method: call.method,
      url: `${address}${call.path}`,
      headers: {
        accept: 'application/json',
        ...(call.idempotencyKey !== undefined && { 'idempotency-key': call.idempotencyKey }),
        ...(call.approvalSeconds !== undefined && { prefer: `wait=${call.approvalSeconds}` }),
      },
      ...(call.query !== undefined && { qs: call.query }),
      ...(call.body !== undefined && { body: call.body }),
      ...(call.abortSignal !== undefined && { abortSignal: call.abortSignal }),
      json: true,
      timeout: call.timeoutMs ?? 20_000,
      returnFullResponse: true,
      ignoreHttpStatusErrors: true,
      // A redirect would send the API key to another address.
      disableFollowRedirect: true,
    })
    const { statusCode, body, headers } = answer as { statusCode: number; body: unknown; headers?: IDataObject }
    const retryAfterSeconds = secondsIn(headers?.['retry-after'])
    return {
      reached: true,
      status: statusCode,
      body: isObject(body) ? body : {},
      address,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    }
  } catch (error) {
    const reason = reasonOf(error)
    return { reached: false, reason, address, broken: reason === BROKEN }
  }
}

/** In seconds or as a date: a proxy before the service may write either. At most a day. */
export function secondsIn(retryAfter: unknown, now = Date.now()): number | undefined {
  const header = typeof retryAfter === 'string' ? retryAfter.trim() : ''
  if (/^\d{1,9}$/.test(header)) return Math.min(Number(header), DAY_SECONDS)
  const at = header.endsWith(' GMT') ? Date.parse(header) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.min(Math.max(0, Math.ceil((at - now) / 1_000)), DAY_SECONDS)
}

const DAY_SECONDS = 86_400

/**
 * A sandbox key uses the test network and a production key the real one, unless the author chose a network. If the
 * credential cannot be read, the call itself reports the error.
 */
export async function networkOf(caller: Caller, chosen: string): Promise<string> {
  if (chosen !== 'credential') return chosen
  const { environment } = await caller.getCredentials('coinslotApi').catch(() => ({ environment: undefined }))
  return environment === 'production' ? 'base' : 'base-sepolia'
}

/** What to do about an unexpected answer, in a sentence for the author of the workflow. */
export function advice(answer: HttpResult, labels: Readonly<Record<string, string>> = {}): string {
  if (!answer.reached) {
    if (answer.address === '') return `The Coinslot credential cannot be used: ${answer.reason}`
    return `Coinslot cannot be reached at ${answer.address} (${answer.reason}). Check the service address in the credential and that the service is running, then try again.`
  }
  const { status, body } = answer
  const said = typeof body['error'] === 'string' ? body['error'] : `it answered with status ${status}.`
  const request = typeof body['requestId'] === 'string' ? ` (request ${body['requestId']})` : ''
  if (body['code'] === undefined) {
    return `There is no Coinslot service at ${answer.address}: it answered with status ${status}. Check the service address in the credential; it usually ends with /v1.`
  }
  if (body['code'] === 'environment_mismatch') {
    return 'The API key of the credential belongs to the other environment: keys that begin with csk_test_ are for Sandbox, csk_live_ for Production. Change one of the two in the credential.'
  }
  if (status === 401) {
    return 'Coinslot does not accept the API key of the credential. Make a new key in the Coinslot dashboard and put it into the credential.'
  }
  if (status === 403) return `The API key of the credential may not do this: ${said}${request}`
  if (body['code'] === 'rate_limited') return 'Too many requests to Coinslot. Wait a minute, then try again.'
  // Waiting alone lifts not every limit: the service says what does.
  if (status === 429) return `Coinslot refused this: ${said}${request}`
  if (status >= 500) return `Coinslot had an internal error: ${said} Try again in a moment.${request}`
  const details = isObject(body['details']) ? Object.entries(body['details']) : []
  const faults = details.flatMap(([field, fault]) =>
    typeof fault === 'string' ? [`${labelOf(field, labels)}: ${fault}`] : [],
  )
  return faults.length > 0 ? `Coinslot refused this. ${faults.join('; ')}` : `Coinslot refused this: ${said}${request}`
}

/** Translates `fields.0.label` to the panel's label, `Customer Fields #1 label`. */
function labelOf(field: string, labels: Readonly<Record<string, string>>): string {
  const known = Object.keys(labels).find((name) => field === name || field.startsWith(`${name}.`))
  if (known === undefined) return field
  const rest = field.slice(known.length).replace(/\.(\d+)/g, (_, place: string) => ` #${Number(place) + 1}`)
  return `${labels[known] ?? known}${rest.replaceAll('.', ' ')}`
}

/** The service address of a new credential. */
export const PRESET = 'http://localhost:4020/v1'

/** Where the credential reaches the API. Undefined where it cannot be used. */
export async function apiAddress(caller: Caller): Promise<string | undefined> {
  try {
    return addressOf(await caller.getCredentials('coinslotApi'), 'api')
  } catch {
    return undefined
  }
}

function addressOf(credentials: IDataObject, surface: Call['surface']): string {
  const written = trimmed(credentials['url'])
  // A credential of version 0.1 has an address for each environment, and gets the preset for the one of today.
  const first = trimmed(credentials[credentials['environment'] === 'production' ? 'productionUrl' : 'sandboxUrl'])
  const api = first !== '' && written === PRESET ? first : written
  if (api === '') throw new Error('it has no service address.')
  if (surface !== 'tools') return api
  const tools = trimmed(credentials['toolsUrl'])
  // Unless the credential sets another address, the tools are next to the API.
  return tools === '' ? `${api.replace(/\/v1$/, '')}/tools` : tools
}

function trimmed(address: unknown): string {
  return typeof address === 'string' ? address.trim().replace(/\/{1,9}$/, '') : ''
}

/** The reason in words: n8n replaces a message that contains a system error code with a message of its own. */
function reasonOf(error: unknown): string {
  // n8n wraps the system's error and stores its code as the HTTP status.
  for (let one = error; isObject(one); one = one['cause'] ?? one['errorResponse']) {
    for (const code of [one['code'], one['httpCode']]) {
      const words = typeof code === 'string' ? REASONS[code] : undefined
      if (words !== undefined) return words
    }
  }
  const message = error instanceof Error ? error.message : ''
  if (message === 'socket hang up') return BROKEN
  return message === '' || CODE.test(message) ? 'no answer' : message
}

const BROKEN = 'the connection was closed'
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: BROKEN,
  EPIPE: BROKEN,
  ENOTFOUND: 'the host was not found',
  EAI_AGAIN: 'the host name could not be resolved',
  EHOSTUNREACH: 'the host is unreachable',
  ETIMEDOUT: 'no answer in time',
  ECONNABORTED: 'no answer in time',
}
const CODE = /\bE[A-Z_]{4,}\b/

export function isObject(value: unknown): value is IDataObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
