import { hkdfSync } from 'node:crypto'
import type { Address } from '../chain/model.ts'
import type { NoticeKind } from '../checkouts/model.ts'
import { checkoutRoutes } from '../checkouts/http/owner.ts'
import { payerRoutes } from '../checkouts/http/payer.ts'
import type {
  AccountPayments,
  BrandPort,
  CheckoutPages,
  DeliveryPort,
  Announce,
  DisputePort,
  FilePort,
  ReceiptPort,
  RefundPort,
} from '../checkouts/ports.ts'
import type { NoticeDigest } from '../checkouts/stores.ts'
import { createCheckouts, type Checkouts } from '../checkouts/service/checkouts.ts'
import type { CheckoutDeps } from '../checkouts/service/deps.ts'
import { createCheckoutStore } from '../checkouts/store/checkouts.ts'
import { count } from '../api/limits.ts'
import type { McpService } from '../api/mcp/parts.ts'
import type { Coupons, CouponUses } from '../coupons/service.ts'
import type { Config } from '../config.ts'
import { createPaymentEvents } from '../checkouts/service/payment-events.ts'
import { createCheckoutMcp } from '../checkouts/mcp/server.ts'
import { checkoutHooks } from '../checkouts/service/product.ts'
import type { SaleHooks, SaleReader } from '../sales/model.ts'
import type { AccountPurchases } from '../sales/service/account-purchases.ts'
import type { SellingDeps } from '../sales/service/deps.ts'
import type { Holding } from '../sales/service/hold.ts'
import type { PaymentTokens } from '../sales/service/proof.ts'
import type { PassHooks } from '../passes/service/rights.ts'
import type { Passes } from '../passes/service/passes.ts'
import type { Identity } from '../identity/service/identity.ts'
import { DomainError } from '../kit/errors.ts'
import type { Owner } from '../kit/owner.ts'
import { days } from '../kit/tables.ts'
import type { Outbound } from '../outbound/client.ts'
import { openMcp, ownerPages } from './mcp.ts'
import type { Platform, Part } from './platform.ts'
import { z } from 'zod'
import type { Sweeper, Topic } from '../queue/model.ts'

import { OUTCOME } from '../checkouts/service/capture.ts'
import { DIGEST, NOTICE } from '../checkouts/service/notices.ts'
import { PAUSED } from '../checkouts/service/watch.ts'

/** Prices on workflows, their payment pages, and the deliveries that payments start. */
export async function openCheckouts(
  platform: Platform,
  deps: {
    selling: SellingDeps
    holding: Holding
    refunds: RefundPort
    disputes: DisputePort
    sales: SaleReader
    passes: Passes
    deliveries: DeliveryPort
    brands: BrandPort
    files: FilePort
    coupons: Coupons
    identity: Identity
    pages: CheckoutPages
    accounts: AccountPayments
    purchases: AccountPurchases
    walletAddress: (owner: Owner) => Promise<string | null>
    recipients: CheckoutDeps['recipients']
    takesTransfers: CheckoutDeps['takesTransfers']
    orderAddresses: CheckoutDeps['orderAddresses']
  },
): Promise<{ checkouts: Checkouts; mcp: McpService; part: Part }> {
  const { config, database, clock, log, outbound, secret } = platform
  const checkouts = createCheckouts({
    ...deps,
    store: createCheckoutStore(database.statements, config.QUOTA_ACTIVE_CHECKOUTS),
    captureLimits: () => ({
      priceMax: config.ON_SUCCESS_PRICE_MAX,
      secondsMax: config.ON_SUCCESS_SECONDS_MAX,
      operator: deps.selling.method.escrow?.operator() ?? null,
    }),
    callbacks: callbacksBy(outbound),
    walletAddress: async (owner) => ((await deps.walletAddress(owner))?.toLowerCase() ?? null) as Address | null,
    announce: (inside, announcements) => platform.outbox.add(inside, announcements),
    mailOwner: (userId, mail) => deps.identity.mailTo(userId, mail),
    clock,
    log,
    quoteKey: derivedKey(secret, 'coinslot checkout quotes'),
    orderKey: derivedKey(secret, 'coinslot checkout orders'),
    receiptOf: receiptAddress(config, deps.selling.tokens),
    answersKeptMs: days(config.RETAIN_DELIVERY_DAYS),
    addresses: config.addresses,
    dashboard: config.addresses.dashboard.replace(/\/$/, ''),
  })
  platform.facts.subscribe('delivery.failed', (inside, { owner, target, subject }) =>
    checkouts.deliveryFailed(inside, target, { id: subject, ...owner }),
  )
  platform.facts.subscribe('delivery.redelivered', (inside, { subject }) => checkouts.redelivered(inside, subject))
  let flushing: NodeJS.Timeout | undefined
  const { facilitator, pay } = config.addresses
  const mcpAddress = `${pay}/:chk/mcp`
  const server = createCheckoutMcp({
    ...deps,
    checkouts,
    facilitator,
    pages: ownerPages(config),
    countGuest: (address) => count(platform.guestLimit, address),
  })
  const mcp = openMcp(platform, { identity: deps.identity, address: mcpAddress, service: server })
  return {
    checkouts,
    mcp: server,
    part: {
      mounted: [{ role: 'pay', path: new URL(mcpAddress).pathname, handler: mcp.handler }],
      start() {
        flushing = setInterval(() => void checkouts.openings.flush(), 1_000)
      },
      async stop() {
        clearInterval(flushing)
        await checkouts.openings.flush()
        await mcp.close()
      },
      routes: [
        {
          surface: 'api',
          routes: checkoutRoutes(checkouts, { pay, now: () => clock.now() }),
        },
        {
          surface: 'pay',
          routes: payerRoutes(checkouts, deps.pages, {
            dialects: deps.selling.dialects,
            facilitator,
            now: () => clock.now(),
          }),
        },
      ],
      limits: { pay: platform.guestLimit },
      topics: checkoutTopics(checkouts),
      sweepers: checkoutSweepers(checkouts),
    },
  }
}

/** What payments at checkouts write in addition to the sale. */
export function openCheckoutHooks(
  platform: Platform,
  { coupons, deliveries, files, tokens, passHooks: passes, receipts }: HooksGiven,
): SaleHooks {
  const { config, database, clock, log, outbox } = platform
  const store = createCheckoutStore(database.statements, config.QUOTA_ACTIVE_CHECKOUTS)
  const events = createPaymentEvents({ store, deliveries, clock, log, addresses: config.addresses })
  const receiptOf = receiptAddress(config, tokens)
  const announce: Announce = (inside, announcements) => outbox.add(inside, announcements)
  return checkoutHooks({ store, coupons, deliveries, files, events, receiptOf, clock, passes, receipts, announce })
}

interface HooksGiven {
  coupons: CouponUses
  files: FilePort
  deliveries: DeliveryPort
  tokens: PaymentTokens
  passHooks: PassHooks
  receipts: ReceiptPort
}

function receiptAddress({ addresses }: Config, tokens: PaymentTokens): (payment: string) => string {
  return (payment) => `${addresses.receipts}/${payment}?token=${tokens.of(payment)}`
}

/**
 * A separate key, derived from the secret that every process shares, so that a quote cannot be used as a session or the
 * other way round.
 */
function derivedKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, 32))
}

/** Checks whether a workflow responds: within 8 seconds, and reading at most 64 KB of its answer. */
function callbacksBy(outbound: Outbound) {
  return {
    check: (url: string) => outbound.checkAddress(url),
    async ask(url: string, checkoutId: string): Promise<{ status: number; body: Buffer } | null> {
      try {
        const headers = { 'coinslot-checkout': checkoutId }
        const limits = { totalMs: 8_000, headersMs: 8_000, bodyBytes: 65_536 }
        return await outbound.send({ url, method: 'POST', headers, limits, truncate: true, redirects: 'pass' })
      } catch (error) {
        if (error instanceof DomainError) return null
        throw error
      }
    },
  }
}

function checkoutSweepers({ sweepers }: Checkouts): Sweeper[] {
  return [
    { name: 'checkouts.leases', everyMs: 5_000, run: (now) => sweepers.leases(now) },
    { name: 'checkouts.probes', everyMs: 10_000, run: (now) => sweepers.probes(now) },
    { name: 'checkouts.held', everyMs: 2_000, run: () => sweepers.held() },
    { name: 'checkouts.requests', everyMs: 5_000, run: (now) => sweepers.requests(now) },
    { name: 'checkouts.notices', everyMs: 60_000, run: (now) => sweepers.notices(now) },
  ]
}

const noticeKind = z.enum(['sale', 'failure'])

function checkoutTopics(checkouts: Checkouts): Topic[] {
  const paused: Topic<{ checkoutId: string; isFailing: boolean }> = {
    topic: PAUSED,
    // The version before pauses only what was not found.
    decode: z.object({ checkoutId: z.string(), isFailing: z.boolean().default(false) }),
    handle: ({ checkoutId, isFailing }, { id }) => checkouts.tellPaused(checkoutId, { id, isFailing }),
    concurrency: 4,
    turns: { perAccount: 1 },
    timeoutMs: 30_000,
  }
  const outcome: Topic<{ paymentId: string }> = {
    topic: OUTCOME,
    decode: z.object({ paymentId: z.string() }),
    handle: ({ paymentId }) => checkouts.deliveryEnded(paymentId),
    concurrency: 8,
    turns: { perAccount: 4 },
    timeoutMs: 60_000,
  }
  const notice: Topic<{ saleId: string; kind: NoticeKind }> = {
    topic: NOTICE,
    decode: z.object({ saleId: z.string(), kind: noticeKind }),
    handle: (told, { id }) => checkouts.notices.tell(told, id),
    concurrency: 4,
    turns: { perAccount: 1 },
    timeoutMs: 30_000,
  }
  const digest: Topic<NoticeDigest> = {
    topic: DIGEST,
    decode: z.object({
      userId: z.string(),
      environment: z.enum(['sandbox', 'production']),
      kind: noticeKind,
      count: z.number(),
    }),
    handle: (told, { id }) => checkouts.notices.tellMany(told, id),
    concurrency: 4,
    turns: { perAccount: 1 },
    timeoutMs: 30_000,
  }
  return [paused, outcome, notice, digest]
}
