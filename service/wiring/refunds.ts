import type { Facilitator } from '../facilitator/service/facilitator.ts'
import type { Chains } from './chains.ts'
import type { Deliveries } from '../deliveries/service/deliveries.ts'
import type { Outflows } from '../outflow/service.ts'
import type { OutgoingPayments } from '../outgoing-payments/service/payments.ts'
import type { Part, Platform } from './platform.ts'
import { createOwnSales } from '../sales/store/payments.ts'
import { createSummaryStore } from '../sales/store/summary.ts'
import { paymentRoutes } from '../refunds/http.ts'
import type { Payouts, RefundMethods, Returning } from '../refunds/ports.ts'
import { createPayments, type Payments } from '../refunds/service/payments.ts'
import { createRefunds, type Refunds } from '../refunds/service/refunds.ts'
import { createRefundStore } from '../refunds/store.ts'

/** Refunds of settled sales, and the list of payments of all products. */
export function openRefunds(
  { config, clock, log, database, ledger, metrics, failpoints, facts }: Platform,
  { payouts, outflow, deliveries, outgoingPayments, facilitator, methods, chains, returning }: Others,
): { refunds: Refunds; payments: Payments; part: Part } {
  const store = createRefundStore(database.statements, { ownPerDay: config.REFUNDS_PER_DAY })
  const sales = createOwnSales(database.statements)
  const refunds = createRefunds({
    store,
    sales,
    ledger,
    outflow,
    payouts,
    facilitator,
    methods,
    chains: chains.byNetwork,
    confirmations: config.DEPOSIT_CONFIRMATIONS,
    accountOf: (address, inside) => outgoingPayments.accountOf(address, inside),
    event: (inside, event) => deliveries.event(inside, event),
    publish: facts.publish,
    returning,
    clock,
    log,
    measures: metrics,
    failpoints,
    pay: config.addresses.pay,
  })
  facts.subscribe('wallet.payout_changed', async (inside, { payout }) => {
    if (payout.kind === 'refund') await refunds.follow(inside, payout)
  })
  const summary = createSummaryStore(database.statements)
  const payments = createPayments({ sales, summary, store, refunds, methods })
  return {
    refunds,
    payments,
    part: {
      routes: [{ surface: 'api', routes: paymentRoutes(payments) }],
      sweepers: [
        { name: 'refunds.requested', everyMs: 4_000, run: (now, signal) => refunds.retryDue(now, signal) },
        { name: 'refunds.own', everyMs: 4_000, run: (now, signal) => refunds.followOwn(now, signal) },
        { name: 'refunds.lost', everyMs: 60_000, run: (now, signal) => refunds.followLost(now, signal) },
      ],
    },
  }
}

interface Others {
  payouts: Payouts
  outflow: Outflows
  facilitator: Pick<Facilitator, 'verify' | 'settle' | 'purchases'>
  methods: RefundMethods
  chains: Chains
  deliveries: Pick<Deliveries, 'event'>
  returning: Returning
  outgoingPayments: Pick<OutgoingPayments, 'accountOf'>
}
