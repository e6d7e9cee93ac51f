import { createHmac, timingSafeEqual } from 'node:crypto'
import type { BetterAuthPlugin } from 'better-auth'
import { APIError, createAuthEndpoint, sensitiveSessionMiddleware, sessionMiddleware } from 'better-auth/api'
import { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import type { EmailChange } from '../model.ts'
import type { SignInEmails } from '../ports.ts'
import { isNobodys } from '../rules.ts'
import { ownerProof, type Proofs } from './proof.ts'
import type { StoredUser } from './user.ts'

/**
 * Changes an account's e-mail address, or adds the first one of a person who signed up by wallet. The new address
 * counts once its owner has followed the mailed link while signed in here. So a mistyped address gives no stranger
 * access; better-auth's own link would, because it signs in the person who follows it.
 */
export function changeOfEmail({ clock, secret, canMail, mayMail, emails, proofs, wanted, changed }: EmailOptions) {
  return {
    id: 'email-change',
    endpoints: {
      emailNow: createAuthEndpoint('/email', { method: 'GET', use: [sessionMiddleware] }, async (context) => {
        const { internalAdapter, session } = context.context
        const { email, emailVerified } = session.user
        return context.json({
          email: isNobodys(email) ? null : email,
          confirmed: emailVerified && !isNobodys(email),
          hasPassword: (await internalAdapter.findCredentialAccount(session.user.id))?.password != null,
          byProvider: await proofs.isByProvider(internalAdapter, session.user.id),
          changeable: canMail && !isOfProvider(session.user),
        })
      }),

      emailChange: createAuthEndpoint(
        '/email/change',
        { method: 'POST', body: emailWanted, use: [sensitiveSessionMiddleware] },
        async (context) => {
          const { internalAdapter, session } = context.context
          const { id, email: from } = session.user
          const to = context.body.email.toLowerCase()
          if (isOfProvider(session.user)) throw APIError.from('CONFLICT', REFUSALS.provider)
          if (!canMail) throw APIError.from('BAD_REQUEST', REFUSALS.unavailable)
          if (!z.email().max(254).safeParse(to).success) throw APIError.from('BAD_REQUEST', REFUSALS.invalid)
          if (isNobodys(to)) throw APIError.from('BAD_REQUEST', REFUSALS.nobodys)
          if (to === from) throw APIError.from('BAD_REQUEST', REFUSALS.same)
          // The owner of the new address can set a new password through it, so an open session alone is not enough.
          await proofs.assertOwner(context.context, context.body)
          if (!(await mayMail('email-change', id)) || !(await mayMail('email-change', to))) {
            throw APIError.from('TOO_MANY_REQUESTS', REFUSALS.tooMany)
          }
          // The answer is the same for a taken address, so that it does not reveal who has an account here.
          const taken = (await internalAdapter.findUserByEmail(to)) !== null
          if (!taken) await wanted({ subject: id, from, to })
          return context.json({ success: true })
        },
      ),

      emailConfirm: createAuthEndpoint(
        '/email/confirm',
        { method: 'POST', body: emailToken, use: [sensitiveSessionMiddleware] },
        async (context) => {
          const { id } = context.context.session.user
          const change = readEmailToken(context.body.token, clock.now(), secret)
          if (change === null) throw APIError.from('BAD_REQUEST', REFUSALS.stale)
          if (change.subject !== id) throw APIError.from('FORBIDDEN', REFUSALS.anothers)
          const did = await emails.change(change, clock.now())
          if (did !== 'changed') throw APIError.from(did === 'taken' ? 'CONFLICT' : 'BAD_REQUEST', REFUSALS[did])
          // The rest of the service takes a person's address from their sign-in, so it must get the new one.
          const user = await context.context.internalAdapter.findUserById(id)
          if (user !== null) await changed(user)
          return context.json({ email: change.to })
        },
      ),
    },
  } satisfies BetterAuthPlugin
}

export interface EmailOptions {
  clock: Clock
  secret: string
  canMail: boolean
  mayMail(kind: string, to: string): Promise<boolean>
  emails: SignInEmails
  proofs: Proofs
  /** Called when a person requests the mail. */
  wanted(change: EmailChange): Promise<void>
  /** Called when a person's address has changed. */
  changed(user: StoredUser): Promise<void>
}

/** A user whose provider has confirmed no address yet has none here, and may enter one. */
function isOfProvider({ issuer, email }: StoredUser): boolean {
  return issuer != null && !isNobodys(email)
}

const REFUSALS = {
  provider: {
    code: 'EMAIL_OF_PROVIDER',
    message: 'Your identity provider manages your address: change it there, then sign in with it again.',
  },
  unavailable: {
    code: 'EMAIL_CHANGE_UNAVAILABLE',
    message: 'This server cannot send mail, so it cannot confirm a new address. Ask its operator to set up mail.',
  },
  invalid: { code: 'INVALID_EMAIL', message: 'Enter a valid e-mail address.' },
  nobodys: { code: 'INVALID_EMAIL', message: 'Enter a valid e-mail address.' },
  same: { code: 'EMAIL_SAME', message: 'This is already your address. Enter another one.' },
  tooMany: { code: 'TOO_MANY_MAILS', message: 'Too many mails were requested. Try again in an hour.' },
  stale: {
    code: 'INVALID_TOKEN',
    message: 'This link has expired, or your address was changed after it was sent. Request a new link.',
  },
  anothers: { code: 'OTHER_ACCOUNT', message: 'This link belongs to another account: sign in to that one to use it.' },
  taken: { code: 'EMAIL_TAKEN', message: 'Another account already uses this address.' },
}

export const emailWanted = ownerProof.extend({ email: z.string() })

export const emailToken = z.object({ token: z.string().max(2_000) })

/**
 * The token in the mail to a new address: the account, its current address and the new one. Nothing is stored: once the
 * address has changed, the current address no longer matches and the token is void.
 */
export function toEmailToken({ subject, from, to }: EmailChange, until: Date, secret: string): string {
  const text = Buffer.from(JSON.stringify([subject, from, to, until.getTime()])).toString('base64url')
  return `${text}.${signed(text, secret).toString('base64url')}`
}

/** Null when the token is not ours or has expired. */
function readEmailToken(token: string, now: Date, secret: string): EmailChange | null {
  const [text = '', signature = ''] = token.split('.')
  const [sent, expected] = [Buffer.from(signature, 'base64url'), signed(text, secret)]
  if (sent.length !== expected.length || !timingSafeEqual(sent, expected)) return null
  const [subject, from, to, until] = CONTENT.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
  return until > now.getTime() ? { subject, from, to } : null
}

/**
 * The same secret also signs sessions and other mails' links; the prefix keeps these signatures from being valid for
 * each other.
 */
function signed(text: string, secret: string): Buffer {
  return createHmac('sha256', secret).update(`email-change ${text}`).digest()
}

const CONTENT = z.tuple([z.string(), z.string(), z.string(), z.number()])
