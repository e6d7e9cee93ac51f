import { createHash, randomBytes } from 'node:crypto'
import type { AuthContext, BetterAuthPlugin } from 'better-auth'
import { APIError, createAuthEndpoint } from 'better-auth/api'
import { setSessionCookie } from 'better-auth/cookies'
import { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import { DomainError } from '../../kit/errors.ts'
import type { Person } from '../../kit/caller.ts'
import { codeFlow, type CodeFlowOptions } from './code-flow.ts'
import type { SignInEmails } from '../ports.ts'
import { madeOnce, ownerOf, type StoredUser } from './user.ts'
import { withoutTrailing } from '../../kit/text.ts'

/**
 * Sign-in with the configured OpenID Connect provider, built like `signInWithEthereum`. better-auth's own plugin has
 * three faults. It reads the provider's addresses only once, at startup, and offers no sign-in if the provider was
 * unavailable then. It stores the provider's tokens, which nothing here needs. And it identifies people by the
 * provider's subject alone.
 */
export function signInWithProvider(options: ProviderOptions) {
  const flow = codeFlow(options)
  return {
    id: 'oidc',
    endpoints: {
      oidcStart: createAuthEndpoint('/oidc/start', { method: 'POST', body: start }, async (context) => {
        const [state, verifier, nonce] = [token(), token(), token()]
        const url = await flow.addressOf({ state, verifier, nonce }).catch(refuse)
        await context.context.internalAdapter.createVerificationValue({
          identifier: identifierOf(state),
          value: JSON.stringify({ verifier, nonce, next: context.body.next } satisfies z.output<typeof begun>),
          expiresAt: new Date(options.clock.now().getTime() + STATE_MS),
        })
        // The cookie binds the sign-in to this browser: a victim who opens an attacker's link must not end up in the
        // attacker's account.
        await context.setSignedCookie(cookieOf(context.context), state, context.context.secret, {
          httpOnly: true,
          sameSite: 'lax',
          secure: options.dashboard.startsWith('https:'),
          path: '/auth/oidc',
          maxAge: STATE_MS / 1_000,
        })
        return context.json({ url })
      }),

      oidcCallback: createAuthEndpoint('/oidc/callback', { method: 'GET', query: answer }, async (context) => {
        const leave = (to: string, fault?: string): never => {
          const url = new URL(withoutTrailing(options.dashboard, '/') + (fault === undefined ? to : '/sign-in'))
          if (fault !== undefined) url.searchParams.set('fault', fault)
          throw context.redirect(url.href)
        }
        const { state, code } = context.query
        const cookie = await context.getSignedCookie(cookieOf(context.context), context.context.secret)
        const { internalAdapter } = context.context
        // The first request consumes the value: an answer of the provider signs in only once.
        const kept =
          state !== undefined && cookie === state
            ? await internalAdapter.consumeVerificationValue(identifierOf(state))
            : null
        if (kept === null) return leave('', 'provider_expired')
        if (code === undefined) return leave('', 'provider_declined')
        const { verifier, nonce, next } = begun.parse(JSON.parse(kept.value))
        try {
          const person = await flow.personOf({ code, verifier, nonce })
          const user = await userOf(internalAdapter, person, options)
          const session = await internalAdapter.createSession(user.id)
          await setSessionCookie(context, { session, user })
        } catch (error) {
          if (error instanceof Refusal) return leave('', error.code)
          if (error instanceof DomainError) {
            return leave('', error.kind === 'unavailable' ? 'provider_unavailable' : 'provider_refused')
          }
          throw error
        }
        return leave(next)
      }),
    },
  } satisfies BetterAuthPlugin
}

export interface ProviderOptions extends CodeFlowOptions {
  clock: Clock
  dashboard: string
  emails: SignInEmails
  /** Mails the owner of an account's address how to make the account theirs. */
  mailOwner(user: StoredUser): Promise<void>
}

/** Why a person whom the provider knows is refused; the sign-in page has a sentence for each code. */
class Refusal extends Error {
  readonly code: string

  constructor(code: string) {
    super(code)
    this.code = code
  }
}

/**
 * The user who signed in this way before; else the user with this e-mail address, if both the provider and we have
 * confirmed it; else a new user, who is the same person as the bearer of the provider's tokens.
 */
async function userOf(adapter: AuthContext['internalAdapter'], person: Person, options: ProviderOptions) {
  const { issuer, subject, email, emailConfirmed } = person
  const account = { providerId: 'oidc', accountId: `${issuer} ${subject}` }
  const known = await ownerOf(adapter, account)
  if (known !== null) return await withEmailOf(person, known, options)
  const holder = email === null ? undefined : (await adapter.findUserByEmail(email))?.user
  if (holder !== undefined) {
    if (!emailConfirmed) throw new Refusal('provider_address_unconfirmed')
    if (!holder.emailVerified) {
      // A person who signed up with another's address would otherwise share this account with that address's owner.
      await options.mailOwner(holder)
      throw new Refusal('account_address_unconfirmed')
    }
    await adapter.linkAccount({ ...account, userId: holder.id })
    return holder
  }
  // An unconfirmed address is not stored: it may be another person's, who could sign up with it later and share this account.
  // better-auth requires one for every user; a stand-in under `.invalid` can belong to no one.
  const standIn = `${createHash('sha256').update(account.accountId).digest('hex')}@provider.invalid`
  const own = email !== null && emailConfirmed ? email : standIn
  const made = { name: person.name ?? '', email: own, emailVerified: emailConfirmed, issuer, subject }
  return await madeOnce(adapter, made, account)
}

/**
 * The address of a user whom the provider's first sign-in made is the provider's: the reader of an earlier one could
 * choose a password through it. While another account has the new address, the user keeps the earlier one.
 */
async function withEmailOf<User extends StoredUser>(
  person: Person,
  known: User,
  { emails, clock }: ProviderOptions,
): Promise<User> {
  const { issuer, subject, emailConfirmed } = person
  const to = person.email?.toLowerCase()
  const isProviders = known.issuer === issuer && known.subject === subject
  if (!isProviders || to === undefined || !emailConfirmed || to === known.email) return known
  const did = await emails.change({ subject: known.id, from: known.email, to }, clock.now())
  return did === 'changed' ? { ...known, email: to, emailVerified: true } : known
}

function refuse(error: unknown): never {
  if (!(error instanceof DomainError)) throw error
  throw APIError.from('SERVICE_UNAVAILABLE', { code: error.code.toUpperCase(), message: error.message })
}

function cookieOf({ authCookies }: Pick<AuthContext, 'authCookies'>): string {
  return authCookies.sessionToken.name.replace('session_token', 'oidc_state')
}

function identifierOf(state: string): string {
  return `oidc:${state}`
}

function token(): string {
  return randomBytes(32).toString('base64url')
}

/** The path of one of our own pages: a full address could lead to any site. */
const next = z
  .string()
  .max(2_000)
  .regex(/^\/(?![/\\])/)
const start = z.object({ next: next.default('/') })
const begun = z.object({ verifier: z.string(), nonce: z.string(), next })
const answer = z.object({ state: z.string().max(200).optional(), code: z.string().max(4_000).optional() })

/** The time that a person may take to sign in at the provider. */
const STATE_MS = 10 * 60_000
