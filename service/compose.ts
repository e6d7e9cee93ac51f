import { randomUUID } from 'node:crypto'
import type { Express, Request } from 'express'
import { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { loadCurve } from './chain/curve.ts'
import { addressOf, createSignatures } from './chain/eip712.ts'
import { loadKeccak } from './chain/keccak.ts'
import type { Hex } from './chain/model.ts'
import { NETWORKS } from './chain/networks.ts'
import { walletSignatures } from './chain/signin.ts'
import { createChain } from './chain/usdc.ts'
import type { Config } from './config.ts'
import { openDatabase, type Database } from './database/client.ts'
import { isMigrated } from './database/migrate.ts'
import { createApp } from './edge/app.ts'
import { Idempotency } from './edge/idempotency.ts'
import { createRateLimit } from './edge/limits.ts'
import { Metrics } from './edge/metrics.ts'
import { assertOrigin, limitAddresses } from './edge/requests.ts'
import { mountTrpc, router } from './edge/trpc.ts'
import { facilitatorRoutes } from './facilitator/http.ts'
import { facilitatorSweepers } from './facilitator/jobs.ts'
import type { Checkpoint } from './facilitator/ports.ts'
import { createFacilitator, type Facilitator } from './facilitator/service.ts'
import { createSettlementStore } from './facilitator/store.ts'
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
import { createLease } from './queue/lease.ts'
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
  facilitator: Facilitator
  identity: Identity
  ledger: Ledger
  queue: Queue
  /** Says from now on that no new work is wanted here. */
  startDraining(): void
  /** Work that runs by itself; in processes with the worker's role. */
  start(): Promise<void>
  stop(): Promise<void>
}

interface Options {
  url: string
  log: Logger
  clock?: Clock
  /** Called between the states of a settlement; a test ends the process there. */
  checkpoint?: Checkpoint
}

/** Puts the parts together, once, in one place. Nothing runs yet. */
export async function compose(config: Config, options: Options): Promise<Service> {
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
  const outbox = createOutbox(clock, () => {
    queue.announced()
  })
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

  const { facilitator, closeChains } = await openFacilitator(config, { database, clock, metrics, options })

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
      ...facilitatorSweepers(facilitator),
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
    limits: {
      verify: createRateLimit('verify', config.RATE_VERIFY_PER_MINUTE, redis),
      settle: createRateLimit('settle', config.RATE_SETTLE_PER_MINUTE, redis),
    },
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
        sponsors: facilitator.gas().map((gas) => ({ ...gas, wei: gas.wei === null ? null : String(gas.wei) })),
        redis: redis === null ? 'not used' : redis.status === 'ready' ? 'ok' : 'away',
      }),
    },
    surfaces: [
      ...(config.ROLES.includes('api')
        ? [
            {
              name: 'api',
              address: config.addresses.api,
              routes: [...identityRoutes(identity, walletOf(wallets)), ...walletRoutes(wallets)],
            },
          ]
        : []),
      ...(config.ROLES.includes('facilitator')
        ? [{ name: 'facilitator', address: config.addresses.facilitator, routes: facilitatorRoutes(facilitator) }]
        : []),
    ],
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
    facilitator,
    identity,
    ledger,
    queue,
    startDraining() {
      draining = true
    },
    async start() {
      if (config.ROLES.includes('worker')) await queue.start()
      if (config.ROLES.includes('facilitator')) facilitator.start()
    },
    async stop() {
      await queue.stop()
      await facilitator.stop()
      await closeChains()
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

/** Verifies and settles on the networks that have an RPC; without one it says so to whoever asks. */
async function openFacilitator(
  config: Config,
  { database, clock, metrics, options }: { database: Database; clock: Clock; metrics: Metrics; options: Options },
) {
  const { log } = options
  const [curve, keccak] = await Promise.all([loadCurve(), loadKeccak()])
  const signatures = createSignatures(curve, keccak)
  log.info({ curve: signatures.kind }, 'signatures are recovered')
  const keys = config.SPONSOR_PRIVATE_KEYS as Hex[]
  const [first] = keys
  const sender = first === undefined ? null : addressOf(keccak, curve.publicKey(Buffer.from(first.slice(2), 'hex')))
  const urls = { base: config.BASE_RPC_URLS, 'base-sepolia': config.BASE_SEPOLIA_RPC_URLS }
  const chains = Object.values(NETWORKS)
    .filter(({ name }) => urls[name].length > 0)
    .map((network) =>
      createChain({
        network,
        urls: urls[network.name],
        sender,
        curve,
        keccak,
        clock,
        log,
        gasEach: BigInt(config.SETTLE_GAS_MAX),
      }),
    )
  const facilitator = createFacilitator({
    store: createSettlementStore(database.statements),
    signatures,
    chains: new Map(chains.map((chain) => [chain.network.name, chain])),
    keys,
    lease: (name) => createLease(database.statements, name, randomUUID()),
    clock,
    log,
    measures: metrics,
    checkpoint: options.checkpoint ?? (() => undefined),
    settings: {
      waitMs: config.SETTLE_WAIT_MS,
      confirmations: config.SETTLE_CONFIRMATIONS,
      gasMax: BigInt(config.SETTLE_GAS_MAX),
      gasPerDay: config.GAS_BUDGET_PER_DAY === 0n ? null : config.GAS_BUDGET_PER_DAY,
      gasPerPayerDay: config.GAS_BUDGET_PER_PAYER_DAY === 0n ? null : config.GAS_BUDGET_PER_PAYER_DAY,
      lowBalance: config.SPONSOR_LOW_BALANCE,
      bumpAfterMs: config.SETTLE_BUMP_AFTER_MS,
    },
  })
  metrics.watch(
    'coinslot_sponsors_low_on_gas',
    'Sponsors whose balance is below SPONSOR_LOW_BALANCE',
    () => facilitator.gas().filter(({ low }) => low).length,
  )
  return { facilitator, closeChains: () => Promise.all(chains.map((chain) => chain.close())) }
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
