import type { Address, Authorization, Chain, SignedAuthorization } from '../../chain/model.ts'
import type { Network, NetworkName } from '../../chain/networks.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Owner } from '../../ledger/model.ts'
import type { Answer, OutboundRequest } from '../../outbound/model.ts'
import type { Page } from '../model.ts'
import type { Payment } from '../model/payment.ts'

export interface PaymentStore {
  add(inside: Statements, payment: Payment, lookAt: Date): Promise<void>
  find(owner: Owner, id: string): Promise<Payment | null>
  list(owner: Owner, agentId: string | null, page: Page): Promise<{ payments: readonly Payment[]; total: number }>
  /** From reserved to signed; false when it is not reserved any more. */
  sign(id: string, signature: string): Promise<boolean>
  /** From signed to sent, also once more; false when it has ended. */
  send(id: string, lookAt: Date): Promise<boolean>
  answered(id: string, status: number): Promise<void>
  /** Those whose chain is to be looked at, taken until `until`. */
  due(now: Date, until: Date, limit: number): Promise<readonly Payment[]>
  seen(id: string, txHash: string | null, lookAt: Date): Promise<void>
  /** To its end, with the money's movement in the same transaction; false when it has ended already. */
  end(
    payment: Payment,
    ended: { state: 'settled' | 'returned'; txHash: string | null; now: Date },
    also: (inside: Statements) => Promise<void>,
  ): Promise<boolean>
  /** What may still leave the payer on this network. */
  outstanding(network: NetworkName): Promise<bigint>
}

/** Whose key pays. The address is known everywhere, the key only where it is allowed to be. */
export interface Payer {
  address: Address
  /** As people write it, with its checksum. */
  checksummed: string
  sign: ((network: Network, authorization: Authorization) => SignedAuthorization) | null
}

/** For addresses that callers name: guarded, and nothing private. */
export interface Seller {
  send(request: OutboundRequest): Promise<Answer>
  checkAddress(url: string): Promise<void>
  /** Throws where a header may not be sent. */
  checkHeaders(headers: Readonly<Record<string, string>>): void
}

export type ChainOf = (
  network: NetworkName,
) => Pick<Chain, 'network' | 'head' | 'balanceOf' | 'authorization' | 'findUse'> | null
