import { z } from 'zod'
import { digestOfMessage, recoverMessage } from '../chain/messages.ts'
import type { DeliveryState } from '../deliveries/model.ts'
import type { Deliveries } from '../deliveries/service/deliveries.ts'
import type { Identity } from '../identity/service/identity.ts'
import type { Chains } from './chains.ts'
import type { Part, Platform } from './platform.ts'
import type { Topic } from '../queue/model.ts'
import type { Refunds } from '../refunds/service/refunds.ts'
import { openPaymentTokens } from './sales.ts'
import { createOwnSales } from '../sales/store/payments.ts'
import { createSaleStore } from '../sales/store/sales.ts'
import { buyerRoutes } from '../disputes/http/buyer.ts'
import { disputeRoutes } from '../disputes/http/owner.ts'
import type { PayerSignatures } from '../disputes/ports.ts'
import { OPENED } from '../disputes/service/deps.ts'
import { createDisputes, type Disputes } from '../disputes/service/disputes.ts'
import { createDisputeStore } from '../disputes/store.ts'

/** Problems with payments: reports of buyers, refund requests of programs, answers of sellers. */
export function openDisputes(platform: Platform, { chains, refunds, deliveries, identity }: Others): Opened {
  const { config, clock, log, database, metrics, failpoints, secret, outbox, facts } = platform
  const { lock, byTransaction, findOwn, hasAnswer } = createOwnSales(database.statements)
  const { findAll } = createSaleStore(database.statements)
  const { pay, receipts, dashboard } = config.addresses
  const disputes = createDisputes({
    store: createDisputeStore(database.statements),
    sales: { lock, byTransaction, findAll, findOwn, hasAnswer },
    refunds,
    tokens: openPaymentTokens(secret),
    signatures: signaturesBy(chains),
    async isOrderServed(saleId) {
      const order = (await deliveries.bySubject(null, [saleId])).get(saleId)
      return order !== undefined && (SERVED.has(order.state) || (order.state === 'pending' && order.attempts === 0))
    },
    event: (inside, event) => deliveries.event(inside, event),
    announce: (inside, announcements) => outbox.add(inside, announcements),
    mailOwner: (userId, mail) => identity.mailTo(userId, mail),
    clock,
    log,
    measures: metrics,
    failpoints,
    addresses: { pay, receipts, dashboard: dashboard.replace(/\/$/, '') },
  })
  facts.subscribe('refund.ended', (inside, { refund, sale }) => disputes.follow(inside, refund, sale))
  const opened: Topic<{ disputeId: string }> = {
    topic: OPENED,
    decode: z.object({ disputeId: z.string() }),
    handle: ({ disputeId }, { id }) => disputes.tellOpened(disputeId, id),
    concurrency: 4,
    turns: { perAccount: 1 },
    timeoutMs: 30_000,
  }
  return {
    disputes,
    part: {
      routes: [
        { surface: 'api', routes: disputeRoutes(disputes) },
        { surface: 'receipts', routes: buyerRoutes(disputes) },
      ],
      topics: [opened],
      sweepers: [
        { name: 'disputes.due', everyMs: 30_000, run: (now, signal) => disputes.sweepers.due(now, signal) },
        { name: 'disputes.refunding', everyMs: 15_000, run: (now, signal) => disputes.sweepers.left(now, signal) },
      ],
    },
  }
}

/** `unconfirmed`: the seller's server has begun. */
const SERVED: ReadonlySet<DeliveryState> = new Set(['claimed', 'delivered', 'unconfirmed'])

interface Opened {
  disputes: Disputes
  part: Part
}

interface Others {
  chains: Chains
  refunds: Refunds
  deliveries: Pick<Deliveries, 'event' | 'bySubject'>
  identity: Pick<Identity, 'mailTo'>
}

function signaturesBy({ byNetwork }: Chains): PayerSignatures {
  return {
    recover: recoverMessage,
    async isSignedByCode(network, payer, { text, signature }) {
      const chain = byNetwork.get(network)
      return chain !== undefined && (await chain.isSignedByCode(payer, digestOfMessage(text), signature))
    },
  }
}
