import type { Express } from 'express'
import type { Logger } from 'pino'
import type { Budgets } from './budgets/service/budgets.ts'
import type { Checkouts } from './checkouts/service/checkouts.ts'
import { openBudgets } from './budgets/part.ts'
import { openChains } from './platform/chains.ts'
import { openChanges } from './changes/part.ts'
import { openCheckoutHooks, openCheckouts } from './checkouts/part.ts'
import { openDashboard } from './dashboard/part.ts'
import { openDeliveries } from './deliveries/part.ts'
import { openFacilitator } from './facilitator/part.ts'
import { openFigures } from './platform/metrics.ts'
import { createPlatform, type Part } from './platform/platform.ts'
import { openMarketplace } from './marketplace/part.ts'
import { openReceipts } from './platform/receipts.ts'
import { openGateHooks, openPaywalls } from './paywall/part.ts'
import { dashboardRouter, type AppRouter } from './platform/dashboard-router.ts'
import { openPages } from './pages/part.ts'
import { openPruning } from './pruning/part.ts'
import { openIdentity } from './identity/part.ts'
import { healthOf, identifier, loadingOf, surfacesOf } from './platform/serving.ts'
import { openSandbox } from './sandbox/part.ts'
import { openOutflow } from './outflow/part.ts'
import { openOutgoingPayments } from './outgoing-payments/part.ts'
import { openTools } from './tools/part.ts'
import { openWallet } from './wallet/part.ts'
import type { Config } from './config.ts'
import type { Database } from './database/client.ts'
import { isMigrated } from './database/migrate.ts'
import type { Deliveries } from './deliveries/service/deliveries.ts'
import { createApp } from './api/app.ts'
import { Idempotency } from './api/idempotency.ts'
import { createRateLimit } from './api/limits.ts'
import type { Surface } from './api/openapi.ts'
import { limitAddresses } from './api/requests.ts'
import { mountTrpc } from './api/trpc.ts'
import type { Identity } from './identity/service/identity.ts'
import type { Facilitator } from './facilitator/service/facilitator.ts'
import type { Clock } from './kit/clock.ts'
import type { Ledger } from './ledger/service.ts'
import type { Outflows } from './outflow/service.ts'
import type { Paywalls } from './paywall/service/paywalls.ts'
import { createQueue, type Queue } from './queue/queue.ts'
import type { OutgoingPayments } from './outgoing-payments/service/payments.ts'
import type { Calls } from './tools/service/calls/calls.ts'
import type { Catalogue } from './tools/service/catalogue/catalogue.ts'
import { openPaymentTokens, openSelling } from './sales/part.ts'
import type { Failpoints } from './kit/failpoints.ts'
import { toolHooks } from './tools/service/pay/product.ts'
import { createCallStore } from './tools/store/calls/store.ts'
import type { Sweeping } from './sales/service/sweep.ts'
import type { Wallets } from './wallet/service/wallets.ts'
import { guestHooks } from './marketplace/service/guests.ts'
import type { Assets } from './marketplace/service/assets/assets.ts'

export type { AppRouter } from './platform/dashboard-router.ts'

export interface Service {
  app: Express
  /** What the dashboard asks; tests go through its procedures. */
  appRouter: AppRouter
  assets: Assets
  budgets: Budgets
  calls: Calls
  catalogue: Catalogue
  checkouts: Checkouts
  database: Database
  deliveries: Deliveries
  facilitator: Facilitator
  identity: Identity
  ledger: Ledger
  outflow: Outflows
  outgoingPayments: OutgoingPayments
  paywalls: Paywalls
  queue: Queue
  sales: Sweeping
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
  /** Reached between the states of all that moves money; a test ends the process there. */
  failpoints?: Failpoints
}

/** Puts the parts together, once, in one place. Nothing runs yet. */
export async function compose(config: Config, options: Options): Promise<Service> {
  const platform = await createPlatform(config, options, () => queue.announced())
  const { log, clock, database, ledger, metrics, redis, secret, tracer } = platform
  const chains = await openChains(platform)
  const { facilitator, part: facilitatorPart } = openFacilitator(platform, chains)
  const outflow = openOutflow(config, { statements: database.statements, clock })
  const { wallets, part: walletPart } = await openWallet(platform, {
    chains,
    facilitator,
    outflow,
    signUp: (person) => identity.signUp(person),
    event: (inside, event) => deliveries.event(inside, event),
    tellOfPayoutAddress: (inside, { userId, environment }, address) =>
      identity.tellOwner(inside, userId, { kind: 'payout-address', environment, address }),
    payers: (network, block, inside) => outgoingPayments.books(network, block, inside),
    promised: (treasury) => outgoingPayments.promised(treasury),
    creditsWithheld: (user) => identity.creditsWithheld(user),
    locksOf: (agentId, locks) => budgets.agents.locksOf(agentId, locks),
  })
  const { identity, part: identityPart } = await openIdentity(platform, wallets, (owner, id) =>
    budgets.agents.exists(owner, id),
  )
  const { deliveries, part: deliveriesPart } = openDeliveries(platform, identity, (target, answer) =>
    checkouts.attempted(target, answer),
  )
  const { budgets, part: budgetsPart } = await openBudgets(platform, { identity, deliveries })
  const { outgoingPayments, part: outgoingPaymentsPart } = await openOutgoingPayments(platform, {
    budgets,
    chains,
    wallets,
    facilitator,
    outflow,
    failpoints: options.failpoints,
  })
  const { pages, part: pagesPart } = await openPages(platform)
  const { part: dashboardPart } = await openDashboard(platform)
  const tokens = openPaymentTokens(secret)
  const {
    selling,
    store: sales,
    sweeping,
    part: salesPart,
  } = openSelling(platform, {
    facilitator,
    tokens,
    hooks: {
      tool: toolHooks(createCallStore(database.statements), clock),
      checkout: openCheckoutHooks(platform, { deliveries, tokens }),
      gate: openGateHooks(platform, { deliveries }),
      asset: guestHooks(ledger),
    },
  })
  const { checkouts, part: checkoutsPart } = await openCheckouts(platform, {
    selling,
    sales,
    deliveries,
    identity,
    pages,
    walletAddress: (owner) => wallets.depositAddress(owner),
  })
  const {
    assets,
    runs,
    part: marketplacePart,
  } = openMarketplace(platform, {
    identity,
    deliveries,
    budgets,
    selling,
    treasury: wallets.treasury(),
  })
  const {
    catalogue,
    calls,
    part: toolsPart,
  } = await openTools(platform, {
    identity,
    budgets,
    runs,
    selling,
    recipient: wallets.treasury(),
  })
  const { paywalls, part: paywallPart } = openPaywalls(platform, {
    chains,
    selling,
    sales,
    pages,
    secret,
    walletAddress: (owner) => wallets.depositAddress(owner),
  })
  const identify = identifier(platform, identity)
  const { part: changesPart } = openChanges(platform, identify)
  const routed = { identity, wallets, budgets, assets, runs, checkouts, deliveries, catalogue, calls, paywalls }
  const appRouter = dashboardRouter(config, clock, routed)
  const parts: readonly Part[] = [
    // Before the dashboard, which answers every path that nothing else does.
    openSandbox(platform, deliveries),
    identityPart,
    deliveriesPart,
    budgetsPart,
    outgoingPaymentsPart,
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
    openPruning(platform),
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
  openFigures(platform, { topics: topics.map(({ topic }) => topic), chains, facilitator })

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
    awaitWord: (held, waitMs, gone) => budgets.approvals.awaitDecision(String(held.fields['approvalId']), waitMs, gone),
  })

  return {
    app,
    appRouter,
    assets,
    budgets,
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
    outgoingPayments,
    paywalls,
    queue,
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
      await platform.outbound.close()
      await database.close()
      redis?.disconnect()
      await platform.tracer?.close()
    },
  }
}
