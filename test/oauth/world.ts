import { createHash, randomBytes } from 'node:crypto'
import { freePort } from '../harness/ports.ts'
import { toolWorld, type ToolWorld } from '../tools/calls/world.ts'

export interface OAuthWorld extends ToolWorld {
  /** The public address of the whole service. */
  address: string
  resource: string
  /** A new user of a browser, with its cookie. */
  signUp(): Promise<string>
  register(redirectUri?: string): Promise<string>
  get(path: string, cookie?: string): Promise<Response>
  /** The token of the form that a page shows; empty where it shows none. */
  token(url: string, cookie: string): Promise<string>
  /** Sends the consent form with the token that its page shows; returns the answer, which is a redirect. */
  decide(
    url: string,
    cookie: string,
    form?: Record<string, string>,
    headers?: Record<string, string>,
  ): Promise<Response>
  post(path: string, form: Record<string, string>): Promise<{ status: number; body: Record<string, unknown> }>
  /** The status of a `tools/call` of get_balance with this token. */
  balance(token: string, headers?: Record<string, string>): Promise<Response>
}

export const REDIRECT = 'http://127.0.0.1:7777/callback'
export const VERIFIER = randomBytes(32).toString('base64url')

/** The service at the address that its metadata names, and the steps of OAuth one by one. */
export async function oauthWorld(environment: Record<string, string> = {}): Promise<OAuthWorld> {
  const port = String(await freePort())
  const world = await toolWorld({ PORT: port, RATE_SIGN_IN_PER_MINUTE: '0', ...environment })
  const address = `http://localhost:${port}`
  let people = 0
  const token = async (url: string, cookie: string): Promise<string> => {
    const page = await fetch(new URL(url, address), { redirect: 'manual', headers: { accept: 'text/html', cookie } })
    return /name="token" value="([^"]+)"/.exec(await page.text())?.[1] ?? ''
  }
  return {
    ...world,
    token,
    address,
    resource: `${address}/tools/mcp`,

    async signUp() {
      const body = { name: 'Ada', email: `ada${String(++people)}@example.com`, password: 'long enough 1' }
      let entered = await world.service.call('POST', '/auth/sign-up/email', { body })
      if (entered.body.token === null) {
        // A live server waits for the mail's link, which the tests of the sign-in follow.
        const confirm = 'UPDATE signin_user SET email_verified = true WHERE email = $1'
        await world.service.testDatabase.statements.run(confirm, [body.email])
        entered = await world.service.call('POST', '/auth/sign-in/email', { body })
      }
      if (entered.status !== 200) throw new Error(entered.text)
      return entered.headers
        .getSetCookie()
        .map((line) => line.split(';')[0])
        .join('; ')
    },

    async register(redirectUri = REDIRECT) {
      const body = { client_name: 'Claude', redirect_uris: [redirectUri] }
      const answer = await world.service.call('POST', '/oauth/register', { body })
      if (answer.status !== 201) throw new Error(answer.text)
      return String(answer.body.client_id)
    },

    get: (path, cookie) =>
      fetch(new URL(path, address), {
        redirect: 'manual',
        headers: { accept: 'text/html', ...(cookie === undefined ? {} : { cookie }) },
      }),

    async decide(url, cookie, form = {}, headers = {}) {
      const shown = form['token'] ?? (await token(url, cookie))
      return await fetch(new URL(url, address), {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie, origin: address, ...headers },
        body: new URLSearchParams({ decision: 'approve', environment: 'sandbox', perDay: '1', ...form, token: shown }),
      })
    },

    async post(path, form) {
      const response = await fetch(`${address}/oauth/${path}`, { method: 'POST', body: new URLSearchParams(form) })
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    },

    balance: (token, headers = {}) =>
      fetch(`${address}/tools/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
          ...headers,
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'get_balance', arguments: {} },
        }),
      }),
  }
}

export function authorizePath(clientId: string, resource: string, more: Record<string, string> = {}): string {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: REDIRECT,
    code_challenge: challengeOf(VERIFIER),
    code_challenge_method: 'S256',
    resource,
    state: 'its own',
    ...more,
  })
  return `/oauth/authorize?${query.toString()}`
}

export function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url')
}
