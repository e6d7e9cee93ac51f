import type { Address } from '../../chain/model.ts'
import type { Checkout } from '../model.ts'
import type { SaleReader } from '../../sales/model.ts'
import type { Holding } from '../../sales/service/hold.ts'
import type { SellingDeps } from '../../sales/service/deps.ts'
import type { Passes } from '../../passes/service/passes.ts'
import type { Coupons } from '../../coupons/service.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../kit/log.ts'
import type {
  Announce,
  Callbacks,
  DeliveryPort,
  BrandPort,
  DisputePort,
  FilePort,
  MailOwner,
  RefundPort,
  SellersRecipients,
  WalletAddress,
} from '../ports.ts'
import type { CheckoutStore } from '../stores.ts'
import type { CaptureLimits } from '../rules/capture.ts'

export interface CheckoutDeps {
  store: CheckoutStore
  selling: SellingDeps
  /** Sales whose workflow decides whether they are charged. */
  holding: Holding
  refunds: RefundPort
  disputes: DisputePort
  brands: BrandPort
  sales: SaleReader
  passes: Pick<
    Passes,
    'find' | 'past' | 'byToken' | 'ofPayments' | 'tokenOf' | 'trialsLeft' | 'isUsed' | 'giveFirstBack'
  >
  deliveries: DeliveryPort
  files: FilePort
  coupons: Pick<Coupons, 'look'>
  callbacks: Callbacks
  walletAddress: WalletAddress
  recipients: SellersRecipients
  /** Whether an order there can be paid by a plain transfer to an address of this service. */
  takesTransfers(checkout: Checkout): boolean
  /** The ids of those of these payers that are addresses of this service, to which an order was paid by a transfer. */
  orderAddresses(payers: readonly Address[]): Promise<ReadonlyMap<Address, string>>
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
  /** How long the answers of workflows are stored. Null: for ever. */
  answersKeptMs: number | null
  /** Links in mails to owners lead there. */
  dashboard: string
  addresses: {
    /** The address of the hosted forms. */
    pay: string
    /** The address of the receipts of all products. */
    receipts: string
    facilitator: string
  }
}
