import type { Facilitator } from '../../facilitator/service/facilitator.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Failpoints } from '../../kit/failpoints.ts'
import type { Log, Measures } from '../../kit/log.ts'
import type { Ledger } from '../../ledger/service.ts'
import type { AccountOf, AnnounceEvent, Chains, Payouts, RefundEnded, RefundStore, Sales } from '../ports.ts'

/** The dependencies of refunds. */
export interface RefundDeps {
  store: RefundStore
  sales: Sales
  ledger: Pick<Ledger, 'reserve' | 'capture'>
  payouts: Payouts
  facilitator: Pick<Facilitator, 'verify' | 'settle' | 'purchases'>
  chains: Chains
  /** What makes a transfer final. */
  confirmations: number
  accountOf: AccountOf
  event: AnnounceEvent
  ended: RefundEnded
  clock: Clock
  log: Log
  measures: Measures
  failpoints: Failpoints
  /** The address of the hosted forms. */
  pay: string
}
