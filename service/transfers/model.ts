import type { Authorization, SignedAuthorization, Use } from '../chain/model.ts'
import type { Network } from '../chain/networks.ts'

export interface Signed extends Pick<Authorization, 'from' | 'nonce' | 'validBefore'> {
  /** Null where the key is ours, and signs nothing else with this nonce. */
  pays: Pick<Authorization, 'to' | 'value'> | null
  /** The newest block before it was signed. Null where that is not known. */
  seenBlock: bigint | null
}

/**
 * What became of it. `open`: unused, and it may be sent. `ending`: its time is over, but a branch of the chain may still have
 * it. `unclear`: the nodes lag behind each other, or differ. `used`: it moved this money; `final` where no reorganization
 * takes that back. `spent`: its nonce was used up for something else, or taken back. `over`: it can never be used any more.
 * What gives something up, `spent` and `over`, is what the nodes agree on.
 */
export type Outcome =
  | { state: 'open' | 'ending' | 'unclear' | 'over' }
  | { state: 'used'; use: Use; final: boolean }
  | { state: 'spent'; use: Use }

/** What is handed to the facilitator. */
export interface Sending {
  /** For the operator's logs and counts. */
  kind: 'withdrawal' | 'sweep' | 'treasury' | 'refund_own' | 'payment_address_return'
  network: Network
  signed: SignedAuthorization
  /** The name under which it is settled. */
  operation: string
  /** How long to wait for the outcome. The facilitator's own time when absent. */
  waitMs?: number
}
