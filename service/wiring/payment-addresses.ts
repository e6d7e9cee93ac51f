import type { Checkout } from '../checkouts/model.ts'
import type { Checkouts } from '../checkouts/service/checkouts.ts'
import type { CheckoutDeps } from '../checkouts/service/deps.ts'
import type { Facilitator } from '../facilitator/service/facilitator.ts'
import type { Chains } from './chains.ts'
import type { WalletKeys } from './keys.ts'
import type { Part, Platform } from './platform.ts'
import type { PaymentTokens } from '../sales/service/proof.ts'
import { paymentAddressRoutes } from '../payment-addresses/http.ts'
import type { SpendableRecipients } from '../payment-addresses/service/deps.ts'
import { createPaymentAddresses, type PaymentAddresses } from '../payment-addresses/service/addresses.ts'
import { createPaymentAddressStore } from '../payment-addresses/store.ts'

/** Orders that are paid by plain transfers, each to an address of its own. */
export function openPaymentAddresses(
  { config, database, clock, log, metrics, failpoints }: Platform,
  { chains, keys, recipients, checkouts, facilitator, tokens }: Others,
): { paymentAddresses: PaymentAddresses; part: Part } {
  const paymentAddresses = createPaymentAddresses({
    store: createPaymentAddressStore(database.statements),
    checkouts,
    facilitator,
    recipients,
    book: keys.book,
    signer: keys.signer,
    chains: chains.byNetwork,
    tokens,
    confirmations: config.DEPOSIT_CONFIRMATIONS,
    clock,
    log,
    measures: metrics,
    failpoints,
  })
  return {
    paymentAddresses,
    part: {
      routes: [{ surface: 'pay', routes: paymentAddressRoutes(paymentAddresses) }],
      sweepers: paymentAddresses.sweepers.map(({ run, ...sweeper }) => ({
        ...sweeper,
        run: (_now, signal) => run(signal),
      })),
    },
  }
}

/** Whether an order of a checkout can be paid so: not a test, nothing that waits in the escrow, and no conversation. */
export function transfersBy({ keys, chains }: Pick<Others, 'keys' | 'chains'>): (checkout: Checkout) => boolean {
  return ({ testMode, capture, network, chat }) =>
    keys.book !== null && chains.byNetwork.has(network) && !testMode && capture !== 'escrow' && chat === null
}

/** Which of these payers are addresses of orders. */
export function orderAddressesIn({ database }: Pick<Platform, 'database'>): CheckoutDeps['orderAddresses'] {
  return createPaymentAddressStore(database.statements).idsOf
}

interface Others {
  chains: Chains
  keys: WalletKeys
  recipients: SpendableRecipients
  checkouts: Checkouts
  facilitator: Facilitator
  tokens: PaymentTokens
}
