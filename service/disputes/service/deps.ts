import type { Clock } from '../../kit/clock.ts'
import type { Failpoints } from '../../kit/failpoints.ts'
import type { Log, Measures } from '../../kit/log.ts'
import type { PaymentTokens } from '../../sales/service/proof.ts'
import type {
  Announce,
  AnnounceEvent,
  DisputeStore,
  IsOrderServed,
  MailOwner,
  PayerSignatures,
  RefundPort,
  Sales,
} from '../ports.ts'

export interface DisputeDeps {
  store: DisputeStore
  sales: Sales
  refunds: RefundPort
  tokens: PaymentTokens
  signatures: PayerSignatures
  isOrderServed: IsOrderServed
  event: AnnounceEvent
  announce: Announce
  mailOwner: MailOwner
  clock: Clock
  log: Log
  measures: Measures
  failpoints: Failpoints
  addresses: {
    /** The address of the hosted forms. */
    pay: string
    /** The address of the receipts of all products. */
    receipts: string
    dashboard: string
  }
}

/** The topic of the mail about a new dispute. */
export const OPENED = 'disputes.opened'
