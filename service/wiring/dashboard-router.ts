import type { Brands } from '../brands/service.ts'
import { brandRouter } from '../brands/trpc.ts'
import { checkoutsRouter } from '../checkouts/trpc.ts'
import type { Checkouts } from '../checkouts/service/checkouts.ts'
import type { Connections } from '../connections/service/connections.ts'
import { connectionsRouter } from '../connections/trpc.ts'
import type { Coupons } from '../coupons/service.ts'
import { couponsRouter } from '../coupons/trpc.ts'
import type { Config } from '../config.ts'
import type { Deliveries } from '../deliveries/service/deliveries.ts'
import { deliveriesRouters } from '../deliveries/trpc.ts'
import type { Disputes } from '../disputes/service/disputes.ts'
import { disputesRouter } from '../disputes/trpc.ts'
import { filesRouter } from '../files/trpc.ts'
import type { Files } from '../files/service.ts'
import { router } from '../api/trpc.ts'
import type { Identity } from '../identity/service/identity.ts'
import { identityRouter } from '../identity/trpc.ts'
import type { Invoices } from '../invoices/service/invoices.ts'
import type { ReceiptMails } from '../invoices/service/mails.ts'
import { invoicesRouter } from '../invoices/trpc.ts'
import type { Caller } from '../kit/caller.ts'
import type { Clock } from '../kit/clock.ts'
import type { Assets } from '../marketplace/service/assets/assets.ts'
import type { Runs } from '../marketplace/service/runs/runs.ts'
import { marketplaceRouters } from '../marketplace/trpc.ts'
import type { Pages } from '../pages/pages.ts'
import type { Paywalls } from '../paywall/service/paywalls.ts'
import type { Payments } from '../refunds/service/payments.ts'
import type { Passes } from '../passes/service/passes.ts'
import { passesRouter } from '../passes/trpc.ts'
import { paymentsRouter } from '../refunds/trpc.ts'
import { paywallsRouter } from '../paywall/trpc.ts'
import type { Method } from '../sales/ports.ts'
import type { SellingDeps } from '../sales/service/deps.ts'
import { proofOf, receiptOf } from '../sales/service/door.ts'
import { settingsRouter } from '../sales/trpc.ts'
import type { Budgets } from '../budgets/service/budgets.ts'
import { budgetsRouter } from '../budgets/trpc.ts'
import type { Calls } from '../tools/service/calls/calls.ts'
import type { Catalogue } from '../tools/service/catalogue/catalogue.ts'
import { toolsRouter } from '../tools/trpc.ts'
import type { Wallets } from '../wallet/service/wallets.ts'
import { walletRouter } from '../wallet/trpc.ts'
import { walletOf } from './identity.ts'

/** All procedures of the dashboard, one router for each capability. */
export function dashboardRouter(config: Config, clock: Clock, deps: RoutedDeps) {
  const {
    identity,
    wallets,
    budgets,
    assets,
    runs,
    checkouts,
    connections,
    coupons,
    deliveries,
    catalogue,
    calls,
    countCall,
    paywalls,
    passes,
    payments,
    pages,
    disputes,
    invoices,
    receiptMails,
    files,
    brands,
    selling,
  } = deps
  return router({
    identity: identityRouter(identity, walletOf(wallets)),
    wallet: walletRouter(wallets, clock),
    spending: budgetsRouter(budgets),
    ...marketplaceRouters(assets, runs, clock),
    checkouts: checkoutsRouter(checkouts, { pay: config.addresses.pay, clock, previewOf: pages.preview }),
    connections: connectionsRouter(connections),
    coupons: couponsRouter(coupons),
    ...deliveriesRouters(deliveries, clock),
    tools: toolsRouter(catalogue, calls, countCall),
    passes: passesRouter(passes, clock),
    payments: paymentsRouter(payments, (sale) =>
      proofOf(receiptOf(sale), sale, { dialects: selling.dialects, receipts: config.addresses.receipts }),
    ),
    disputes: disputesRouter(disputes),
    invoices: invoicesRouter(invoices, receiptMails),
    files: filesRouter(files),
    brand: brandRouter(brands),
    settings: settingsRouter(deps),
    paywalls: paywallsRouter(paywalls, { gate: config.addresses.gate, clock }),
  })
}

interface RoutedDeps {
  identity: Identity
  wallets: Wallets
  budgets: Budgets
  assets: Assets
  runs: Runs
  checkouts: Checkouts
  connections: Connections
  coupons: Coupons
  pages: Pick<Pages, 'preview'>
  deliveries: Deliveries
  catalogue: Catalogue
  calls: Calls
  /** Throws where the caller has made as many calls of tools as they may in a minute. */
  countCall(caller: Caller): Promise<void>
  paywalls: Paywalls
  passes: Passes
  payments: Payments
  disputes: Disputes
  invoices: Invoices
  receiptMails: ReceiptMails
  files: Files
  brands: Brands
  selling: Pick<SellingDeps, 'dialects'>
  method: Pick<Method, 'serves'>
  gateMethod: Pick<Method, 'serves'>
}

/** The procedures that the dashboard may call. @public */
export type AppRouter = ReturnType<typeof dashboardRouter>
