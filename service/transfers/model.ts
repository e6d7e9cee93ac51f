import { createHash } from 'node:crypto'
import type { Authorization, Hex, SignedAuthorization, Use } from '../chain/model.ts'
import type { Network, NetworkName } from '../chain/networks.ts'
import type { Usdc } from '../kit/money.ts'

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

/**
 * One transfer as an operator looks for it, in the words of all. `waiting`: its terms are not stored, and no money can leave.
 * `signed`: they are, and it may have been signed. `sent`: the network may have it. `confirmed`, `failed`: its ends.
 */
export interface Transfer {
  /** The withdrawal's, refund's or payment's; of the others their kind and number. */
  id: string
  kind: 'withdrawal' | 'refund' | 'refund_own' | 'sweep' | 'funding' | 'payment' | 'return'
  /** Whose money it is. */
  userId: string | null
  environment: string | null
  network: NetworkName
  amount: Usdc
  from: Hex | null
  to: Hex | null
  nonce: Hex | null
  /** Unix seconds. */
  validBefore: bigint | null
  state: 'waiting' | 'signed' | 'sent' | 'confirmed' | 'failed'
  /** What it waits for, or why it failed. */
  reason: string | null
  txHash: Hex | null
  createdAt: Date
  sentAt: Date | null
  endedAt: Date | null
  /** What the facilitator knows of it: the state of its settlement, in how many transactions it was, why it was refused. */
  settlement: string | null
  attempts: number | null
  refusal: string | null
}

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

/** Follows from what the transfer is for: signed again it has the same nonce, which USDC takes once. */
export function nonceOf(...what: readonly string[]): Hex {
  return `0x${createHash('sha256')
    .update(`coinslot ${what.join(' ')}`)
    .digest('hex')}`
}

/**
 * Of one that was asked for with an `Idempotency-Key`: follows from what the client sends, so that a transfer which a restored
 * database lost has the same nonce when it is asked for again, and the chain pays it once. Other terms are another transfer. A
 * key that the service has forgotten may be used for the same again: `turn` counts that.
 */
export function keyedNonce(kind: 'withdrawal' | 'refund', terms: readonly string[], turn: number): Hex {
  return nonceOf(`${kind} by key`, ...terms, String(turn))
}
