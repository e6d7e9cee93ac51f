import { hostname } from 'node:os'
import { CoinslotError } from '../errors.ts'
import { pause, TimeLimit } from '../request.ts'
import { readText } from '../stream.ts'
import { openPage, type Terminal } from './terminal.ts'

/** The addresses of a server's sign-in, from its own document: the dashboard may be on another host than the API. */
export interface SignInServer {
  dashboard: string
  deviceEndpoint: string | null
  tokenEndpoint: string
}

export async function signInServer(baseUrl: string, stopped: AbortSignal): Promise<SignInServer> {
  const at = (origin: string) => documentAt(new URL('/.well-known/oauth-authorization-server', origin), stopped)
  let document = await at(baseUrl)
  if (document === null) {
    const resource = await documentAt(new URL('/.well-known/oauth-protected-resource', baseUrl), stopped)
    const servers = resource?.['authorization_servers']
    const issuer: unknown = Array.isArray(servers) ? servers[0] : null
    if (typeof issuer === 'string' && URL.canParse(issuer)) document = await at(issuer)
  }
  const { authorization_endpoint: page, token_endpoint: token, device_authorization_endpoint: device } = document ?? {}
  if (typeof page !== 'string' || typeof token !== 'string') {
    throw new CoinslotError('This server does not say where to sign in. Pass --key, or check --url.', {
      code: 'unexpected_answer',
    })
  }
  return {
    dashboard: page.replace(/\/oauth\/authorize$/, ''),
    deviceEndpoint: typeof device === 'string' ? device : null,
    tokenEndpoint: token,
  }
}

/** A key for this machine: a person enters the code that is shown here on a page where they are signed in (RFC 8628). */
export async function keyByDevice(terminal: Terminal, baseUrl: string): Promise<string> {
  const { stopped } = terminal
  const { deviceEndpoint, tokenEndpoint } = await signInServer(baseUrl, stopped)
  if (deviceEndpoint === null) throw new Error('This server has no sign-in by code. Pass --key.')
  const name = `coinslot on ${hostname()}`.slice(0, 80)
  const begun = await post(deviceEndpoint, { client_id: CLIENT, device_name: name }, stopped)
  const { device_code: device, user_code: code, verification_uri: page, verification_uri_complete: filled } = begun
  if (![device, code, page].every((text) => typeof text === 'string')) throw refused(begun)
  terminal.note(`Open ${String(page)} and enter the code ${String(code)}`)
  // The page shows the code, so that it can be compared with the one above.
  if (process.stderr.isTTY && typeof filled === 'string') await openPage(filled)
  let seconds = typeof begun['interval'] === 'number' ? begun['interval'] : 5
  for (;;) {
    await pause(seconds * 1_000, stopped)
    const form = { grant_type: GRANT, client_id: CLIENT, device_code: String(device) }
    const { access_token: key, ...answer } = await post(tokenEndpoint, form, stopped)
    if (typeof key === 'string') return key
    if (answer['error'] === 'slow_down') seconds += 5
    else if (answer['error'] !== 'authorization_pending') throw refused(answer)
  }
}

function refused({ error, error_description: sentence }: Readonly<Record<string, unknown>>): CoinslotError {
  const message = typeof sentence === 'string' ? sentence : 'The sign-in was refused. Try again.'
  return new CoinslotError(message, { code: typeof error === 'string' ? error : 'unexpected_answer' })
}

async function documentAt(url: URL, signal: AbortSignal): Promise<Record<string, unknown> | null> {
  const response = await reached(url, { signal })
  return response.ok ? recordOf(response.body) : null
}

async function post(url: string, form: Record<string, string>, signal: AbortSignal) {
  const response = await reached(new URL(url), { method: 'POST', body: new URLSearchParams(form), signal })
  return recordOf(response.body) ?? {}
}

/** The body as JSON; null where it is none. */
async function reached(url: URL, init: RequestInit & { signal: AbortSignal }): Promise<{ ok: boolean; body: unknown }> {
  const limit = new TimeLimit(ANSWER_MS, init.signal)
  try {
    const response = await fetch(url, { ...init, redirect: 'error', signal: limit.signal })
    const text = await readText(response, limit.signal)
    return { ok: response.ok, body: parsed(text) }
  } catch (cause) {
    init.signal.throwIfAborted()
    if (cause instanceof CoinslotError) throw cause
    const message = `${url.origin} cannot be reached. Check --url and your connection.`
    throw new CoinslotError(message, { code: 'connection_failed', cause })
  } finally {
    limit.end()
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const ANSWER_MS = 30_000

function recordOf(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
}

const CLIENT = 'coinslot-cli'
const GRANT = 'urn:ietf:params:oauth:grant-type:device_code'
