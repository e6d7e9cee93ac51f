import type { Response } from 'express'
import type { Page } from '../../api/route.ts'
import type { User } from '../../kit/caller.ts'
import { escaped, plainPage, plainPolicy } from '../../ui-kit/plain-page.ts'
import type { AuthorizationRequest, Client, InvalidRequest } from '../model.ts'
import { isDocumentAddress } from '../rules/clients.ts'

/** Asks the signed-in owner whether a client may use their account. */
export function consentPage(asked: AuthorizationRequest, user: User, { live, token }: ConsentForm): Page {
  const rows = rowsOf([...programRows(asked), ['Your account', user.email ?? user.name ?? user.subject]])
  return plainPage(
    'Connect a program',
    `<p>It can call tools and see your balance. Tools that need an account elsewhere use those that you connected, unless you gave a connection to one agent alone. Successful calls are charged to your account, up to the limit that you choose. Disconnect it at any time by revoking its key on the page API keys.</p><dl>${rows}</dl><form method="post">${tokenField(token)}${environmentChoice(live)}<label>Spending limit per day, in USDC<input name="perDay" value="1" inputmode="decimal" required pattern="\\d{1,9}(\\.\\d{1,6})?" autocomplete="off"></label><div class="ask"><button class="approve" name="decision" value="approve">Connect</button><button name="decision" value="refuse" formnovalidate>Refuse</button></div></form>`,
    {
      // Without form-action: browsers apply it to redirects after the form too, and the client's address may redirect on.
      'Content-Security-Policy': plainPolicy(),
      'X-Frame-Options': 'DENY',
      // With no-referrer a browser would send the form with `Origin: null`, which the check of the origin refuses.
      'Referrer-Policy': 'same-origin',
    },
  )
}

/** Of a request that cannot be granted. The user decides whether to go to the program's address, which anyone may choose. */
export function invalidRequestPage(asked: InvalidRequest, returnAddress: string): Page {
  return plainPage(
    'This request is invalid',
    `<p>The program was not connected to your account. Tell its maker: ${escaped(asked.fault)}.</p><dl>${rowsOf(programRows(asked))}</dl><p>Close this page, or <a href="${escaped(returnAddress)}" rel="noreferrer">return to the program</a> if you came from there.</p>`,
    { 'X-Frame-Options': 'DENY' },
  )
}

export function sendPage(response: Response, { type, headers, content }: Page): void {
  response.set(headers).type(type).send(content)
}

interface ConsentForm {
  live: boolean
  /** Of FormTokens. */
  token: string
}

export function tokenField(token: string): string {
  return `<input type="hidden" name="token" value="${escaped(token)}">`
}

export function environmentChoice(live: boolean): string {
  const environments = live ? ['sandbox', 'production'] : ['sandbox']
  const options = environments.map(
    (name) =>
      `<option value="${name}">${name === 'sandbox' ? 'Sandbox (test money)' : 'Production (real money)'}</option>`,
  )
  return `<label>Environment<select name="environment">${options.join('')}</select></label>`
}

export function rowsOf(rows: readonly (readonly [term: string, text: string])[]): string {
  return rows.map(([term, text]) => `<dt>${escaped(term)}</dt><dd>${escaped(text)}</dd>`).join('')
}

function programRows({ client, redirectUri }: { client: Client; redirectUri: string }): [string, string][] {
  const host = isDocumentAddress(client.id) ? new URL(client.id).host : 'none: the program chose its name itself'
  return [
    ['Program', client.name],
    ['Verified host', host],
    ['Returns to', placeOf(redirectUri)],
  ]
}

function placeOf(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri)
  if (protocol === 'https:') return host
  return protocol === 'http:' ? `an app on this device (${hostname})` : `an app on this device (${protocol}//${host})`
}
