import type { User } from '../../kit/caller.ts'
import { escaped, plainPage, plainPolicy } from '../../ui-kit/plain-page.ts'
import { shownUserCode } from '../rules/devices.ts'
import { environmentChoice, rowsOf, tokenField } from './page.ts'

/** Asks for the code that a terminal shows. */
export function deviceEntryPage(fault: string | null) {
  const alert = fault === null ? '' : `<p role="alert">${escaped(fault)}</p>`
  return page(
    'Sign in a command line',
    `${alert}<p>Enter the code that your terminal shows.</p><form method="get"><label>Code<input name="user_code" required autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="40" placeholder="BCDF-GHJK"></label><button class="approve">Continue</button></form>`,
  )
}

/** Shows what asks, because a link with the code may have come from another person. */
export function deviceConsentPage({ code, name, user, live, token }: Consent) {
  const rows = rowsOf([
    ['Code', shownUserCode(code)],
    ['Program', `${name} (its own choice of a name)`],
    ['Your account', user.email ?? user.name ?? user.subject],
  ])
  return page(
    'Sign in a command line',
    `<p>It gets an API key of your account, which can do all that your account can, except change how you sign in. Go on only if you started <code>coinslot login</code> yourself, and your terminal shows this code.</p><dl>${rows}</dl><form method="post">${tokenField(token)}<input type="hidden" name="user_code" value="${escaped(code)}">${environmentChoice(live)}<div class="ask"><button class="approve" name="decision" value="approve">Sign in</button><button name="decision" value="refuse">Refuse</button></div></form>`,
  )
}

export function deviceDonePage(isRefused: boolean) {
  return isRefused
    ? page('Refused', '<p>The command line got no key. You can close this page.</p>')
    : page(
        'Signed in',
        '<p>Go back to your terminal. Revoke its key at any time on the page API keys. You can close this page.</p>',
      )
}

interface Consent {
  code: string
  name: string
  user: User
  live: boolean
  token: string
}

function page(title: string, content: string) {
  return plainPage(title, content, {
    'Content-Security-Policy': plainPolicy("form-action 'self'"),
    'X-Frame-Options': 'DENY',
    // With no-referrer a browser would send the form with `Origin: null`, which the check of the origin refuses.
    'Referrer-Policy': 'same-origin',
  })
}
