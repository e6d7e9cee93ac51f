import { givenUpAfter } from '../chain/networks.ts'
import type { Escrow, Sale } from './model.ts'
import type { Reason } from '../x402/reasons.ts'

/** How long an answer is stored, and how long the price in a 402 is valid. */
export const HELD_MS = 600_000

/**
 * How long an answer is owed whose buyer's request had ended before the payment did: the buyer was told that it is pending, and
 * does not know when it ends.
 */
export const OWED_AWAY_MS = 26 * 3_600_000

/** Until when an answer is owed that was paid for and not handed over; `now` stands for the end that is not stored yet. */
export function owedUntil(sale: Pick<Sale, 'endedAt' | 'owedUntil'>, owedMs: number, now: Date): Date {
  // Books of a seller's own may not store it.
  return sale.owedUntil ?? new Date((sale.endedAt ?? now).getTime() + owedMs)
}

/** The chain may have been asked, so the authorization is public. */
export function isSubmitted({ state, escrow }: Pick<Sale, 'state' | 'escrow'>): boolean {
  return state === 'held' ? escrow !== null : state !== 'claimed' && state !== 'released'
}

/** What was signed is what is asked for: a fresh signature is judged in the same way. */
export function isAsOffered(sale: Price, offer: Price): boolean {
  return sale.amount === offer.amount && sale.network === offer.network && sale.recipient === offer.recipient
}

type Price = Pick<Sale, 'amount' | 'network' | 'recipient'>

/** The sale cannot change any more. */
export function isOver({ state }: Pick<Sale, 'state'>): boolean {
  return state === 'paid' || state === 'failed' || state === 'refunded'
}

/**
 * When the work for a payment that has just reached the escrow must have ended. Null when too little time is left for it
 * and for a capture that meets trouble: then the money goes back at once.
 */
export function workUntil({ captureBy, workMs }: Escrow, now: Date): Date | null {
  const end = new Date(now.getTime() + workMs)
  return end.getTime() + CAPTURE_MS <= Date.parse(captureBy) ? end : null
}

const CAPTURE_MS = 1_800_000

/**
 * Whether a refused capture or void stays refused. Before the deadline the payer cannot take the money back, so the
 * refusal has a cause that passes: a chain that has lost a block, a spent budget, an empty sponsor.
 */
export function isEscrowOver({ captureBy }: Escrow, now: Date): boolean {
  return secondOf(now) > givenUpAfter(secondOf(new Date(captureBy)))
}

function secondOf(time: Date): bigint {
  return BigInt(Math.floor(time.getTime() / 1_000))
}

/** The next time to ask the chain, or for the outcome of the work, about a waiting sale. */
export function nextResume(createdAt: Date, now: Date): Date {
  return new Date(now.getTime() + Math.min(Math.max((now.getTime() - createdAt.getTime()) / 4, 5_000), 60_000))
}

/**
 * Whether the payer is to blame that finished work was not paid: the balance is gone, or the authorization was used or
 * revoked. A chain that was away until the authorization's end is not the payer's fault.
 */
export function isDefault({ simulated, result, reason, details }: Worked): boolean {
  // A run of an asset that has succeeded is named.
  const isDone = result?.status === 'succeeded' || details['runId'] !== undefined
  return !simulated && isDone && reason !== null && PAYERS.has(reason)
}

type Worked = Pick<Sale, 'simulated' | 'result' | 'reason' | 'details'>

/**
 * Whether finished work that was refused its payment is asked about again: what a wallet has can change while its
 * authorization lasts, and a node that lags behind says the same of a wallet that has enough.
 */
export function mayPayLater({ escrow, result, createdAt }: Unpaid, reason: string, now: Date): boolean {
  const isDone = escrow === null && result?.status === 'succeeded'
  return isDone && CHANGING.has(reason) && now.getTime() < createdAt.getTime() + PAY_LATER_MS
}

type Unpaid = Pick<Sale, 'escrow' | 'result' | 'createdAt'>

/** Refusals that nothing was sent for, and that may be over at the next look. */
const CHANGING: ReadonlySet<string> = new Set<Reason>([
  'invalid_exact_evm_insufficient_balance',
  'invalid_exact_evm_transaction_simulation_failed',
  'permit2_insufficient_balance',
  'permit2_allowance_required',
  'permit2_simulation_failed',
])

/** Longer than the authorizations that checkouts ask for. A payer may sign one without an end. */
const PAY_LATER_MS = 2 * 3_600_000

const PAYERS: ReadonlySet<string> = new Set<Reason>([
  'invalid_exact_evm_insufficient_balance',
  'invalid_exact_evm_nonce_already_used',
  'invalid_exact_evm_signature',
  'invalid_exact_evm_transaction_simulation_failed',
  'invalid_exact_evm_transaction_failed',
  'permit2_insufficient_balance',
  'permit2_invalid_nonce',
  'permit2_allowance_required',
  'permit2_simulation_failed',
  'invalid_permit2_signature',
  'invalid_upto_evm_transaction_failed',
])

/** How long nobody works first for a payer who left finished work unpaid. */
export const DEFAULTED_MS = 30 * 24 * 3_600_000
