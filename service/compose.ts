import type { Express } from 'express'
import type { Logger } from 'pino'
import type { Checkouts } from './checkouts/service.ts'
import { openChains } from './compose/chains.ts'
import { openChanges } from './compose/changes.ts'
import { openCheckoutHooks, openCheckouts } from './compose/checkouts.ts'
import { openDashboard } from './compose/dashboard.ts'
import { openDeliveries } from './compose/deliveries.ts'
import { openFacilitator } from './compose/facilitator.ts'
import { openFigures } from './compose/figures.ts'
import type { Part } from './compose/ground.ts'
import { openGround } from './compose/open-ground.ts'
import { openMarketplace } from './compose/marketplace.ts'
import { openReceipts } from './compose/receipts.ts'
import { openPaymentTokens } from './compose/payment-tokens.ts'
import { openGateHooks, openPaywalls } from './compose/paywall.ts'
import { dashboardRouter, type AppRouter } from './compose/dashboard-router.ts'
import { openPages } from './compose/pages.ts'
import { openPruning } from './compose/pruning.ts'
import { openIdentity } from './compose/identity.ts'
import { healthOf, identifier, loadingOf, surfacesOf } from './compose/serving.ts'
import { openSandbox } from './compose/sandbox.ts'
import { openOutflow } from './compose/outflow.ts'
import { openSpending } from './compose/spending.ts'
import { openTools } from './compose/tools.ts'
import { openWallet } from './compose/wallet.ts'
import type { Config } from './config.ts'
import type { Database } from './database/client.ts'
import { isMigrated } from './database/migrate.ts'
import type { Deliveries } from './deliveries/service.ts'
import { createApp } from './api/app.ts'
import { Idempotency } from './api/idempotency.ts'
import { createRateLimit } from './api/limits.ts'
import type { Surface } from './api/openapi.ts'
import { limitAddresses } from './api/requests.ts'
import { mountTrpc } from './api/trpc.ts'
import type { Checkpoint } from './facilitator/ports.ts'
import type { Facilitator } from './facilitator/service.ts'
import type { Identity } from './identity/service.ts'
import { loadOrMakeSecret } from './identity/signin/secret.ts'
import type { Clock } from './kit/clock.ts'
import type { Ledger } from './ledger/service.ts'
import type { Outflows } from './outflow/service.ts'
import type { Paywalls } from './paywall/service.ts'
import { createQueue, type Queue } from './queue/queue.ts'
import type { Checkpoint as PaidCallCheckpoint } from './spending/ports/payment.ts'
import type { Spending } from './spending/service.ts'
import type { Checkpoint as CallCheckpoint } from './tools/ports/calls.ts'
import type { Calls } from './tools/service/calls.ts'
import type { Catalogue } from './tools/service/catalogue.ts'
import { openSelling } from './compose/selling.ts'
import type { Failpoints } from './kit/failpoints.ts'
import { toolHooks } from './tools/service/pay/product.ts'
import { createCallStore } from './tools/store/calls.ts'
import type { Checkpoint as WithdrawalCheckpoint } from './wallet/ports.ts'
import type { Sweeping } from './sales/service/sweep.ts'
import type { Wallets } from './wallet/service.ts'
import type { Assets } from './marketplace/service/assets.ts'

export type { AppRouter } from './compose/dashboard-router.ts'

export interface Service {
  app: Express
  /** What the dashboard asks; tests go through its procedures. */
  appRouter: AppRouter
  assets: Assets
  calls: Calls
  catalogue: Catalogue
  checkouts: Checkouts
  database: Database
  deliveries: Deliveries
  facilitator: Facilitator
  identity: Identity
  ledger: Ledger
  outflow: Outflows
  paywalls: Paywalls
  queue: Queue
  sales: Sweeping
  spending: Spending
  wallets: Wallets
  /** All that can be reached here, for whoever has to look at each of it. */
  served: { surfaces: readonly Surface[]; mounted: readonly string[]; upgrades: readonly string[] }
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
  /** The same between the states of a withdrawal. */
  withdrawalCheckpoint?: WithdrawalCheckpoint
  /** The same between the states of a paid call. */
  paidCallCheckpoint?: PaidCallCheckpoint
  /** The same between the steps of a tool's call. */
  callCheckpoint?: CallCheckpoint
  /** Reached between the steps of a sale. */
  failpoints?: Failpoints
}

/** Puts the parts together, once, in one place. Nothing runs yet. */
export async function compose(config: Config, options: Options): Promise<Service> {
  const ground = await openGround(config, options, () => queue.announced())
  const { log, clock, database, ledger, metrics, redis, tracer } = ground
  const chains = await openChains(ground)
  const { facilitator, part: facilitatorPart } = openFacilitator(ground, chains, options.checkpoint)
  const outflow = openOutflow(config, { statements: database.statements, clock })
  const { wallets, part: walletPart } = await openWallet(ground, {
    chains,
    facilitator,
    outflow,
    checkpoint: options.withdrawalCheckpoint,
    signUp: (person) => identity.signUp(person),
    event: (inside, event) => deliveries.event(inside, event),
    tellOfPayoutAddress: (inside, { userId, environment }, address) =>
      identity.tellOwner(inside, userId, { kind: 'payout-address', environment, address }),
    payers: (network, block, inside) => spending.payerBooks(network, block, inside),
    promised: (treasury) => spending.promised(treasury),
    creditsWithheld: (user) => identity.creditsWithheld(user),
    locksOf: (agentId, locks) => spending.agents.locksOf(agentId, locks),
  })
  const { identity, part: identityPart } = await openIdentity(ground, wallets, (owner, id) =>
    spending.agents.exists(owner, id),
  )
  const { deliveries, part: deliveriesPart } = openDeliveries(ground, identity, (target, answer) =>
    checkouts.attempted(target, answer),
  )
  const { spending, part: spendingPart } = await openSpending(ground, {
    identity,
    deliveries,
    chains,
    wallets,
    facilitator,
    outflow,
    checkpoint: options.paidCallCheckpoint,
  })
  const { pages, part: pagesPart } = await openPages(ground)
  const { part: dashboardPart } = await openDashboard(ground)
  const secret = config.AUTH_SECRET ?? (await loadOrMakeSecret(config.DATA_DIR))
  const tokens = openPaymentTokens(secret)
  const {
    selling,
    store: sales,
    sweeping,
    part: salesPart,
  } = openSelling(ground, {
    facilitator,
    tokens,
    hooks: {
      tool: toolHooks(createCallStore(database.statements), clock),
      checkout: openCheckoutHooks(ground, { deliveries, tokens }),
      gate: openGateHooks(ground, { deliveries }),
    },
    failpoints: options.failpoints,
  })
  const { checkouts, part: checkoutsPart } = await openCheckouts(ground, {
    selling,
    sales,
    deliveries,
    identity,
    pages,
    walletAddress: (owner) => wallets.depositAddress(owner),
  })
  const { assets, runs, part: marketplacePart } = openMarketplace(ground, identity, deliveries, spending)
  const {
    catalogue,
    calls,
    part: toolsPart,
  } = await openTools(ground, {
    identity,
    spending,
    runs,
    selling,
    recipient: wallets.treasury(),
    checkpoint: options.callCheckpoint,
  })
  const { paywalls, part: paywallPart } = openPaywalls(ground, {
    chains,
    selling,
    sales,
    pages,
    secret,
    walletAddress: (owner) => wallets.depositAddress(owner),
  })
  const identify = identifier(ground, identity)
  const { part: changesPart } = openChanges(ground, identify)
  const routed = { identity, wallets, spending, assets, runs, checkouts, deliveries, catalogue, calls, paywalls }
  const appRouter = dashboardRouter(config, clock, routed)
  const parts: readonly Part[] = [
    // Before the dashboard, which answers every path that nothing else does.
    openSandbox(ground, deliveries),
    identityPart,
    deliveriesPart,
    spendingPart,
    walletPart,
    facilitatorPart,
    pagesPart,
    dashboardPart,
    salesPart,
    checkoutsPart,
    marketplacePart,
    toolsPart,
    paywallPart,
    openReceipts({ checkouts, selling, pages }),
    openPruning(ground),
    changesPart,
  ]

  const idempotency = new Idempotency(database.statements, clock)
  const topics = parts.flatMap(({ topics }) => topics ?? [])
  const queue = createQueue({
    statements: database.statements,
    clock,
    log,
    backend:
      config.REDIS_URL === undefined
        ? { kind: 'postgres', connectionString: options.url }
        : { kind: 'redis', url: config.REDIS_URL },
    topics,
    sweepers: [
      { name: 'ledger.locks', everyMs: 1_000, run: async () => metrics.count('lock_expired', await ledger.sweep()) },
      ...parts.flatMap(({ sweepers }) => sweepers ?? []),
    ],
    measures: metrics.ofQueue(),
    tracer,
  })
  openFigures(ground, { topics: topics.map(({ topic }) => topic), chains, facilitator })

  let draining = false
  const limit = createRateLimit('api', config.RATE_API_PER_MINUTE, redis)
  const surfaces = surfacesOf(config, parts)
  const mounted = [
    { role: 'dashboard' as const, path: '/trpc', handler: limitAddresses(limit) },
    ...parts.flatMap(({ mounted }) => mounted ?? []),
    {
      role: 'dashboard' as const,
      path: '/trpc',
      handler: mountTrpc(appRouter, identify, { idempotency, clock, limit, bodyBytesMax: config.BODY_BYTES_MAX }),
    },
  ].filter(({ role }) => config.ROLES.includes(role))
  const upgrades = parts.flatMap(({ upgrades }) => upgrades ?? []).filter(({ role }) => config.ROLES.includes(role))
  const app = createApp({
    clock,
    log,
    metrics,
    tracing: tracer === null ? null : { tracer, trusted: config.TRACE_INCOMING === 'continue' },
    idempotency,
    limit,
    limits: Object.fromEntries(parts.flatMap(({ limits }) => Object.entries(limits ?? {}))),
    identify,
    health: {
      draining: () => draining,
      loading: () => loadingOf(parts),
      database: () =>
        database
          .ping()
          .then(() => isMigrated(database.pool))
          .catch(() => false),
      parts: async () => ({
        queue: await queue.health().catch(() => 'unknown'),
        redis: redis === null ? 'not used' : redis.status === 'ready' ? 'ok' : 'away',
        ...(await healthOf(parts)),
      }),
    },
    surfaces,
    described: parts.flatMap(({ described }) => described ?? []).filter(({ role }) => config.ROLES.includes(role)),
    dashboard: config.addresses.dashboard,
    mounted,
    upgrades,
    https: Object.values({ ...config.addresses }).every((address) => address.startsWith('https:')),
    corsOrigins: config.CORS_ORIGINS,
    trustProxy: config.TRUST_PROXY,
    bodyBytesMax: config.BODY_BYTES_MAX,
    streams: {
      checkMs: config.STREAM_CHECK_MS,
      lifeMs: config.STREAM_LIFE_MS,
      perAccount: config.QUOTA_EVENT_STREAMS,
    },
    metricsToken: config.METRICS_TOKEN,
    live: config.LIVE,
    topUpUrl: config.TOP_UP_URL,
    awaitWord: (held, waitMs, gone) => spending.approvals.awaitWord(String(held.fields['approvalId']), waitMs, gone),
  })

  return {
    app,
    appRouter,
    assets,
    calls,
    catalogue,
    checkouts,
    sales: sweeping,
    database,
    deliveries,
    facilitator,
    identity,
    ledger,
    outflow,
    paywalls,
    queue,
    spending,
    wallets,
    served: { surfaces, mounted: mounted.map(({ path }) => path), upgrades: upgrades.map(({ path }) => path) },
    startDraining() {
      draining = true
    },
    async start() {
      if (config.ROLES.includes('worker')) await queue.start()
      for (const part of parts) await part.start?.()
    },
    async stop() {
      await queue.stop()
      for (const part of parts.toReversed()) await part.stop?.()
      await chains.close()
      await ground.outbound.close()
      await database.close()
      redis?.disconnect()
      await ground.tracer?.close()
    },
  }
}
