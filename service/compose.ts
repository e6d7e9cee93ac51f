import type { Express } from 'express'
import type { Logger } from 'pino'
import type { Budgets } from './budgets/service/budgets.ts'
import type { Checkouts } from './checkouts/service/checkouts.ts'
import { openBudgets } from './budgets/part.ts'
import { openChains, type Chains } from './platform/chains.ts'
import { openChanges } from './changes/part.ts'
import { openCheckoutHooks, openCheckouts } from './checkouts/part.ts'
import { openDashboard } from './dashboard/part.ts'
import { openDeliveries } from './deliveries/part.ts'
import { openDiscovery } from './discovery/part.ts'
import { openDisputes } from './disputes/part.ts'
import type { Disputes } from './disputes/service/disputes.ts'
import { openFacilitator } from './facilitator/part.ts'
import { openFigures } from './platform/metrics.ts'
import { createPlatform, type Part, type Platform } from './platform/platform.ts'
import { openMarketplace } from './marketplace/part.ts'
import { openReceipts } from './platform/receipts.ts'
import { openReceiptKeys } from './platform/receipt-keys.ts'
import { openGateHooks, openPaywalls } from './paywall/part.ts'
import { dashboardRouter, type AppRouter } from './platform/dashboard-router.ts'
import { openPages } from './pages/part.ts'
import { openRefunds } from './refunds/part.ts'
import type { Payments } from './refunds/service/payments.ts'
import type { Refunds } from './refunds/service/refunds.ts'
import { openPruning } from './pruning/part.ts'
import { openIdentity } from './identity/part.ts'
import { identifier, openQueue, openServer, topicsOf } from './platform/serving.ts'
import { openSandbox } from './sandbox/part.ts'
import { openOAuth } from './oauth/part.ts'
import { openOutflow } from './outflow/part.ts'
import { openOutgoingPayments } from './outgoing-payments/part.ts'
import { openStorefront } from './storefront/part.ts'
import { openTools } from './tools/part.ts'
import { openWallet } from './wallet/part.ts'
import type { Config } from './config.ts'
import type { Database } from './database/client.ts'
import type { Deliveries } from './deliveries/service/deliveries.ts'
import type { Surface } from './api/openapi.ts'
import type { Identity } from './identity/service/identity.ts'
import type { Facilitator } from './facilitator/service/facilitator.ts'
import type { Clock } from './kit/clock.ts'
import type { Ledger } from './ledger/service.ts'
import type { Outflows } from './outflow/service.ts'
import type { Paywalls } from './paywall/service/paywalls.ts'
import type { Queue } from './queue/queue.ts'
import type { OutgoingPayments } from './outgoing-payments/service/payments.ts'
import type { Calls } from './tools/service/calls/calls.ts'
import type { Catalogue } from './tools/service/catalogue/catalogue.ts'
import { openDialects, openPaymentTokens, openSelling } from './sales/part.ts'
import type { Failpoints } from './kit/failpoints.ts'
import { isId } from './kit/ids.ts'
import type { Owner } from './kit/owner.ts'
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
  disputes: Disputes
  facilitator: Facilitator
  identity: Identity
  ledger: Ledger
  outflow: Outflows
  outgoingPayments: OutgoingPayments
  payments: Payments
  paywalls: Paywalls
  queue: Queue
  refunds: Refunds
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
  const { database, ledger, redis, tracer } = platform
  const chains = await openChains(platform)
  const money = await openMoney(platform, chains, () => products.checkouts)
  const products = await openProducts(platform, chains, money)
  const identify = identifier(platform, money.identity)
  const appRouter = dashboardRouter(config, platform.clock, { ...money, ...products })
  const parts: readonly Part[] = [
    // Before the dashboard, which answers every path that nothing else does.
    openSandbox(platform, money.deliveries),
    ...money.parts,
    (await openDashboard(platform)).part,
    ...products.parts,
    openPruning(platform),
    openChanges(platform, identify).part,
  ]
  const queue = openQueue(platform, options.url, parts)
  openFigures(platform, { topics: topicsOf(parts), chains, facilitator: money.facilitator })
  const server = openServer(platform, { parts, identify, appRouter, queue, budgets: money.budgets })

  return {
    ...money,
    ...products,
    app: server.app,
    appRouter,
    database,
    ledger,
    queue,
    served: server.served,
    startDraining: server.startDraining,
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
      await tracer?.close()
    },
  }
}

/** People, their money, and what is told of it. They know each other: what is opened later is asked for when it is needed. */
async function openMoney(platform: Platform, chains: Chains, checkouts: () => Checkouts) {
  const { config, database, clock } = platform
  const { listing, part: discoveryPart } = openDiscovery(platform, chains)
  const { facilitator, part: facilitatorPart } = openFacilitator(platform, chains, listing)
  const outflow = openOutflow(config, { statements: database.statements, clock })
  const { wallets, part: walletPart } = await openWallet(platform, {
    chains,
    facilitator,
    outflow,
    signUp: (person) => identity.signUp(person),
    event: (inside, event) => deliveries.event(inside, event),
    followRefund: (inside, payout) => refunds.follow(inside, payout),
    notifyOfPayoutAddress: (inside, { userId, environment }, address) =>
      identity.tellOwner(inside, userId, { kind: 'payout-address', environment, address }),
    payers: (network, block, inside) => outgoingPayments.books(network, block, inside),
    promised: (treasury) => outgoingPayments.promised(treasury),
    creditsWithheld: (user) => identity.creditsWithheld(user),
    locksOf: (agentId, locks) => budgets.agents.locksOf(agentId, locks),
  })
  const { identity, part: identityPart } = await openIdentity(platform, wallets, (owner, id) =>
    budgets.agents.exists(owner, id),
  )
  const { deliveries, part: deliveriesPart } = openDeliveries(platform, identity, {
    attempted: (target, attempt) => checkouts().attempted(target, attempt),
    ended: async (inside, { target, subject }) => {
      if (isId('chk', target)) await checkouts().deliveryFailed(inside, subject)
    },
    mayRedeliver: (subject) => checkouts().mayRedeliver(subject),
  })
  const { budgets, part: budgetsPart } = await openBudgets(platform, { identity, deliveries })
  const { outgoingPayments, part: outgoingPaymentsPart } = await openOutgoingPayments(platform, {
    budgets,
    chains,
    wallets,
    facilitator,
    outflow,
  })
  const {
    refunds,
    payments,
    part: refundsPart,
  } = openRefunds(platform, {
    payouts: wallets.refunds,
    deliveries,
    outgoingPayments,
    facilitator,
    chains,
    ended: (inside, refund, sale) => disputes.follow(inside, refund, sale),
  })
  const { disputes, part: disputesPart } = openDisputes(platform, { chains, refunds, deliveries, identity })
  const parts = [
    identityPart,
    deliveriesPart,
    budgetsPart,
    outgoingPaymentsPart,
    refundsPart,
    disputesPart,
    walletPart,
    facilitatorPart,
    discoveryPart,
  ]
  return {
    facilitator,
    listing,
    outflow,
    wallets,
    identity,
    deliveries,
    budgets,
    outgoingPayments,
    refunds,
    payments,
    disputes,
    parts,
  }
}

type Money = Awaited<ReturnType<typeof openMoney>>

/** What is sold, and the engine that sells it. */
async function openProducts(platform: Platform, chains: Chains, money: Money) {
  const { database, clock, ledger, secret } = platform
  const { facilitator, listing, wallets, identity, deliveries, budgets, outgoingPayments, refunds, disputes } = money
  const { accessTokens, part: oauthPart } = openOAuth(platform, { identity, budgets })
  const { pages, part: pagesPart } = await openPages(platform)
  const tokens = openPaymentTokens(secret)
  const { signer, issuers, part: keysPart } = openReceiptKeys(platform, chains)
  const {
    selling,
    store,
    sweeping: sales,
    holding,
    part: salesPart,
  } = openSelling(platform, {
    facilitator,
    listing,
    tokens,
    dialects: openDialects(platform, signer),
    refundTerms: (owner) => disputes.terms(owner),
    hooks: {
      tool: toolHooks(createCallStore(database.statements), clock),
      checkout: openCheckoutHooks(platform, { deliveries, tokens }),
      gate: openGateHooks(platform, { deliveries }),
      asset: guestHooks(ledger),
    },
  })
  const walletAddress = (owner: Owner) => wallets.depositAddress(owner)
  const {
    checkouts,
    mcp: checkoutMcp,
    payPerMinute,
    part: checkoutsPart,
  } = await openCheckouts(platform, {
    selling,
    holding,
    refunds,
    sales: store,
    deliveries,
    identity,
    pages,
    accounts: outgoingPayments,
    disputes,
    walletAddress,
  })
  const treasury = wallets.treasury()
  const {
    assets,
    runs,
    guests,
    part: marketplacePart,
  } = openMarketplace(platform, { identity, deliveries, budgets, selling, treasury })
  const {
    catalogue,
    calls,
    part: toolsPart,
  } = await openTools(platform, { identity, accessTokens, budgets, runs, selling, recipient: treasury })
  const {
    paywalls,
    routeCalls,
    part: paywallPart,
  } = openPaywalls(platform, {
    chains,
    selling,
    sales: store,
    pages,
    secret,
    walletAddress,
  })
  const storefront = openStorefront(platform, {
    identity,
    checkouts,
    checkoutMcp,
    assets,
    runs,
    guests,
    paywalls,
    openRoute: routeCalls,
    accounts: outgoingPayments,
    payPerMinute,
  })
  const { receipts: address } = platform.config.addresses
  const receipts = openReceipts({ checkouts, refunds, disputes, selling, pages, issuers, address })
  // The keys are on every host, also on that of the gate, which answers all other paths of its own.
  const parts = [
    oauthPart,
    pagesPart,
    salesPart,
    checkoutsPart,
    marketplacePart,
    toolsPart,
    keysPart,
    paywallPart,
    storefront,
    receipts,
  ]
  return { sales, pages, checkouts, assets, runs, catalogue, calls, paywalls, parts }
}
