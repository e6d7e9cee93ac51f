import { createHash } from 'node:crypto'
import type { Hex } from '../../chain/model.ts'
import type { Payment } from '../model/payment.ts'

/** Follows from the payment's id alone: whoever funds it again uses the same nonce, and USDC takes a nonce once. */
export function fundingNonce(id: string): Hex {
  return `0x${createHash('sha256').update(`coinslot funding ${id}`).digest('hex')}`
}

/** What stays with the payer when a payment ends without a transfer: what it set aside, and what has come for it. */
export function keptOf({ state, amount, funding }: Payment, hasCome: boolean): bigint {
  if (state === 'reserved') return 0n
  return amount - (hasCome ? 0n : (funding?.amount ?? 0n))
}

/** How long the treasury's transfer may take; a payment lives longer by as much. */
export const FUNDING_SECONDS = 60
/** A payment that nobody has signed for by then is given back. */
export const UNSIGNED_MS = 60_000
