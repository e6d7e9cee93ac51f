import type { Address } from '../../../chain/model.ts'
import type { NetworkName } from '../../../chain/networks.ts'
import type { Facilitator } from '../../../facilitator/service.ts'
import type { PaymentTokens } from '../../../facilitator/service/proof.ts'
import type { Clock } from '../../../kit/clock.ts'
import type { Log } from '../../../kit/log.ts'
import type { Environment } from '../../../kit/owner.ts'
import type { CallStore } from '../../ports/calls.ts'
import type { PayCheckpoint, ToolPaymentStore } from '../../ports/payments.ts'
import type { Calls } from '../calls.ts'

export interface ToolPaymentParts {
  unpaid: Calls['unpaid']
  store: ToolPaymentStore
  calls: Pick<CallStore, 'note' | 'write'>
  facilitator: Pick<Facilitator, 'verify' | 'settle' | 'find' | 'purchases' | 'serves'>
  tokens: PaymentTokens
  clock: Clock
  log: Log
  checkpoint: PayCheckpoint
  environment: Environment
  network: NetworkName
  /** Who is paid; null where this server has no address of its own. */
  recipient: Address | null
  /** Of the tools. */
  address: string
  timeoutMs: number
  /** How long the chain is waited for. */
  settleMs: number
}
