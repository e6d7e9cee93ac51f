import type { Address, Hex } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Environment } from '../../ledger/model.ts'
import type { CallId, CallResult, Output } from './call.ts'
import type { ToolId } from './tool.ts'

/**
 * `claimed`: the authorization is taken, the tool is being asked. `answered`: it has answered, the money is moving.
 * `failed`: nothing was moved and never will be, unless the same authorization is presented again.
 */
export type PaymentState = 'claimed' | 'answered' | 'paid' | 'failed'

/** A call that somebody without an account pays for. */
export interface ToolPayment {
  id: CallId
  environment: Environment
  digest: Hex
  toolId: ToolId
  slug: string
  provider: string
  inputHash: Buffer
  amount: Usdc
  network: NetworkName
  payer: Address
  recipient: Address
  /** As the facilitator reads it. */
  request: unknown
  state: PaymentState
  /** Null before the tool has answered, and once the answer was given or is too old. */
  output: Output | null
  durationMs: number
  reason: string | null
  txHash: string | null
  createdAt: Date
}

/** A call that was paid for by itself. */
export interface PaidCall extends Omit<CallResult, 'credits' | 'balance'> {
  network: NetworkName
  payer: Address
  txHash: string
}

/** What is to be paid for a call, for clients of both versions. */
export interface ToolOffer {
  slug: string
  name: string
  address: string
  amount: Usdc
  network: NetworkName
  recipient: Address
  input: Readonly<Record<string, unknown>>
}
