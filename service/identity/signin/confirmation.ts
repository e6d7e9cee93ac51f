import type { BetterAuthPlugin } from 'better-auth'
import { APIError, createAuthEndpoint, getSessionFromCtx } from 'better-auth/api'
import { setSessionCookie } from 'better-auth/cookies'
import { jwtVerify } from 'jose'
import { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import type { SignInEmails } from '../ports.ts'
import { PASSWORD_LENGTH } from '../rules.ts'
import type { StoredUser } from './user.ts'

/**
 * Confirms the address of a sign-up, in place of better-auth's own link, which confirms on a GET and signs in the browser that
 * opens it. Anybody can sign up with an address that is not theirs, so the mailed token alone does not show that its reader
 * chose the password: only the browser that signed up, or one that is signed in to the account, confirms without one.
 */
export function confirmationOfEmail({ clock, emails, signsIn, confirmed }: ConfirmationOptions) {
  return {
    id: 'email-confirmation',
    endpoints: {
      // Named as better-auth's endpoint, which it replaces.
      verifyEmail: createAuthEndpoint('/verify-email', { method: 'POST', body: emailConfirmation }, async (context) => {
        const { internalAdapter, secret, password: passwords } = context.context
        const { token, password } = context.body
        const email = await addressIn(token, secret)
        const user = email === null ? undefined : (await internalAdapter.findUserByEmail(email))?.user
        if (user === undefined || user.emailVerified) throw APIError.from('BAD_REQUEST', REFUSALS.stale)
        const signedUpHere = (await context.getSignedCookie(SIGNED_UP, secret)) === user.id
        let replaced: { hash: string; at: Date } | null = null
        if (!signedUpHere && (await getSessionFromCtx(context))?.user.id !== user.id) {
          if (password === undefined) throw APIError.from('FORBIDDEN', REFUSALS.password)
          const hash = (await internalAdapter.findCredentialAccount(user.id))?.password
          const isKnown = hash != null && (await passwords.verify({ hash, password }))
          if (!isKnown) replaced = { hash: await passwords.hash(chosen(password)), at: clock.now() }
        }
        if (!(await emails.confirm(user.id, replaced))) throw APIError.from('BAD_REQUEST', REFUSALS.stale)
        await confirmed({ ...user, emailVerified: true })
        context.setCookie(SIGNED_UP, '', { ...COOKIE, maxAge: 0 })
        if (!signsIn || !signedUpHere) return context.json({ token: null })
        const session = await internalAdapter.createSession(user.id)
        await setSessionCookie(context, { session, user: { ...user, emailVerified: true } })
        return context.json({ token: session.token })
      }),
    },
  } satisfies BetterAuthPlugin
}

export interface ConfirmationOptions {
  clock: Clock
  emails: SignInEmails
  /** Whether the browser that signed up is signed in by the confirmation. */
  signsIn: boolean
  /** Called once the address is confirmed. */
  confirmed(user: StoredUser): Promise<void>
}

/** The cookie names, signed, the account that this browser signed up; it is set whether or not the address was taken. */
export const SIGNED_UP = 'coinslot.signed_up'
export const COOKIE = { httpOnly: true, sameSite: 'lax', path: '/auth' } as const

const REFUSALS = {
  stale: {
    code: 'INVALID_TOKEN',
    message:
      'This link has expired or was already used. Sign in: if your address is not confirmed yet, that sends a new link, or the settings do.',
  },
  password: {
    code: 'PASSWORD_REQUIRED',
    message: 'You did not sign up in this browser. Enter the password that you chose at sign-up, or choose a new one.',
  },
  short: {
    code: 'PASSWORD_TOO_SHORT',
    message: `A password has at least ${String(PASSWORD_LENGTH.min)} characters. Choose a longer one.`,
  },
}

export const emailConfirmation = z.object({
  token: z.string().max(2_000),
  password: z.string().max(PASSWORD_LENGTH.max).optional(),
})

function chosen(password: string): string {
  if (password.length < PASSWORD_LENGTH.min) throw APIError.from('BAD_REQUEST', REFUSALS.short)
  return password
}

/** Null when the token is not ours or has expired. */
async function addressIn(token: string, secret: string): Promise<string | null> {
  try {
    const { payload } = await jwtVerify(token, new TextEncoder().encode(secret), { algorithms: ['HS256'] })
    return typeof payload['email'] === 'string' ? payload['email'] : null
  } catch {
    return null
  }
}
