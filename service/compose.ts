import type { Express, Request } from 'express'
import { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { walletSignatures } from './chain/signin.ts'
import type { Config } from './config.ts'
import { openDatabase, type Database } from './database/client.ts'
import { isMigrated } from './database/migrate.ts'
import { createApp } from './edge/app.ts'
import { Idempotency } from './edge/idempotency.ts'
import { createRateLimit } from './edge/limits.ts'
import { Metrics } from './edge/metrics.ts'
import { assertOrigin, limitAddresses } from './edge/requests.ts'
import { mountTrpc, router } from './edge/trpc.ts'
import { identityRoutes } from './identity/http.ts'
import { createTokenIssuer } from './identity/issuer.ts'
import { identityTopics } from './identity/jobs.ts'
import type { Caller } from './identity/model.ts'
import { createIdentity, type Identity } from './identity/service.ts'
import { signInHandler } from './identity/signin/handler.ts'
import { loadOrMakeSecret } from './identity/signin/secret.ts'
import { createSignIn } from './identity/signin/signin.ts'
import { createIdentityStore } from './identity/store.ts'
import { identityRouter } from './identity/trpc.ts'
import { systemClock, type Clock } from './kit/clock.ts'
import { DomainError } from './kit/errors.ts'
import { fromDecimal } from './kit/money.ts'
import { createLedger, type Ledger } from './ledger/service.ts'
import { createLedgerStore } from './ledger/store.ts'
import { logMailer, smtpMailer } from './mail/mailer.ts'
import { outboundClient } from './outbound/client.ts'
import { createOutbox } from './queue/outbox.ts'
import { createQueue, type Queue } from './queue/queue.ts'
import { loadOrMakeKey } from './vault/keyfile.ts'
import { parseKeyring } from './vault/keyring.ts'
import { Secret } from './vault/secret.ts'
import { vaultOf } from './vault/vault.ts'
import { toBody, walletRoutes } from './wallet/http.ts'
import { createWallets, type Wallets } from './wallet/service.ts'
import { walletRouter } from './wallet/trpc.ts'

export interface Service {
  app: Express
  database: Database
  identity: Identity
  ledger: Ledger
  queue: Queue
  /** Says from now on that no new work is wanted here. */
  startDraining(): void
  /** Work that runs by itself; in processes with the worker's role. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** Puts the parts together, once, in one place. Nothing runs yet. */
export async function compose(config: Config, options: { url: string; log: Logger; clock?: Clock }): Promise<Service> {
  const { log } = options
  const clock = options.clock ?? systemClock
  const database = openDatabase({ url: options.url, poolMax: config.DATABASE_POOL, log })
  const redis = config.REDIS_URL === undefined ? null : openRedis(config.REDIS_URL, log)
  const metrics = new Metrics()
  const ledger = createLedger(createLedgerStore(database.statements, clock), clock)
  const wallets = createWallets(ledger)
  const outbound = outboundClient({
    policy: { allowPrivate: config.ALLOW_PRIVATE_CALLBACKS, allowHosts: config.ALLOW_HOSTS },
  })
  const mailer =
    config.SMTP_URL === undefined ? null : smtpMailer({ url: config.SMTP_URL, from: config.MAIL_FROM ?? '' })
  const vault = vaultOf(parseKeyring(config.VAULT_KEY ?? (await loadOrMakeKey(config.DATA_DIR)), config.VAULT_OLD_KEYS))
  const secret = config.AUTH_SECRET ?? (await loadOrMakeSecret(config.DATA_DIR))
  const outbox = createOutbox(clock)
  const identity = createIdentity({
    store: createIdentityStore(database),
    ledger,
    clock,
    log,
    sealing: {
      seal: (text, context) => vault.seal(new Secret(text), context),
      open: (sealed, context) => vault.open(sealed, context).reveal(),
    },
    mailer: mailer ?? logMailer(log),
    agentExists: () => Promise.resolve(false),
    signIn: (welcome) =>
      createSignIn(
        {
          prisma: database.prisma,
          clock,
          log,
          secret,
          dashboard: config.addresses.dashboard,
          trustedOrigins: config.CORS_ORIGINS,
          canMail: mailer !== null || !config.LIVE,
          signatures: walletSignatures,
          chainIds: [8453, 84532],
        },
        welcome,
      ),
    issuer: tokenIssuer(config, log),
    announce: (inside, announcement) => outbox.add(inside, [announcement]),
    live: config.LIVE,
    credits: fromDecimal(config.SIGNUP_CREDITS),
  })

  const idempotency = new Idempotency(database.statements, clock)
  const queue = createQueue({
    statements: database.statements,
    clock,
    log,
    backend:
      config.REDIS_URL === undefined
        ? { kind: 'postgres', connectionString: options.url }
        : { kind: 'redis', url: config.REDIS_URL },
    topics: identityTopics(identity),
    sweepers: [
      { name: 'ledger.locks', everyMs: 1_000, run: async () => metrics.count('lock_expired', await ledger.sweep()) },
      { name: 'edge.idempotency', everyMs: 600_000, run: () => idempotency.forget() },
    ],
    measures: {
      pushed: (topic, rows) => {
        metrics.count(`pushed ${topic}`, rows)
      },
      handled: (topic, outcome) => {
        metrics.count(`${outcome} ${topic}`)
      },
      swept: (sweeper, succeeded) => {
        metrics.count(`${succeeded ? 'swept' : 'sweep failed'} ${sweeper}`)
      },
    },
  })
  metrics.watch(
    'coinslot_queue_lag_seconds',
    'Age of the oldest due row that no relay has taken',
    async () => (await queue.health()).lagSeconds,
  )
  metrics.watch('coinslot_queue_dead', 'Rows that were given up', async () => (await queue.health()).dead)

  const ownOrigins = new Set([new URL(config.addresses.dashboard).origin, ...config.CORS_ORIGINS])
  const identify = async (request: Request): Promise<Caller> => {
    assertOrigin(request, ownOrigins)
    return await identity.identify({
      authorization: request.get('authorization'),
      cookie: request.get('cookie'),
      environmentHeader: request.get('coinslot-environment'),
      now: clock.now(),
    })
  }
  let draining = false
  const limit = createRateLimit('api', config.RATE_API_PER_MINUTE, redis)
  const signInLimit = createRateLimit('sign-in', config.RATE_SIGN_IN_PER_MINUTE, redis)
  const app = createApp({
    clock,
    log,
    metrics,
    idempotency,
    limit,
    identify,
    health: {
      draining: () => draining,
      database: () =>
        database
          .ping()
          .then(() => isMigrated(database.pool))
          .catch(() => false),
      parts: async () => ({
        queue: await queue.health().catch(() => 'unknown'),
        redis: redis === null ? 'not used' : redis.status === 'ready' ? 'ok' : 'away',
      }),
    },
    api: config.ROLES.includes('api')
      ? {
          address: config.addresses.api,
          routes: [...identityRoutes(identity, walletOf(wallets)), ...walletRoutes(wallets)],
        }
      : null,
    mounted: config.ROLES.includes('dashboard')
      ? [
          { path: '/auth', handler: limitAddresses(signInLimit, 'POST') },
          { path: '/auth', handler: signInHandler(identity, config.addresses.dashboard) },
          { path: '/trpc', handler: limitAddresses(limit) },
          { path: '/trpc', handler: mountTrpc(appRouter(identity, wallets, clock), identify) },
        ]
      : [],
    corsOrigins: config.CORS_ORIGINS,
    trustProxy: config.TRUST_PROXY,
    bodyBytesMax: config.BODY_BYTES_MAX,
    metricsToken: config.METRICS_TOKEN,
  })

  return {
    app,
    database,
    identity,
    ledger,
    queue,
    startDraining() {
      draining = true
    },
    async start() {
      if (config.ROLES.includes('worker')) await queue.start()
    },
    async stop() {
      await queue.stop()
      await identity.settled()
      mailer?.close()
      await outbound.close()
      await database.close()
      redis?.disconnect()
    },
  }
}

/**
 * What the dashboard may ask.
 * @public
 */
export type AppRouter = ReturnType<typeof appRouter>

function appRouter(identity: Identity, wallets: Wallets, clock: Clock) {
  return router({
    identity: identityRouter(identity, walletOf(wallets), clock),
    wallet: walletRouter(wallets),
  })
}

/** Whoever has no wallet is told so by null, not by an error. */
function walletOf(wallets: Wallets) {
  return async (caller: Caller): Promise<Record<string, unknown> | null> => {
    try {
      return toBody(await wallets.balance(caller))
    } catch (error) {
      if (error instanceof DomainError && error.kind === 'missing') return null
      throw error
    }
  }
}

/** The issuer's address is the operator's, not a user's: it may be on a private network whatever the policy. */
function tokenIssuer(config: Config, log: Logger) {
  if (config.OIDC_ISSUER === undefined || config.OIDC_AUDIENCE === undefined) return null
  const outbound = outboundClient({ policy: { allowPrivate: true, allowHosts: [] } })
  return createTokenIssuer({
    issuer: config.OIDC_ISSUER,
    audience: config.OIDC_AUDIENCE,
    log,
    async fetchDocument(url) {
      const { status, body } = await outbound.send({
        url,
        limits: { totalMs: 5_000, bodyBytes: 1_000_000 },
        redirects: 2,
      })
      return { status, text: body.toString('utf8') }
    },
  })
}

function openRedis(url: string, log: Logger): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: 1, enableOfflineQueue: false })
  redis.on('error', (error) => {
    log.warn({ err: error }, 'Redis is away; limits are counted by each process.')
  })
  return redis
}
