import type { Page } from '../../api/route.ts'
import type { User } from '../../kit/caller.ts'
import { escaped, plainPage, plainPolicy } from '../../ui-kit/plain-page.ts'
import type { AuthorizationRequest } from '../model.ts'
import { isDocumentAddress } from '../rules/clients.ts'

/** Asks the signed-in owner whether a client may use their account. */
export function consentPage({ client, redirectUri }: AuthorizationRequest, user: User, live: boolean): Page {
  const rows = [
    ['Program', client.name],
    [
      'Verified host',
      isDocumentAddress(client.id) ? new URL(client.id).host : 'none: the program chose its name itself',
    ],
    ['Returns to', placeOf(redirectUri)],
    ['Your account', user.email ?? user.name ?? user.subject],
  ].map(([term, text]) => `<dt>${escaped(term ?? '')}</dt><dd>${escaped(text ?? '')}</dd>`)
  return plainPage(
    'Connect a program',
    `<p>It can call tools and see your balance. Successful calls are charged to your account, up to the limit that you choose. Disconnect it at any time by revoking its key on the page API keys.</p><dl>${rows.join('')}</dl><form method="post">${environmentChoice(live)}<label>Spending limit per day, in USDC<input name="perDay" value="1" inputmode="decimal" required pattern="\\d{1,9}(\\.\\d{1,6})?" autocomplete="off"></label><div class="ask"><button class="approve" name="decision" value="approve">Connect</button><button name="decision" value="refuse" formnovalidate>Refuse</button></div></form>`,
    {
      // Without form-action: browsers apply it to redirects after the form too, and the client's address may redirect on.
      'Content-Security-Policy': plainPolicy(),
      'X-Frame-Options': 'DENY',
      // With no-referrer a browser would send the form with `Origin: null`, which the check of the origin refuses.
      'Referrer-Policy': 'same-origin',
    },
  )
}

export function environmentChoice(live: boolean): string {
  const environments = live ? ['sandbox', 'production'] : ['sandbox']
  const options = environments.map(
    (name) =>
      `<option value="${name}">${name === 'sandbox' ? 'Sandbox (test money)' : 'Production (real money)'}</option>`,
  )
  return `<label>Environment<select name="environment">${options.join('')}</select></label>`
}

function placeOf(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri)
  if (protocol === 'https:') return host
  return protocol === 'http:' ? `an app on this device (${hostname})` : `an app on this device (${protocol}//${host})`
}
