import type { Address } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import type { Usdc } from '../../kit/money.ts'
import type { CallResult } from './call.ts'

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
