import { createHmac, randomBytes } from 'node:crypto'
import { prismaAdapter } from 'better-auth/adapters/prisma'
import { APIError, createAuthMiddleware, createEmailVerificationToken } from 'better-auth/api'
import { betterAuth } from 'better-auth/minimal'
import { bearer } from 'better-auth/plugins/bearer'
import type { Clock } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { Log } from '../../kit/log.ts'
import { sessionsUnavailable } from '../errors.ts'
import type { ConnectedWallets, SignIn, SignInEmails, WalletSignatures, Welcome } from '../ports.ts'
import { isNobodys, PASSWORD_LENGTH, PERSON_NAME_MAX } from '../rules.ts'
import { answer } from './answer.ts'
import { confirmationOfEmail, COOKIE, SIGNED_UP } from './confirmation.ts'
import { changeOfEmail, toEmailToken } from './email.ts'
import { createProofs } from './proof.ts'
import { signInWithProvider, type ProviderOptions } from './provider.ts'
import { signInWithEthereum } from './siwe.ts'
import { emailOf, toFields, toPerson, type StoredUser } from './user.ts'

export interface SignInOptions {
  /** The generated client; better-auth looks its tables up by name. */
  prisma: object
  clock: Clock
  log: Log
  /** Signs session cookies and confirmation links. */
  secret: string
  /** The dashboard's public address; the sign-in is at /auth of its host. */
  dashboard: string
  trustedOrigins: readonly string[]
  /** False when the server cannot send confirmation mails: then no person can sign up by e-mail. */
  canMail: boolean
  /**
   * A person who signs up by e-mail must first follow the mailed link: so a sign-up looks the same whether the address
   * is taken or not. In the sandbox, which holds nothing of value, they are signed in at once, and learn if an address
   * is taken.
   */
  confirmsFirst: boolean
  /**
   * Whether one more mail of this kind may be sent to this recipient now: a stranger who knows an address must not fill
   * its mailbox.
   */
  mayMail(kind: string, subject: string): Promise<boolean>
  /**
   * Whether the password of a signed-in user may be tried once more: the thief of a session could guess it from many
   * network addresses.
   */
  mayTryPassword(user: string): Promise<boolean>
  /** Null where no OpenID Connect provider is configured. */
  provider: Omit<ProviderOptions, 'clock' | 'log' | 'dashboard' | 'redirectUri' | 'emails' | 'mailOwner'> | null
  signatures: WalletSignatures
  wallets: ConnectedWallets
  emails: SignInEmails
  /** Chains that a wallet's message may name. */
  chainIds: readonly number[]
}

/** Sign-in by e-mail and password or by wallet: better-auth behind the interface of the ports. */
export function createSignIn(options: SignInOptions, welcome: Welcome): SignIn {
  const auth = open(options, welcome)

  return {
    handle: (request) =>
      answer(request, auth.handler, async (headers) => {
        const found = await auth.api.getSession({ headers, query: { disableRefresh: true } })
        return found === null || (await options.mayTryPassword(found.user.id))
      }),

    async personOf(session) {
      // Only one of the two headers: better-auth would fall back to the cookie when the token is wrong.
      const headers = new Headers(
        'bearer' in session ? { authorization: `Bearer ${session.bearer}` } : { cookie: session.cookie },
      )
      const found = await auth.api.getSession({ headers, query: { disableRefresh: true } }).catch((error: unknown) => {
        throw sessionsUnavailable(error)
      })
      return found === null ? null : toPerson(found.user)
    },

    async ensurePerson(email, name) {
      const { internalAdapter } = await auth.$context
      const known = await internalAdapter.findUserByEmail(email)
      if (known !== null) return toPerson(known.user)
      try {
        return toPerson(await internalAdapter.createUser({ email, name, emailVerified: false }, { method: 'server' }))
      } catch (error) {
        // Another process created the same user at the same moment.
        const winner = await internalAdapter.findUserByEmail(email)
        if (winner === null) throw error
        return toPerson(winner.user)
      }
    },

    async confirmation(subject) {
      const { internalAdapter, secret } = await auth.$context
      const user = await internalAdapter.findUserById(subject)
      if (user === null || user.emailVerified || emailOf(user) === null) return null
      const link = new URL('/verify-email', options.dashboard)
      link.searchParams.set('token', await createEmailVerificationToken(secret, user.email, undefined, CONFIRM_SECONDS))
      return { email: user.email, link: link.href }
    },

    async reset(subject, mailId) {
      const { internalAdapter, secret } = await auth.$context
      const user = await internalAdapter.findUserById(subject)
      if (user === null || emailOf(user) === null) return null
      // The same mail, sent again, holds the same token: only a new request creates a new one. But the token of a link that
      // was used, or went to an earlier address, must not come back.
      const password = (await internalAdapter.findCredentialAccount(subject))?.password ?? null
      const what = JSON.stringify([mailId, user.email, password])
      const token = createHmac('sha256', secret).update(`reset-password ${what}`).digest('base64url')
      const identifier = `reset-password:${token}`
      if ((await internalAdapter.findVerificationValue(identifier)) === null) {
        const expiresAt = new Date(Date.now() + RESET_SECONDS * 1_000)
        await internalAdapter.createVerificationValue({ identifier, value: subject, expiresAt })
      }
      const link = new URL('/reset-password', options.dashboard)
      link.searchParams.set('token', token)
      return { email: user.email, isConfirmed: user.emailVerified, link: link.href }
    },

    async emailChange(change, askedAt) {
      const { internalAdapter, secret } = await auth.$context
      const user = await internalAdapter.findUserById(change.subject)
      if (user?.email !== change.from) return null
      const link = new URL(`${options.dashboard.replace(/\/$/, '')}/settings/email`)
      const until = new Date(askedAt.getTime() + CONFIRM_SECONDS * 1_000)
      link.searchParams.set('token', toEmailToken(change, until, secret))
      return link.href
    },
  }
}

function open(options: SignInOptions, welcome: Welcome) {
  const { clock, log } = options
  const origin = new URL(options.dashboard)
  const redirectUri = `${origin.origin}/auth/oidc/callback`
  const confirm = async (subject: string): Promise<void> => {
    if (await options.mayMail('confirmation', subject)) await welcome.confirmationWanted(subject)
  }
  const mails = passwordMails(options, welcome)
  const proofs = createProofs(options)
  return betterAuth({
    appName: 'Coinslot',
    baseURL: origin.origin,
    basePath: '/auth',
    secret: options.secret,
    database: prismaAdapter(options.prisma, { provider: 'postgresql', transaction: true }),
    user: {
      modelName: 'signInUser',
      // For users who came from an OpenID Connect provider: there they are the same person as the bearer of its tokens.
      additionalFields: {
        issuer: { type: 'string', required: false, input: false },
        subject: { type: 'string', required: false, input: false },
      },
    },
    session: { modelName: 'signInSession' },
    account: { modelName: 'signInAccount' },
    // Hashed, so that a reader of the database finds no link that still works.
    verification: { modelName: 'signInVerification', storeIdentifier: 'hashed' },
    trustedOrigins: [...options.trustedOrigins],
    telemetry: { enabled: false },
    // The HTTP layer limits sign-in attempts, by a network address that callers cannot choose.
    rateLimit: { enabled: false },
    onAPIError: {
      // By default better-auth would write every wrong password attempt to the console.
      onError: (error) => {
        if (!(error instanceof APIError)) log.error({ err: error }, 'A sign-in request failed.')
      },
    },
    // Called on the log itself: pino's methods fail without it, and a refusal would become a fault.
    logger: { level: 'warn', log: (level, message) => log[level === 'error' ? 'error' : 'warn']({}, message) },
    advanced: {
      cookiePrefix: 'coinslot',
      useSecureCookies: origin.protocol === 'https:',
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax' },
      // better-auth turns both checks off in its test mode, and the tests must cover them.
      disableOriginCheck: false,
      disableCSRFCheck: false,
      ipAddress: { disableIpTracking: true },
      database: {
        generateId: ({ model }) =>
          model === 'user' ? newId('usr', clock.now()) : randomBytes(16).toString('base64url'),
      },
    },
    emailAndPassword: passwordsOf(options, welcome, mails),
    emailVerification: {
      expiresIn: CONFIRM_SECONDS,
      // A sign-up that signs in at once announces the first mail itself, in its transaction; this function serves later
      // requests.
      sendOnSignUp: options.confirmsFirst,
      sendOnSignIn: true,
      sendVerificationEmail: ({ user }) => confirm(user.id),
    },
    databaseHooks: {
      session: {
        create: {
          // Runs at every sign-in, including the first, so that every person with a session has a wallet.
          async after(session, context) {
            const user = await context?.context.internalAdapter.findUserById(session.userId)
            if (user != null) await welcome.signedIn(toPerson(user))
          },
        },
      },
    },
    hooks: {
      before: createAuthMiddleware(async (context) => {
        refuse(context.path, toFields(context.body), options.canMail)
      }),
      after: createAuthMiddleware(async (request) => {
        const { path, context } = request
        if (context.returned instanceof APIError) return
        if (path === '/change-password' && context.session !== null) await mails.passwordChanged(context.session.user)
        const signedUp = path === '/sign-up/email' && options.confirmsFirst ? toFields(context.returned)['user'] : null
        const { id } = toFields(signedUp)
        if (typeof id !== 'string') return
        const cookie = { ...COOKIE, secure: origin.protocol === 'https:', maxAge: CONFIRM_SECONDS }
        await request.setSignedCookie(SIGNED_UP, id, context.secret, cookie)
      }),
    },
    plugins: [
      // The session's row alone is not a credential: the API accepts its token only with our signature.
      bearer({ requireSignature: true }),
      signInWithEthereum({ ...options, proofs }),
      confirmationOfEmail({
        clock,
        emails: options.emails,
        signsIn: options.confirmsFirst,
        confirmed: (user) => welcome.signedIn(toPerson(user)),
      }),
      changeOfEmail({
        ...options,
        proofs,
        wanted: welcome.emailChangeWanted,
        changed: (user) => welcome.signedIn(toPerson(user)),
      }),
      ...(options.provider === null
        ? []
        : [signInWithProvider({ ...options, ...options.provider, redirectUri, mailOwner: mails.mailOwner })]),
    ],
  })
}

function passwordMails({ mayMail, emails }: SignInOptions, { resetWanted, changed }: Welcome) {
  const mailReset = async ({ id }: StoredUser): Promise<void> => {
    if (await mayMail('reset', id)) await resetWanted(id)
  }
  return {
    mailReset,
    /**
     * Of several who signed up with an unconfirmed address each may be a stranger, who must not know the password of the
     * account that its owner confirms.
     */
    async mailOwner(user: StoredUser): Promise<void> {
      if (!user.emailVerified) await emails.forgetPassword(user.id)
      await mailReset(user)
    },
    /** Other links that were mailed before would otherwise replace the new password. */
    async passwordChanged(user: StoredUser): Promise<void> {
      await emails.endResets(user.id)
      await changed(user.emailVerified ? emailOf(user) : null, { kind: 'password-changed' })
    },
  }
}

function passwordsOf(
  { clock, confirmsFirst, emails }: SignInOptions,
  { signedIn }: Welcome,
  { passwordChanged, mailReset, mailOwner }: ReturnType<typeof passwordMails>,
) {
  return {
    enabled: true,
    minPasswordLength: PASSWORD_LENGTH.min,
    maxPasswordLength: PASSWORD_LENGTH.max,
    requireEmailVerification: confirmsFirst,
    resetPasswordTokenExpiresIn: RESET_SECONDS,
    // The token that better-auth made is not used, because it would be stored in the outbox until the mail is sent.
    sendResetPassword: ({ user }: { user: StoredUser }) => mailReset(user),
    // Only the owner of the address learns that it already has an account.
    onExistingUserSignUp: ({ user }: { user: StoredUser }) => mailOwner(user),
    // Ends the sessions of everyone who knew the old password.
    revokeSessionsOnPasswordReset: true,
    onPasswordReset: async ({ user }: { user: StoredUser }) => {
      await passwordChanged(user)
      // The mailed link has shown whose the address is.
      const replaced = { hash: null, at: clock.now() }
      if (await emails.confirm(user.id, replaced)) await signedIn(toPerson({ ...user, emailVerified: true }))
    },
  }
}

function refuse(path: string, body: Readonly<Record<string, unknown>>, canMail: boolean): void {
  const { email, name } = body
  if (!canMail && path === '/request-password-reset') {
    throw APIError.from('BAD_REQUEST', {
      code: 'PASSWORD_RESET_UNAVAILABLE',
      message: 'This server cannot send mail, so it cannot reset passwords. Ask its operator for help.',
    })
  }
  if (!canMail && (path === '/sign-up/email' || path === '/send-verification-email')) {
    throw APIError.from('BAD_REQUEST', {
      code: 'EMAIL_SIGN_UP_UNAVAILABLE',
      message: 'This server cannot send mail, so you cannot sign up by e-mail. Sign in with a wallet instead.',
    })
  }
  // A person who took a wallet's stand-in address would lock that wallet out.
  if (typeof email === 'string' && isNobodys(email)) {
    throw APIError.from('BAD_REQUEST', { code: 'INVALID_EMAIL', message: 'Enter a valid e-mail address.' })
  }
  if (typeof name === 'string' && name.length > PERSON_NAME_MAX) {
    const message = `A name has at most ${String(PERSON_NAME_MAX)} characters.`
    throw APIError.from('BAD_REQUEST', { code: 'INVALID_NAME', message })
  }
}

const CONFIRM_SECONDS = 24 * 3_600
const RESET_SECONDS = 3_600
