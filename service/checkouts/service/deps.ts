import type { SaleReader } from '../../sales/model.ts'
import type { Holding } from '../../sales/service/hold.ts'
import type { SellingDeps } from '../../sales/service/deps.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../kit/log.ts'
import type {
  Announce,
  Callbacks,
  CheckoutStore,
  DeliveryPort,
  DisputePort,
  MailOwner,
  RefundPort,
  WalletAddress,
} from '../ports.ts'
import type { CaptureLimits } from '../rules/capture.ts'

export interface CheckoutDeps {
  store: CheckoutStore
  selling: SellingDeps
  /** Sales whose workflow decides whether they are charged. */
  holding: Holding
  refunds: RefundPort
  disputes: DisputePort
  sales: SaleReader
  deliveries: DeliveryPort
  callbacks: Callbacks
  walletAddress: WalletAddress
  captureLimits(): CaptureLimits
  announce: Announce
  mailOwner: MailOwner
  clock: Clock
  log: Log
  /** Signs quotes; the same in every process. */
  quoteKey: Buffer
  /** Signs orders, in the same way. */
  orderKey: Buffer
  /** The buyer's link to the payment's result. It contains the token and also works after the checkout has ended. */
  receiptOf(payment: string): string
  addresses: {
    /** The address of the hosted forms. */
    pay: string
    /** The address of the receipts of all products. */
    receipts: string
    facilitator: string
  }
}
