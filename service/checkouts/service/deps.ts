import type { SaleReader } from '../../sales/model.ts'
import type { SellingDeps } from '../../sales/service/deps.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../kit/log.ts'
import type { Announce, Callbacks, CheckoutStore, DeliveryPort, MailOwner, WalletAddress } from '../ports.ts'

export interface CheckoutDeps {
  store: CheckoutStore
  selling: SellingDeps
  sales: SaleReader
  deliveries: DeliveryPort
  callbacks: Callbacks
  walletAddress: WalletAddress
  announce: Announce
  mailOwner: MailOwner
  clock: Clock
  log: Log
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
