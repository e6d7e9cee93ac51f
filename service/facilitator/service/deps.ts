import type { Chain, Hex, Signatures } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Failpoints } from '../../kit/failpoints.ts'
import type { Log, Measures } from '../../kit/log.ts'
import type { Lease, SettlementStore } from '../ports.ts'

/** What the facilitator is made of. */
export interface FacilitatorDeps {
  store: SettlementStore
  signatures: Signatures
  /** The networks that have an RPC. */
  chains: ReadonlyMap<NetworkName, Chain>
  /** The sponsor's private keys; the same on every network. */
  keys: readonly Hex[]
  /** Another process signs what is claimed here, and has the keys for it. */
  signsElsewhere: boolean
  lease(name: string): Lease
  clock: Clock
  log: Log
  measures: Measures
  failpoints: Failpoints
  settings: Settings
}

export interface Settings {
  /** How long a caller of settle waits before the result is `pending`. */
  waitMs: number
  /** A transaction this deep is final; until then it is looked at again. */
  confirmations: number
  /** Micro-USDC below which nothing is settled, but for the house's own transfers. */
  valueMin: bigint
  /** What one authorization may cost at most. */
  gasMax: bigint
  /** Wei a day, for each network and for each payer on it; null where there is no budget. */
  gasPerDay: bigint | null
  gasPerPayerDay: bigint | null
  gasPerRecipientDay: bigint | null
  /** For external callers of one address group. */
  gasPerCallerDay: bigint | null
  /** Of a network's day, in percent, that only the house's own sales may spend. */
  gasReserve: number
  /** Wei below which a sponsor is reported. */
  lowBalance: bigint
  /** Unmined for so long, a transaction's fees are raised. */
  bumpAfterMs: number
}

/** What every process agrees on, so not set from outside. */
export const PACE = {
  /** How long a silent worker keeps its sponsor. */
  leaseMs: 6_000,
  /** How long a worker keeps what it took before it must have signed it. */
  takenMs: 6_000,
  /** How long the success is believed to be on its way to the caller whom it was offered to. */
  offerMs: 10_000,
  /** How often a caller that waits looks by itself; within one process it is woken. */
  lookMs: 200,
  /** How long a worker sleeps while nothing rings. */
  turnMs: 100,
  /** Asks of nearly the same moment go together. */
  gatherMs: 15,
  /** As many as Multicall3 takes at once and as a block has room for among others. */
  batchMax: 50,
  /** Nodes keep sixteen waiting transactions of one account; more may be dropped. */
  inFlightMax: 16,
  recheckMs: 1_000,
  resendMs: 4_000,
  /** A foreign transaction under our nonce is believed once it is this old. */
  lostMs: 30_000,
  /** The reconciler looks at what has waited this long. */
  looseMs: 30_000,
} as const
