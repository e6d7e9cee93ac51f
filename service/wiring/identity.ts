import type { Request } from 'express'
import { walletSignatures } from '../chain/signin.ts'
import type { Config } from '../config.ts'
import { assertOrigin, limitAddresses } from '../api/requests.ts'
import { createRateLimit, createTakeLimit } from '../api/limits.ts'
import { identityRoutes } from '../identity/http/account.ts'
import { hookRoute } from '../identity/http/hook.ts'
import { createTokenIssuer } from '../identity/issuer.ts'
import { identityTopics } from '../identity/jobs.ts'
import type { Caller } from '../kit/caller.ts'
import { createDiscovery } from '../identity/discovery.ts'
import type { AgentExists, FetchDocument } from '../identity/ports.ts'
import { createHook } from '../identity/service/hook.ts'
import { createIdentity, type Identity } from '../identity/service/identity.ts'
import { createEmailStore, createWalletStore } from '../identity/signin/store.ts'
import { signInReference } from '../identity/http/sign-in.ts'
import { signInHandler } from '../identity/signin/handler.ts'
import { createSignIn } from '../identity/signin/signin.ts'
import { createIdentityStore } from '../identity/store.ts'
import { DomainError } from '../kit/errors.ts'
import type { Log } from '../kit/log.ts'
import { fromDecimal } from '../kit/money.ts'
import { logMailer, smtpMailer } from '../mail/mailer.ts'
import { outboundClient } from '../outbound/client.ts'
import { Secret } from '../vault/secret.ts'
import { toBody } from '../wallet/http/wallet.ts'
import type { Wallets } from '../wallet/service/wallets.ts'
import type { Platform, Part } from './platform.ts'
import { sandboxMailer } from './sandbox.ts'

export async function openIdentity(
  platform: Platform,
  wallets: Wallets,
  agentExists: AgentExists,
): Promise<{ identity: Identity; part: Part }> {
  const { config, clock, log, database, ledger, vault, secret, outbox, redis, facts } = platform
  const mailer =
    config.SMTP_URL === undefined ? null : smtpMailer({ url: config.SMTP_URL, from: config.MAIL_FROM ?? '' })
  const provider = identityProvider(config, log)
  const mailLimit = createTakeLimit('mail', MAILS_PER_HOUR, redis, 3_600)
  const mayMail = (kind: string, to: string): Promise<boolean> => mailLimit.take(`${kind} ${to}`)
  const ownerMailLimit = createTakeLimit('owner-mail', OWNER_MAILS_PER_HOUR, redis, 3_600)
  const passwordLimit = createRateLimit('password', PASSWORD_TRIES_PER_HOUR, redis, 3_600)
  const identity = createIdentity({
    mayMail,
    mayMailOwner: (kind, userId) => ownerMailLimit.take(`${kind} ${userId}`),
    notMailed: (kind, to) => mailLimit.giveBack(`${kind} ${to}`),
    store: createIdentityStore(database, config.QUOTA_KEYS),
    ledger,
    clock,
    log,
    sealing: {
      seal: (text, context) => vault.seal(new Secret(text), context),
      open: (sealed, context) => vault.open(sealed, context).reveal(),
    },
    mailer: mailer ?? sandboxMailer(platform) ?? logMailer(log),
    agentExists,
    signIn: (welcome) =>
      createSignIn(
        {
          prisma: database.prisma,
          clock,
          log,
          secret,
          dashboard: config.addresses.dashboard,
          trustedOrigins: config.CORS_ORIGINS,
          provider: provider?.client == null ? null : { ...provider, client: provider.client },
          confirmsFirst: config.LIVE,
          mayMail,
          mayTryPassword: async (user) => (await passwordLimit(user)).refusal === null,
          canMail: mailer !== null || !config.LIVE,
          signatures: walletSignatures,
          wallets: createWalletStore(
            database.statements,
            provider?.client == null ? null : provider.issuer,
            welcome.tell,
          ),
          emails: createEmailStore(database.statements, welcome.tell),
          chainIds: [8453, 84532],
        },
        welcome,
      ),
    issuer: tokenIssuer(provider),
    announce: (inside, announcement) => outbox.add(inside, [announcement]),
    live: config.LIVE,
    credits: fromDecimal(config.SIGNUP_CREDITS),
    grantBounds: {
      perDomain: config.SIGNUP_GRANTS_PER_DOMAIN_DAY,
      perAddress: config.SIGNUP_GRANTS_PER_ADDRESS_DAY,
    },
    dashboard: config.addresses.dashboard,
  })
  // An attacker with a stolen session could have changed it.
  facts.subscribe('wallet.payout_address_changed', (inside, { owner: { userId, environment }, address }) =>
    identity.tellOwner(inside, userId, { kind: 'payout-address', environment, address }),
  )
  const signInLimit = createRateLimit('sign-in', config.RATE_SIGN_IN_PER_MINUTE, redis)
  const countTry = async (email: string): Promise<void> => {
    const { refusal } = await signInLimit(`e-mail ${email}`)
    if (refusal !== null) throw refusal
  }
  const rules = { dashboard: config.addresses.dashboard, countTry, assertAccount: identifier(platform, identity) }
  return {
    identity,
    part: {
      routes: [{ surface: 'api', routes: identityRoutes(identity, walletOf(wallets)) }],
      mounted: [
        { role: 'dashboard', path: '/auth', handler: limitAddresses(signInLimit, 'POST') },
        { role: 'dashboard', path: '/auth', handler: signInHandler(identity, rules) },
      ],
      described: [
        {
          role: 'dashboard',
          address: new URL('/auth', config.addresses.dashboard).href,
          routes: signInReference({ triesPerMinute: config.RATE_SIGN_IN_PER_MINUTE }),
        },
      ],
      topics: identityTopics(identity),
      async stop() {
        await identity.settled()
        mailer?.close()
      },
    },
  }
}

/** The identity provider's messages: they sign people up, and hint at deposits. */
export function openIdentityHook({ config, clock }: Platform, identity: Identity, wallets: Wallets): Part {
  const { IDENTITY_HOOK_SECRET: secret, OIDC_ISSUER: issuer = null } = config
  const hook = createHook({
    settings: secret === undefined ? null : { secret, issuer },
    creditDeposits: wallets.creditHinted,
    signUp: identity.signUp,
    clock,
  })
  return { routes: [{ surface: 'api', routes: [hookRoute(hook)] }] }
}

/** Returns null for a caller without a wallet; that is not an error. */
export function walletOf(wallets: Wallets) {
  return async (caller: Caller): Promise<Record<string, unknown> | null> => {
    try {
      return toBody(await wallets.balance(caller))
    } catch (error) {
      if (error instanceof DomainError && error.kind === 'missing') return null
      throw error
    }
  }
}

/** The most mails of one kind to one person per hour. */
const MAILS_PER_HOUR = 5
/** Of one kind, to an owner about what programs do. */
const OWNER_MAILS_PER_HOUR = 20
/** The most password attempts per hour of a signed-in user, on endpoints that ask for the password again. */
const PASSWORD_TRIES_PER_HOUR = 10

/** The operator sets its address, not a user, so it may be on a private network in spite of the outbound policy. */
function identityProvider(config: Config, log: Log) {
  const { OIDC_ISSUER: issuer, OIDC_AUDIENCE: audience = null, OIDC_CLIENT_ID: id } = config
  if (issuer === undefined) return null
  const outbound = outboundClient({ policy: { allowPrivate: true, allowHosts: [] } })
  const fetchDocument: FetchDocument = async (url, { form, authorization } = {}) => {
    const { status, body } = await outbound.send({
      url,
      ...(form === undefined ? {} : { method: 'POST', body: form.toString() }),
      headers: {
        accept: 'application/json',
        ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        ...(authorization === undefined ? {} : { authorization }),
      },
      limits: { totalMs: 5_000, bodyBytes: 1_000_000 },
      // A redirect would hand the code or token to another server.
      redirects: form === undefined && authorization === undefined ? 2 : 0,
    })
    return { status, text: body.toString('utf8') }
  }
  const client = id === undefined ? null : { id, secret: config.OIDC_CLIENT_SECRET ?? null }
  return { issuer, audience, client, log, fetchDocument }
}

function tokenIssuer(provider: ReturnType<typeof identityProvider>) {
  if (provider?.audience == null) return null
  const { issuer, audience } = provider
  return createTokenIssuer({ issuer, audience, discover: createDiscovery(provider) })
}

/** Identifies the caller by the request's credentials. */
export function identifier({ config, clock }: Platform, identity: Identity) {
  const ownOrigins = new Set([new URL(config.addresses.dashboard).origin, ...config.CORS_ORIGINS])
  return async (request: Request): Promise<Caller> => {
    assertOrigin(request, ownOrigins)
    return await identity.identify({
      authorization: request.get('authorization'),
      cookie: request.get('cookie'),
      environmentHeader: request.get('coinslot-environment'),
      accountHeader: request.get('coinslot-account'),
      now: clock.now(),
    })
  }
}
