import type { Sale } from '../../sales/model.ts'
import type { Reason } from '../../x402/reasons.ts'
import { simulatedHash } from './settle.ts'

/** How a payment in test mode ends; payments with money can end in the same ways. `slow` is paid after some seconds. */
export const OUTCOMES = ['paid', 'declined', 'insufficient_funds', 'slow', 'delivery_failed'] as const
export type SimulatedOutcome = (typeof OUTCOMES)[number]

/** The initial state of a payment in test mode. A simulated failure has the reason that a chain would give. */
export function simulatedAs(
  outcome: SimulatedOutcome,
  id: string,
  { now, holds }: { now: Date; holds: boolean },
): Pick<Sale, 'state' | 'reason' | 'txHash' | 'endedAt'> {
  if (holds && REFUSALS[outcome] === undefined) return { state: 'held', reason: null, txHash: null, endedAt: null }
  switch (outcome) {
    case 'paid':
    case 'delivery_failed':
      return { state: 'paid', reason: null, txHash: simulatedHash(id), endedAt: now }
    case 'slow':
      return { state: 'claimed', reason: null, txHash: null, endedAt: null }
    case 'declined':
    case 'insufficient_funds':
      return { state: 'failed', reason: REFUSALS[outcome], txHash: null, endedAt: now }
  }
}

const REFUSALS: Readonly<Record<'declined' | 'insufficient_funds', Reason>> &
  Partial<Record<SimulatedOutcome, Reason>> = {
  declined: 'invalid_exact_evm_transaction_failed',
  insufficient_funds: 'invalid_exact_evm_insufficient_balance',
}
