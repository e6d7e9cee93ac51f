import { hkdfSync, randomBytes } from 'node:crypto'
import type { Facilitator } from '../facilitator/service/facilitator.ts'
import type { SettleResult } from '../facilitator/model.ts'
import type { ProductName, Settled } from '../sales/model.ts'
import type { Hooks, Journal, Method, SaleStore } from '../sales/ports.ts'
import type { SellingDeps } from '../sales/service/deps.ts'
import { createHeldJournal, createJournal } from '../sales/service/journal.ts'
import { createHolding, type Holding } from '../sales/service/hold.ts'
import { createPaymentTokens, type PaymentTokens } from '../sales/service/proof.ts'
import { createSettling, type Settle } from '../sales/service/settle.ts'
import { createSweeping, type Sweeping } from '../sales/service/sweep.ts'
import { createSaleStore } from '../sales/store/sales.ts'
import { createDialects, type Dialects } from '../x402/dialects.ts'
import { prepareEscrow } from '../x402/escrow.ts'
import { bazaarOf, type Listing, type SoldResource } from '../x402/bazaar.ts'
import type { RequestBody } from '../x402/model.ts'
import type { OfferSigner } from '../x402/offer-receipt.ts'
import { offeredIn, readRequest } from '../x402/payload.ts'
import type { Platform, Part } from './platform.ts'

/** The shared base of everything that is sold for payments outside of the ledger. */
export function openSelling(
  { config, clock, log, database, metrics, failpoints }: Platform,
  { facilitator, listing, tokens, dialects, hooks, refundTerms, methods }: SellingOptions,
): OpenedSelling {
  const store = createSaleStore(database.statements)
  const journal: Journal = createJournal({ store, purchases: facilitator.purchases, hooks, clock })
  const method = ownMethod(facilitator, listing)
  const selling = {
    journal,
    method,
    dialects,
    tokens,
    clock,
    log,
    measures: metrics,
    failpoints,
    settleMs: config.SETTLE_WAIT_MS,
    refundTerms,
  }
  const settle = settlingOf(selling, methods)
  const held = createHeldJournal({ store, hooks, clock })
  const sweeping = createSweeping({ store, journal, settle, log })
  return {
    selling,
    store,
    sweeping,
    holding: createHolding({ ...selling, store, held, settle }),
    part: {
      sweepers: [
        { name: 'sales.open', everyMs: 2_000, run: (now) => sweeping.sales(now) },
        { name: 'sales.answers', everyMs: 30_000, run: (now) => sweeping.answers(now) },
      ],
    },
  }
}

interface OpenedSelling {
  selling: SellingDeps
  store: SaleStore
  sweeping: Sweeping
  /** Sales whose work is done elsewhere. */
  holding: Holding
  part: Part
}

interface SellingOptions {
  facilitator: Facilitator
  listing: Listing
  tokens: PaymentTokens
  dialects: Dialects
  hooks: Hooks
  /** Of the products whose payments go through another facilitator. */
  methods: Readonly<Partial<Record<ProductName, Method>>>
  refundTerms: NonNullable<SellingDeps['refundTerms']>
}

/**
 * Without a waiting buyer a sale must be settled as with one: another facilitator than the one that its seller chose
 * would pay the gas, or know nothing of it.
 */
function settlingOf(selling: SellingDeps, methods: SellingOptions['methods']): Settle {
  const own = createSettling(selling)
  const others = new Map(
    Object.entries(methods).map(([product, method]) => [product, createSettling({ ...selling, method })]),
  )
  return (sale, paid, waitMs) => (others.get(sale.product) ?? own)(sale, paid, waitMs)
}

/** Pays through this service's own facilitator, whose result is the chain's. */
function ownMethod(facilitator: Facilitator, listing: Listing): Method {
  return {
    digestOf: (signed) => facilitator.purchases.digestOf(signed),
    digestBy: (network, payer, nonce) => facilitator.purchases.digestBy(network, payer, nonce),
    async verify(request) {
      const verification = await facilitator.verify(readRequest(request))
      const sold = soldHere(request)
      if (sold !== null) listing.verified(sold, verification.refusal)
      return verification
    },
    async settle(request, operation, waitMs) {
      const requester = { operation, ownsResult: true, ...(waitMs === undefined ? {} : { waitMs }) }
      const answer = await facilitator.settle(readRequest(request), requester)
      if (answer.success) {
        const sold = soldHere(request)
        // It is not awaited, because the buyer's answer does not depend on the catalogue.
        if (sold !== null) void listing.settled(sold, { status: 'settled' })
      }
      return settledOf(answer)
    },
    serves: (network) => facilitator.serves(network),
    escrow: {
      operator: () => facilitator.sponsors()[0] ?? null,
      prepare: (terms, now) =>
        prepareEscrow(terms, { salt: `0x${randomBytes(32).toString('hex')}`, now, hashes: facilitator.escrow }),
      async end(request, operation, { step, waitMs }) {
        const payment = readRequest(request)
        const { amount } = payment.required
        const all = { capturable: amount, refundable: 0n }
        const action = step === 'void' ? { type: step } : { type: step, amount, expected: all }
        const requester = { operation, ownsResult: true, ...(waitMs === undefined ? {} : { waitMs }) }
        return settledOf(await facilitator.act(payment, action, requester))
      },
      left: (request) => facilitator.leftInEscrow(readRequest(request)),
    },
  }
}

function settledOf(answer: SettleResult): Settled {
  if (answer.success) return { status: 'settled', txHash: answer.txHash }
  return answer.status === 'pending' ? { status: 'pending' } : { status: 'failed', reason: answer.reason }
}

/**
 * What is listed of our own product is what we offered, not what the buyer sent back. Null when the request was read from
 * the database, which has no offers: the next sale lists the product.
 */
function soldHere(request: RequestBody): SoldResource | null {
  const offered = offeredIn(request)
  const bazaar = offered === null ? null : bazaarOf(offered.v1.outputSchema)
  if (offered === null || bazaar === null) return null
  const { resource: url, description, mimeType, maxTimeoutSeconds: timeoutSeconds } = offered.v1
  const { required, ...paid } = readRequest(request)
  // Our products take both versions, so every buyer is shown the newer one.
  const payment = { ...paid, version: 2 as const, required: { ...required, network: offered.v2.network } }
  const resource = { url, description, mimeType }
  return { isOurs: true, payment, timeoutSeconds, resource, extensions: { bazaar } }
}

/** Derives a separate key from the secret that all processes share, so a payment's token opens nothing else. */
export function openPaymentTokens(secret: string): PaymentTokens {
  return createPaymentTokens(Buffer.from(hkdfSync('sha256', secret, '', 'coinslot payment tokens', 32)))
}

/** How payments are asked for here: the key of the challenges is derived, like that of the tokens. */
export function openDialects(
  { clock, secret }: Pick<Platform, 'clock' | 'secret'>,
  signer: OfferSigner | null,
): Dialects {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'coinslot payment challenges', 32))
  return createDialects({ key, clock, signer })
}
