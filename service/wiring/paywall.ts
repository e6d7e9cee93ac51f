import { hkdfSync } from 'node:crypto'
import { recoverMessage } from '../chain/messages.ts'
import { answerError } from '../api/errors.ts'
import { createRateLimit } from '../api/limits.ts'
import { newId } from '../kit/ids.ts'
import { usdc } from '../kit/money.ts'
import { countTokens } from '../models/tokens.ts'
import { checkHeaders } from '../outbound/headers.ts'
import { relayClient } from '../outbound/relay.ts'
import type { BrandView } from '../brands/model.ts'
import type { Brands } from '../brands/service.ts'
import type { Pages } from '../pages/pages.ts'
import { assetsAt } from './pages.ts'
import { createRouteCalls, type RouteCalls } from '../paywall/http/calls.ts'
import { toGatePage } from '../paywall/http/page.ts'
import { gateHandler, gateUpgrades, isAnswered, isOurs, type GateSetting } from '../paywall/http/gate.ts'
import { paywallRoutes } from '../paywall/http/owner.ts'
import { gateReference } from '../paywall/http/reference.ts'
import type { Prepaid, PrepaidStore } from '../paywall/ports.ts'
import { nextTier } from '../paywall/rules/pricing.ts'
import { createFailures } from '../paywall/service/failures.ts'
import { gateHooks } from '../paywall/service/hooks.ts'
import type { SaleHooks, SaleReader } from '../sales/model.ts'
import type { Method } from '../sales/ports.ts'
import type { SellingDeps } from '../sales/service/deps.ts'
import { createPaywalls, type Paywalls } from '../paywall/service/paywalls.ts'
import { createTally } from '../paywall/service/tally.ts'
import { createPaywallStore } from '../paywall/store/paywalls.ts'
import { createPrepaidStore } from '../paywall/store/prepaid.ts'
import { Secret } from '../vault/secret.ts'
import type { Platform, Part } from './platform.ts'
import { addressGroup } from '../kit/http.ts'
import type { Wallets } from '../wallet/service/wallets.ts'
import { withoutTrailing } from '../kit/text.ts'

/** Prices on other people's APIs, and the gateway in front of them. */
export function openPaywalls(
  platform: Platform,
  parts: PaywallsGiven,
): { paywalls: Paywalls; routeCalls: RouteCalls; part: Part } {
  const { config, database, clock, log, redis } = platform
  const { addresses } = config
  const prepaid = createPrepaidStore(database.statements)
  const tally = createTally({ store: prepaid, clock, log })
  const policy = { allowPrivate: config.ALLOW_PRIVATE_CALLBACKS, allowHosts: config.ALLOW_HOSTS }
  const relay = relayClient({
    policy,
    headersMs: config.GATE_HEADERS_TIMEOUT_MS,
    idleMs: config.GATE_IDLE_TIMEOUT_MS,
  })
  const paywalls = paywallsOn(platform, parts, { prepaid, tally })
  const limit = createRateLimit('gate', config.RATE_GATE_PER_MINUTE, redis)
  const gatePath = withoutTrailing(new URL(addresses.gate).pathname, '/')
  const setting: GateSetting = {
    path: gatePath,
    host: gatePath === '' ? new URL(addresses.gate).host : null,
    relay,
    limit: (address) => limit(`address ${addressGroup(address)}`),
    async page(offer, owner, reader) {
      const brand = brandAt(addresses.gate, await parts.brands.shown(owner))
      return parts.pages.gate({ ...toGatePage(offer), brand }, assetsAt(addresses.gate), reader)
    },
    errorAnswer: (error) => answerError(error, newId('req', clock.now())),
  }
  let flushing: NodeJS.Timeout | undefined
  return {
    paywalls,
    routeCalls: createRouteCalls(paywalls, relay, parts.selling.tokens),
    part: {
      routes: [
        {
          surface: 'api',
          routes: paywallRoutes(paywalls, { gate: addresses.gate, now: () => clock.now() }),
        },
      ],
      described: [
        {
          role: 'gate',
          address: addresses.gate,
          routes: gateReference({ address: addresses.gate, bodyBytes: config.GATE_BODY_BYTES_MAX }),
        },
      ],
      mounted: [
        {
          role: 'gate',
          path: gatePath || '/',
          handler: gateHandler(paywalls, setting),
          bare: true,
          direct: (request) => isAnswered(setting, request),
        },
      ],
      upgrades: [
        {
          role: 'gate',
          path: gatePath,
          handler: gateUpgrades(paywalls, setting),
          isFor: (request) => isOurs(setting, request),
        },
      ],
      sweepers: [{ name: 'paywall.holds', everyMs: 30_000, run: (now) => paywalls.endHolds(now) }],
      start() {
        flushing = setInterval(() => void tally.flush(), 1_000)
      },
      async stop() {
        clearInterval(flushing)
        await tally.flush()
        await relay.close()
      },
    },
  }
}

interface PaywallsGiven {
  /** For new payments at gates. */
  method: Method
  selling: SellingDeps
  sales: SaleReader
  pages: Pages
  brands: Pick<Brands, 'shown'>
  /** The same in every process. */
  secret: string
  deliveries: HookDeps['deliveries']
  recipients: Wallets['recipients']
}

/** The page may load pictures of its own host alone, and a gate may have another one than the pay pages. */
function brandAt(gate: string, brand: BrandView | null): BrandView | null {
  const isNear = brand?.logo != null && new URL(brand.logo.url).origin === new URL(gate).origin
  return brand === null || isNear ? brand : { ...brand, logo: null }
}

function paywallsOn(
  platform: Platform,
  parts: PaywallsGiven,
  { prepaid, tally }: { prepaid: PrepaidStore; tally: ReturnType<typeof createTally> },
): Paywalls {
  const { config, database, clock, log, vault, outbound } = platform
  const { journal, methods, dialects, tokens, measures, failpoints, refundTerms } = parts.selling
  const { GATE_FACILITATOR_URL: remote, addresses } = config
  return createPaywalls({
    store: createPaywallStore(database.statements, config.QUOTA_PAYWALLS),
    sales: parts.sales,
    prepaid,
    journal: { ...journal, ...prepaidBy(prepaid, clock) },
    method: parts.method,
    methods,
    dialects,
    tokens,
    measures,
    failpoints,
    tally,
    countTokens,
    clock,
    log,
    recoverMessage,
    refundTerms,
    refused: createFailures({ store: prepaid, deliveries: parts.deliveries, clock, log }),
    addresses: {
      signInOrigin: null,
      facilitator: remote ?? addresses.facilitator,
      statusOf: (payment) => `${addresses.gate}/payments/${payment}`,
      check: (url) => outbound.checkAddress(url),
      checkHeaders,
    },
    limits: {
      bodyBytes: config.GATE_BODY_BYTES_MAX,
      keptBytes: 1_048_576,
      paymentMin: usdc(BigInt(config.SETTLE_VALUE_MIN)),
      gatherMs: 1_000,
      wholeMs: WHOLE_MS,
      workMs: config.GATE_HEADERS_TIMEOUT_MS + WHOLE_MS,
      settleMs: config.SETTLE_WAIT_MS,
    },
    sealing: {
      seal: (text, context) => vault.seal(new Secret(text), context),
      open: (sealed, context) => vault.open(sealed, context).reveal(),
    },
    recipients: parts.recipients,
    // A separate key, derived from the secret that every process shares.
    tokenKey: Buffer.from(hkdfSync('sha256', parts.secret, '', 'coinslot paywall test tokens', 32)),
    gateAddress: addresses.gate,
    receiptsAddress: addresses.receipts,
  })
}

/** What payments at gates write in addition to the sale. */
export function openGateHooks({ database, clock }: Platform, given: Pick<HookDeps, 'deliveries'>): SaleHooks {
  return gateHooks({ store: createPrepaidStore(database.statements), clock, ...given })
}

type HookDeps = Parameters<typeof gateHooks>[0]

function prepaidBy(store: PrepaidStore, clock: Platform['clock']): Prepaid {
  return {
    hold: (hold) => store.hold(hold),
    draw: (call, amount) => store.draw(call, amount, clock.now()),
    left: (paywall, network, payer) => store.left(paywall, network, payer),
    signIn: (pass, by) => store.signIn(pass, by, clock.now()),
    // oxlint-disable-next-line max-params -- as the published package has it
    async tier(paywallId, route, payer, tiers, windowStart, network) {
      return nextTier(tiers, await store.places({ paywallId, route, payer, windowStart, network }))
    },
  }
}

/** How long an answer of known length is buffered before it is streamed. */
const WHOLE_MS = 30_000
