import type { Address, Hex } from '../../chain/model.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Log } from '../../kit/log.ts'
import type { Failpoints } from '../../kit/failpoints.ts'
import type { SellingDeps } from '../../sales/service/deps.ts'
import type { Refused } from '../../sales/service/refused.ts'
import type { Presented } from '../../x402/model.ts'
import type { Gate, GateRequest, Route } from '../model.ts'
import type { CountTokens, Prepaid, Tally } from '../ports.ts'

/** The journal of sales and prepaid balances. */
export type PaymentJournal = SellingDeps['journal'] & Prepaid

export type TellRefused = (
  call: { gate: Gate; route: Route; request: GateRequest; presented: Presented },
  terms: Refused['terms'],
  refusal: Pick<Refused, 'reason' | 'digest'>,
) => Promise<void>

/** The engine's dependencies, in the gateway and in the middleware alike. */
export interface GateDeps {
  journal: PaymentJournal
  method: SellingDeps['method']
  methods: SellingDeps['methods']
  dialects: SellingDeps['dialects']
  tokens: SellingDeps['tokens']
  tally: Tally
  countTokens: CountTokens
  clock: Clock
  log: Log
  measures: SellingDeps['measures']
  failpoints: Failpoints
  /** Absent in the middleware, whose seller answers no requests for refunds here. */
  refundTerms?: SellingDeps['refundTerms']
  /** Tells the owner of an authorization that was refused. Absent in the middleware. */
  refused?: TellRefused
  /** The account that has signed a text with its key. Null when none has. */
  recoverMessage(text: string, signature: Hex): Promise<Address | null>
  addresses: {
    facilitator: string
    /** What sign-ins are bound to. Null: the gate's own address, which no request can change. */
    signInOrigin: string | null
    /** The URL of a payment's status. */
    statusOf(payment: string): string
  }
  limits: {
    /** The limit of a request's body. */
    bodyBytes: number
    /** An answer of at most this size is kept until it is delivered. */
    keptBytes: number
    /** An answer of unknown length that has not ended by then is streamed. */
    gatherMs: number
    /** The same for an answer of known length. */
    wholeMs: number
    /** The longest time from the request to the settlement; an authorization has to outlast it. */
    workMs: number
    /** The smallest amount that can be paid in. */
    paymentMin: Usdc
    /** How long a client waits for the chain. */
    settleMs: number
  }
}
