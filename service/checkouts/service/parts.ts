import type { PaymentTokens } from '../../sales/service/proof.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../kit/log.ts'
import type {
  Announce,
  Callbacks,
  CheckoutStore,
  Checkpoint,
  DeliveryPort,
  FacilitatorPort,
  Measures,
  PaymentStore,
  MailOwner,
  WalletAddress,
} from '../ports.ts'

export interface CheckoutParts {
  store: CheckoutStore
  payments: PaymentStore
  deliveries: DeliveryPort
  facilitator: FacilitatorPort
  tokens: PaymentTokens
  callbacks: Callbacks
  walletAddress: WalletAddress
  announce: Announce
  mailOwner: MailOwner
  clock: Clock
  log: Log
  measures: Measures
  checkpoint: Checkpoint
  /** Signs quotes; the same in every process. */
  quoteKey: Buffer
  /** Where the buyer sees what became of a payment, also after its checkout has ended: with the token in it. */
  receiptOf(payment: string): string
  addresses: {
    /** Of the hosted forms. */
    pay: string
    facilitator: string
  }
}
