import type { Clock } from '../../kit/clock.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Log } from '../../kit/log.ts'
import type { Failpoints } from '../../kit/failpoints.ts'
import type { SellingDeps } from '../../sales/service/deps.ts'
import type { CountTokens, Prepaid, Tally } from '../ports.ts'

/** What is kept of sales, and of what was paid in before. */
export type PaymentJournal = SellingDeps['journal'] & Prepaid

/** What the engine stands on, in the gateway and in the middleware alike. */
export interface GateDeps {
  journal: PaymentJournal
  method: SellingDeps['method']
  tokens: SellingDeps['tokens']
  tally: Tally
  countTokens: CountTokens
  clock: Clock
  log: Log
  measures: SellingDeps['measures']
  failpoints: Failpoints
  addresses: {
    facilitator: string
    /** Where a payment's state can be asked for. */
    statusOf(payment: string): string
  }
  limits: {
    /** Of a request's body. */
    bodyBytes: number
    /** An answer is kept until it was delivered when it has no more. */
    keptBytes: number
    /** An answer of unknown length that has not ended by then is passed on as it comes. */
    gatherMs: number
    /** One of a known length, too. */
    wholeMs: number
    /** The longest time between the request and what is settled: an authorization has to outlast it. */
    workMs: number
    /** The least that can be paid in. */
    paymentMin: Usdc
    /** How long a client waits for the chain. */
    settleMs: number
  }
}
