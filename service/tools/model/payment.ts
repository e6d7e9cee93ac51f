import type { Address, Hex } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import type { Usdc } from '../../kit/money.ts'
import type { RequestBody } from '../../x402/model.ts'
import type { Environment } from '../../kit/owner.ts'
import type { CallId, CallResult, Output } from './call.ts'
import type { ToolId } from './tool.ts'

/**
 * Of a tool that only reads. `claimed`: the authorization is taken, the tool is being asked. `answered`: it has answered, the money is moving.
 * `failed`: nothing was moved and never will be, unless the same authorization is presented again.
 * Of one that may change something the money comes first: `claimed`: the money is moving. `paid` and `owed`: it has
 * arrived, the tool is asked. `paid`: it has answered.
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
  /** Of a token that the buyer chose; null where none was sent. */
  tokenHash: Buffer | null
  /** The chain may have been asked: from then on the authorization is public and proves nothing. */
  submitted: boolean
  amount: Usdc
  network: NetworkName
  payer: Address
  recipient: Address
  /** As the facilitator reads it. */
  request: RequestBody
  state: PaymentState
  /** The money is taken first, and the tool has not answered with success yet. */
  owed: boolean
  /** Null before the tool has answered, and once the answer was given or is too old. */
  output: Output | null
  durationMs: number
  reason: string | null
  txHash: string | null
  createdAt: Date
  paidAt: Date | null
}

/** A call that was paid for by itself. */
export interface PaidCall extends Omit<CallResult, 'credits' | 'balance'> {
  network: NetworkName
  payer: Address
  txHash: string
  /** Fetches the answer again, as long as it is stored. */
  token: string
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
