import type { Express } from 'express'
import type { Logger } from 'pino'
import type { Budgets } from '../budgets/service/budgets.ts'
import type { Checkouts } from '../checkouts/service/checkouts.ts'
import type { Coupons } from '../coupons/service.ts'
import { openBudgets } from './budgets.ts'
import { openChains, type Chains } from './chains.ts'
import { openChanges } from './changes.ts'
import { openConnections } from './connections.ts'
import type { Connections } from '../connections/service/connections.ts'
import { openCoupons } from './coupons.ts'
import { openCheckoutHooks, openCheckouts } from './checkouts.ts'
import { openDashboard } from './dashboard.ts'
import { openDeliveries } from './deliveries.ts'
import { openDiscovery } from './discovery.ts'
import type { Checks } from '../discovery/service/checks.ts'
import { openDisputes } from './disputes.ts'
import type { Disputes } from '../disputes/service/disputes.ts'
import { openFacilitator } from './facilitator.ts'
import { openBrands } from './brands.ts'
import type { Brands } from '../brands/service.ts'
import { openFiles, openUploads } from './files.ts'
import type { Files } from '../files/service.ts'
import { openFigures } from './metrics.ts'
import { createPlatform, type Part, type Platform } from './platform.ts'
import { openMarketplace } from './marketplace.ts'
import { openMethods } from './methods.ts'
import { openReceipts } from './receipts.ts'
import { openReceiptKeys } from './receipt-keys.ts'
import { openGateHooks, openPaywalls } from './paywall.ts'
import { dashboardRouter, type AppRouter } from './dashboard-router.ts'
import { openPasses } from './passes.ts'
import type { Passes } from '../passes/service/passes.ts'
import { openPages } from './pages.ts'
import { openRefunds } from './refunds.ts'
import type { Payments } from '../refunds/service/payments.ts'
import type { Refunds } from '../refunds/service/refunds.ts'
import { openPruning } from './pruning.ts'
import { openInvoices, openReceiptHooks } from './invoices.ts'
import { openIdentity, openIdentityHook, identifier } from './identity.ts'
import { openQueue, openServer, topicsOf } from './serving.ts'
import { openSandbox } from './sandbox.ts'
import { openOAuth } from './oauth.ts'
import { openOutflow } from './outflow.ts'
import { openOutgoingPayments } from './outgoing-payments.ts'
import { openStorefront } from './storefront.ts'
import { openTools } from './tools.ts'
import { openWallet } from './wallet.ts'
import { openKeys } from './keys.ts'
import { openPasskeyWallets } from './passkey-wallets.ts'
import { openPaymentAddresses, orderAddressesIn, transfersBy } from './payment-addresses.ts'
import type { PaymentAddresses } from '../payment-addresses/service/addresses.ts'
import type { Config } from '../config.ts'
import type { Database } from '../database/client.ts'
import type { Deliveries } from '../deliveries/service/deliveries.ts'
import type { Surface } from '../api/openapi.ts'
import type { Pace } from '../queue/model.ts'
import type { Identity } from '../identity/service/identity.ts'
import type { Facilitator } from '../facilitator/service/facilitator.ts'
import type { AuthCapture } from '../methods/auth-capture/scheme.ts'
import type { Clock } from '../kit/clock.ts'
import type { Ledger } from '../ledger/service.ts'
import type { Others } from '../processes/member.ts'
import type { Outflows } from '../outflow/service.ts'
import type { Paywalls } from '../paywall/service/paywalls.ts'
import type { Queue } from '../queue/queue.ts'
import type { OutgoingPayments } from '../outgoing-payments/service/payments.ts'
import type { Calls } from '../tools/service/calls/calls.ts'
import type { Catalogue } from '../tools/service/catalogue/catalogue.ts'
import { openDialects, openPaymentTokens, openSelling } from './sales.ts'
import type { Failpoints } from '../kit/failpoints.ts'
import { toolHooks } from '../tools/service/pay/product.ts'
import { createCallStore } from '../tools/store/calls/store.ts'
import { createAccountPurchases } from '../sales/service/account-purchases.ts'
import type { Sweeping } from '../sales/service/sweep.ts'
import type { Wallets } from '../wallet/service/wallets.ts'
import { guestHooks } from '../marketplace/service/guests.ts'
import { createRunStore } from '../marketplace/store/runs/runs.ts'
import type { Assets } from '../marketplace/service/assets/assets.ts'

export type { AppRouter } from './dashboard-router.ts'

export interface Service {
  app: Express
  /** What the dashboard asks; tests go through its procedures. */
  appRouter: AppRouter
  assets: Assets
  authCapture: AuthCapture
  brands: Brands
  budgets: Budgets
  calls: Calls
  catalogue: Catalogue
  checkouts: Checkouts
  connections: Connections
  coupons: Coupons
  database: Database
  deliveries: Deliveries
  disputes: Disputes
  facilitator: Facilitator
  files: Files
  identity: Identity
  ledger: Ledger
  /** Asks the addresses of other sellers before they are listed. */
  listingChecks: Checks
  outflow: Outflows
  outgoingPayments: OutgoingPayments
  passes: Passes
  paymentAddresses: PaymentAddresses
  payments: Payments
  paywalls: Paywalls
  queue: Queue
  refunds: Refunds
  sales: Sweeping
  wallets: Wallets
  /** All that can be reached here, for whoever has to look at each of it. */
  served: { surfaces: readonly Surface[]; mounted: readonly string[]; upgrades: readonly string[] }
  /** What this process waits for before it is ready; null once `/readyz` answers 200. */
  waitsFor(): Promise<string | null>
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
  /** A transaction that takes a second connection fails, as it would where the pool is full. Tests set it. */
  strict?: boolean
  /** The processes that share this one's port. */
  others?: Others | null
  /** A test's sweepers, and what tells open pages of changes, take their turns more often. */
  pace?: Partial<Pace>
}

/** Puts the parts together, once, in one place. Nothing runs yet. */
export async function compose(config: Config, options: Options): Promise<Service> {
  const platform = await createPlatform(config, options, () => queue.announced())
  const { database, ledger, redis, tracer } = platform
  const chains = await openChains(platform)
  const money = await openMoney(platform, chains, () => products.checkouts)
  const products = await openProducts(platform, chains, money)
  platform.facts.assertSubscribed()
  const identify = identifier(platform, money.identity)
  const appRouter = dashboardRouter(config, platform.clock, { ...money, ...products })
  const parts: readonly Part[] = [
    // Before the dashboard, which answers every path that nothing else does.
    openSandbox(platform, money.deliveries),
    ...money.parts,
    (await openDashboard(platform, products.assets)).part,
    ...products.parts,
    openPruning(platform),
    openChanges(platform, identify, options.pace?.sweepFactor).part,
    openUploads(platform, money.files, identify),
  ]
  const queue = openQueue(platform, options, parts)
  const networks = money.wallets.monitors.map(({ network }) => network)
  openFigures(platform, { topics: topicsOf(parts), networks, chains, facilitator: money.facilitator })
  const server = await openServer(platform, {
    parts,
    identify,
    appRouter,
    queue,
    budgets: money.budgets,
    connections: products.connections,
  })

  return {
    ...money,
    ...products,
    app: server.app,
    appRouter,
    database,
    ledger,
    queue,
    served: server.served,
    waitsFor: server.waitsFor,
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

/**
 * People, their money, and what they are notified of. They know each other: a question to a part that is opened later is
 * a function here, and what happened is a fact that such a part subscribes to (`facts.ts`).
 */
async function openMoney(platform: Platform, chains: Chains, checkouts: () => Checkouts) {
  const { config, database, clock } = platform
  const { listing, checks: listingChecks, part: discoveryPart } = openDiscovery(platform, chains)
  const { facilitator, authCapture, permits, part: facilitatorPart } = openFacilitator(platform, chains, listing)
  const outflow = openOutflow(config, { statements: database.statements, clock })
  const keys = await openKeys(config, chains)
  const { wallets, part: walletPart } = openWallet(platform, { chains, keys, facilitator, outflow })
  const { identity, part: identityPart } = await openIdentity(platform, wallets, (owner, id) =>
    budgets.agents.exists(owner, id),
  )
  const { deliveries, part: deliveriesPart } = openDeliveries(platform, identity, {
    attempted: (target, attempt) => checkouts().attempted(target, attempt),
    mayRedeliver: (inside, subject) => checkouts().mayRedeliver(inside, subject),
  })
  const { budgets, part: budgetsPart } = await openBudgets(platform, { identity, deliveries })
  const { outgoingPayments, part: outgoingPaymentsPart } = await openOutgoingPayments(platform, {
    budgets,
    chains,
    wallets,
    facilitator,
    outflow,
  })
  const { part: methodsPart, ...methods } = openMethods(platform, {
    own: { facilitator, authCapture, permits, listing },
    chains,
    accounts: outgoingPayments.here,
  })
  const {
    refunds,
    payments,
    part: refundsPart,
  } = openRefunds(platform, {
    payouts: wallets.refunds,
    outflow,
    deliveries,
    outgoingPayments,
    facilitator,
    methods: methods.methods,
    chains,
    returning: (inside, sale) => checkouts().returning(inside, sale),
  })
  const { disputes, part: disputesPart } = openDisputes(platform, { chains, refunds, deliveries, identity })
  const {
    passes,
    passHooks,
    part: passesPart,
  } = openPasses(platform, { chains, deliveries, identity, nameOf: (id) => checkouts().nameOf(id) })
  const { files, part: filesPart } = openFiles(platform, (ids, inside) => checkouts().living(ids, inside))
  const { brands, part: brandsPart } = openBrands(platform, files)
  const parts = [
    identityPart,
    deliveriesPart,
    budgetsPart,
    outgoingPaymentsPart,
    refundsPart,
    disputesPart,
    passesPart,
    walletPart,
    openIdentityHook(platform, identity, wallets),
    facilitatorPart,
    methodsPart,
    discoveryPart,
    filesPart,
    brandsPart,
  ]
  return {
    ...methods,
    authCapture,
    brands,
    facilitator,
    files,
    keys,
    listing,
    listingChecks,
    outflow,
    wallets,
    identity,
    deliveries,
    budgets,
    outgoingPayments,
    refunds,
    payments,
    disputes,
    passes,
    passHooks,
    parts,
  }
}

type Money = Awaited<ReturnType<typeof openMoney>>

/** The engine that sells, and what each product writes beside a sale. */
function openEngine(platform: Platform, chains: Chains, money: Money) {
  const { database, clock, ledger, secret } = platform
  const { facilitator, files, methods, method, deliveries, disputes, passHooks } = money
  const tokens = openPaymentTokens(secret)
  const { coupons, couponUses, part: couponsPart } = openCoupons(platform)
  const { signer, issuers, part: keysPart } = openReceiptKeys(platform, chains)
  const {
    selling,
    store,
    sweeping: sales,
    holding,
    part: salesPart,
  } = openSelling(platform, {
    facilitator,
    method,
    methods,
    tokens,
    dialects: openDialects(platform, signer),
    refundTerms: (owner) => disputes.terms(owner),
    hooks: {
      tool: toolHooks(createCallStore(database.statements), clock),
      checkout: openCheckoutHooks(platform, {
        coupons: couponUses,
        deliveries,
        files,
        tokens,
        passHooks,
        receipts: openReceiptHooks(platform),
      }),
      gate: openGateHooks(platform, { deliveries }),
      asset: guestHooks({ ledger, runs: createRunStore(database.statements) }),
    },
  })
  return {
    selling,
    store,
    sales,
    holding,
    purchases: createAccountPurchases({ sales: store, payments: money.outgoingPayments, selling }),
    coupons,
    issuers,
    parts: [salesPart, couponsPart, keysPart],
  }
}

/** What is sold. */
async function openProducts(platform: Platform, chains: Chains, money: Money) {
  const { secret } = platform
  const { brands, files, wallets, identity, deliveries, budgets, outflow, outgoingPayments, refunds, disputes } = money
  const { accessTokens, part: oauthPart } = openOAuth(platform, { identity, budgets })
  const { pages, part: pagesPart } = await openPages(platform)
  const { parts: engineParts, ...engine } = openEngine(platform, chains, money)
  const { selling, store, sales, holding, purchases, coupons, issuers } = engine
  const {
    checkouts,
    mcp: checkoutMcp,
    paymentAddresses,
    checkoutParts,
  } = await openCheckoutSales(platform, chains, { money, selling, holding, sales: store, purchases, coupons, pages })
  const treasury = wallets.treasury()
  const {
    assets,
    runs,
    guests,
    part: marketplacePart,
  } = openMarketplace(platform, { identity, deliveries, budgets, outflow, selling, holding, refunds, treasury })
  const { connections, toolParts, ...tools } = await openToolsAndConnections(platform, money, {
    accessTokens,
    files,
    runs,
    selling,
    recipient: treasury,
    recipients: wallets.recipients,
  })
  const {
    paywalls,
    routeCalls,
    part: paywallPart,
  } = openPaywalls(platform, {
    method: money.gateMethod,
    selling,
    sales: store,
    pages,
    brands,
    secret,
    deliveries,
    recipients: wallets.recipients,
  })
  const storefront = openStorefront(platform, {
    identity,
    checkouts,
    checkoutMcp,
    assets,
    catalogue: tools.catalogue,
    runs,
    guests,
    paywalls,
    openRoute: routeCalls,
    accounts: outgoingPayments,
    purchases,
    tokens: selling.tokens,
  })
  const { invoices, receiptMails, part: invoicesPart } = openInvoices(platform, { brands, identity })
  const { receipts: address } = platform.config.addresses
  const receipts = openReceipts({ checkouts, refunds, disputes, brands, selling, pages, issuers, address })
  // The keys are on every host, also on that of the gate, which answers all other paths of its own.
  const parts = [
    oauthPart,
    pagesPart,
    openPasskeyWallets(platform, { chains, facilitator: money.facilitator, pages, recipients: wallets.recipients }),
    ...engineParts,
    ...checkoutParts,
    marketplacePart,
    ...toolParts,
    paywallPart,
    storefront,
    invoicesPart,
    receipts,
  ]
  return {
    sales,
    selling,
    pages,
    checkouts,
    connections,
    coupons,
    assets,
    runs,
    ...tools,
    paymentAddresses,
    paywalls,
    invoices,
    receiptMails,
    parts,
  }
}

/** Checkouts, and the addresses at which their orders are paid by transfers. */
async function openCheckoutSales(
  platform: Platform,
  chains: Chains,
  { money, selling, ...sold }: CheckoutSales,
): Promise<{ paymentAddresses: PaymentAddresses; checkoutParts: Part[] } & Omit<OpenedCheckouts, 'part'>> {
  const { keys, facilitator, wallets, outgoingPayments, brands, files, identity, deliveries, refunds } = money
  const { part, ...opened } = await openCheckouts(platform, {
    ...sold,
    selling,
    refunds,
    deliveries,
    brands,
    files,
    identity,
    accounts: outgoingPayments,
    disputes: money.disputes,
    passes: money.passes,
    walletAddress: (owner) => wallets.depositAddress(owner),
    recipients: wallets.recipients,
    takesTransfers: transfersBy({ keys, chains }),
    orderAddresses: orderAddressesIn(platform),
  })
  const { checkouts } = opened
  const { tokens } = selling
  const transfers = openPaymentAddresses(platform, {
    chains,
    keys,
    recipients: wallets.recipients,
    facilitator,
    checkouts,
    tokens,
  })
  return { ...opened, paymentAddresses: transfers.paymentAddresses, checkoutParts: [part, transfers.part] }
}

type OpenedCheckouts = Awaited<ReturnType<typeof openCheckouts>>

interface CheckoutSales extends Pick<
  Parameters<typeof openCheckouts>[1],
  'selling' | 'holding' | 'sales' | 'purchases' | 'coupons' | 'pages'
> {
  money: Money
}

type ToolSales = Omit<Parameters<typeof openTools>[1], 'identity' | 'budgets' | 'connections'>

/** What agents call, and what their calls hold for it: each asks the other. */
async function openToolsAndConnections(platform: Platform, money: Money, sales: ToolSales) {
  const { deliveries, identity, budgets } = money
  const { connections, part: connectionsPart } = openConnections(platform, {
    deliveries,
    identity,
    providers: () => providers,
    agentExists: (owner, id) => budgets.agents.exists(owner, id),
  })
  const opened = await openTools(platform, { identity, budgets, connections, ...sales })
  const { catalogue, calls, countCall, providers, part } = opened
  return { connections, catalogue, calls, countCall, toolParts: [connectionsPart, part] }
}
