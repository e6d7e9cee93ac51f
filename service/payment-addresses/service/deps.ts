import type { Address, Chain } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import type { Checkouts } from '../../checkouts/service/checkouts.ts'
import type { Facilitator } from '../../facilitator/service/facilitator.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Failpoints } from '../../kit/failpoints.ts'
import type { Log, Measures } from '../../kit/log.ts'
import type { PaymentTokens } from '../../sales/service/proof.ts'
import type { PaymentAddressBook, PaymentAddressSigner, PaymentAddressStore } from '../ports.ts'

export interface PaymentAddressDeps {
  store: PaymentAddressStore
  /** What an order costs, and how it is bought by an authorization that is signed here. */
  checkouts: Pick<Checkouts, 'transferTerms' | 'payByTransfer' | 'payment'>
  /** Carries out returns, which are no purchases. */
  facilitator: Pick<Facilitator, 'settle'>
  recipients: SpendableRecipients
  /** Null when the server has no addresses. */
  book: PaymentAddressBook | null
  /** Null in every process that is not a worker. */
  signer: PaymentAddressSigner | null
  /** The networks that have an RPC. */
  chains: ReadonlyMap<NetworkName, Chain>
  tokens: PaymentTokens
  /** How deep a block must be before something that it shows is given up. */
  confirmations: number
  clock: Clock
  log: Log
  measures: Measures
  failpoints: Failpoints
}

export interface SpendableRecipients {
  /** Throws where what arrives on this network can be spent by nobody. `refused`: further addresses, and why. */
  assertSpendable(to: Address, network: NetworkName, refused: readonly (readonly [Address, string])[]): Promise<void>
}
