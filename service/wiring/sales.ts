import { hkdfSync } from 'node:crypto'
import type { Facilitator } from '../facilitator/service/facilitator.ts'
import { withFacilitator } from '../methods/registry.ts'
import type { PaymentMethod } from '../sales/model.ts'
import type { Hooks, Journal, SaleStore } from '../sales/ports.ts'
import type { SellingDeps } from '../sales/service/deps.ts'
import { createHeldJournal, createJournal } from '../sales/service/journal.ts'
import { createHolding, type Holding } from '../sales/service/hold.ts'
import { createPaymentTokens, type PaymentTokens } from '../sales/service/proof.ts'
import { createSettling } from '../sales/service/settle.ts'
import { createSweeping, type Sweeping } from '../sales/service/sweep.ts'
import { storeMethods } from '../sales/store/methods.ts'
import { createSaleStore } from '../sales/store/sales.ts'
import { createDialects, type Dialects } from '../x402/dialects.ts'
import type { OfferSigner } from '../x402/offer-receipt.ts'
import type { Platform, Part } from './platform.ts'

/** The shared base of everything that is sold for payments outside of the ledger. */
export function openSelling(
  { config, clock, log, database, metrics, failpoints }: Platform,
  { facilitator, tokens, dialects, hooks, refundTerms, method, methods }: SellingOptions,
): OpenedSelling {
  const store = createSaleStore(database.statements)
  const gates = config.GATE_FACILITATOR_URL ?? null
  const journal: Journal = createJournal({ store, purchases: facilitator.purchases, hooks, methods, clock })
  const selling = {
    journal,
    method,
    methods,
    dialects,
    tokens,
    clock,
    log,
    measures: metrics,
    failpoints,
    settleMs: config.SETTLE_WAIT_MS,
    refundTerms,
  }
  const settle = createSettling(selling)
  const held = createHeldJournal({ store, hooks, methods, clock })
  const sweeping = createSweeping({ store, journal, settle, log })
  return {
    selling,
    store,
    sweeping,
    holding: createHolding({ ...selling, store, held, settle }),
    part: {
      sweepers: [
        ...sweeping.turns.map(({ name, run }) => ({ name: `sales.${name}`, everyMs: 2_000, run })),
        { name: 'sales.answers', everyMs: 30_000, run: (now) => sweeping.answers(now) },
        {
          name: 'sales.methods',
          everyMs: 1_000,
          run: storingMethods(database, (method) => withFacilitator(method, gates)),
        },
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

interface SellingOptions extends Pick<SellingDeps, 'method' | 'methods'> {
  facilitator: Pick<Facilitator, 'purchases'>
  tokens: PaymentTokens
  dialects: Dialects
  hooks: Hooks
  refundTerms: NonNullable<SellingDeps['refundTerms']>
}

/** Goes through all sales once after each start, some at a time. */
function storingMethods(
  { statements }: Platform['database'],
  complete: (method: PaymentMethod) => PaymentMethod,
): () => Promise<void> {
  let after: string | null = ''
  return async () => {
    if (after !== null) after = await storeMethods(statements, after, complete)
  }
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
