import { ZERO_ADDRESS } from '../../kit/address.ts'
import { ZERO } from '../../kit/money.ts'
import type { Sale } from '../../sales/model.ts'

/** A sale of test mode: no wallet has signed for it, and no money moves. */
export function simulatedSale(sold: Sold): Sale {
  return {
    ...sold,
    method: 'simulated',
    facilitator: null,
    simulated: true,
    payer: ZERO_ADDRESS,
    digest: null,
    request: null,
    bodyHash: null,
    identifier: null,
    resource: null,
    result: null,
    escrow: null,
    owedUntil: null,
    refunded: ZERO,
    refundWindowDays: null,
  }
}

type Sold = Pick<
  Sale,
  | 'id'
  | 'product'
  | 'subject'
  | 'userId'
  | 'environment'
  | 'state'
  | 'handover'
  | 'amount'
  | 'network'
  | 'recipient'
  | 'inputHash'
  | 'tokenHash'
  | 'details'
  | 'txHash'
  | 'reason'
  | 'leaseUntil'
  | 'createdAt'
  | 'endedAt'
>
