import type { Address, Chain, Hex, Signatures } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Failpoints } from '../../kit/failpoints.ts'
import type { Log, Measures } from '../../kit/log.ts'
import type { Lease, Schemes, SettlementStore } from '../ports.ts'

/** The dependencies of the facilitator. */
export interface FacilitatorDeps extends Omit<SchemeDeps, 'store'> {
  store: SettlementStore
  schemes: Schemes
  lease(name: string): Lease
  log: Log
  measures: Measures
  failpoints: Failpoints
}

/** What a scheme needs of it. */
export interface SchemeDeps {
  store: Pick<SettlementStore, 'find' | 'bought'>
  signatures: Signatures
  /** The networks that have an RPC. */
  chains: ReadonlyMap<NetworkName, Chain>
  /** The sponsor's private keys; the same on every network. */
  keys: readonly Hex[]
  /** The sponsors' addresses. The first one is offered as the operator of payments in the escrow. */
  operators: readonly Address[]
  /** Another process has the keys and signs what is claimed here. */
  signsElsewhere: boolean
  clock: Clock
  settings: Settings
}

export interface Settings {
  /** How long a caller of settle waits before the result is `pending`. */
  waitMs: number
  /** A transaction this deep is final. Until then it is checked again. */
  confirmations: number
  /** The smallest amount in micro-USDC that is settled, except for our own transfers. */
  valueMin: bigint
  /** The most gas that one authorization may use. */
  gasMax: bigint
  /** The factories that may deploy a payer's wallet with its first payment (ERC-6492), and the gas for that. */
  walletFactories: ReadonlySet<Address>
  deployGasMax: bigint
  /** A wallet whose only key is a passkey may be deployed with its first payment, too. */
  passkeyWallets: boolean
  /** Wei per day, for each network and for each payer on it. Null without a budget. */
  gasPerDay: bigint | null
  gasPerPayerDay: bigint | null
  gasPerRecipientDay: bigint | null
  /** For external callers of one address group. */
  gasPerCallerDay: bigint | null
  /** The share of a network's day, in percent, that is reserved for our own sales. */
  gasReserve: number
  /** A sponsor with fewer wei is reported. */
  lowBalance: bigint
  /** A transaction that is not mined after this time gets higher fees. */
  bumpAfterMs: number
}

/** Values that every process must share, so they cannot be configured. */
export const PACE = {
  /** How long a worker that does not renew its lease keeps its sponsor. */
  leaseMs: 6_000,
  /** How long a worker keeps the settlements it took. It must sign them before that. */
  takenMs: 6_000,
  /** How long an offered success counts as on its way to the caller. */
  offerMs: 10_000,
  /** How often a waiting caller checks by itself. Within one process it is woken. */
  lookMs: 200,
  /** The longest time between two turns of a worker. A signal or a block ends it. */
  turnMs: 100,
  /** How long a claim waits at most for others, to go together, and for the next one of a crowd. */
  gatherMs: 100,
  quietMs: 15,
  /** As many as fit into one Multicall3 transaction and leave other transactions room in the block. */
  batchMax: 50,
  /** Nodes keep sixteen pending transactions of one account and may drop more. */
  inFlightMax: 16,
  recheckMs: 1_000,
  resendMs: 4_000,
  /** A foreign transaction under our nonce counts as real after this time. */
  lostMs: 30_000,
  /** A transaction that every node has refused for this time is given up: its sponsor's others wait for it. */
  refusedMs: 10_000,
  /** So many blocks without a transaction, after the last raise of its fees, and it is given up as well. */
  passedBlocks: 3n,
  /** The reconciler checks settlements that have waited this long. */
  looseMs: 30_000,
} as const
