import { SIMULATED_SETTLING_MS, type Escrow, type Sale } from './model.ts'

/** How long an answer is stored, and how long the price in a 402 is valid. */
export const HELD_MS = 600_000

/** All of it is on its way back, or asked for: nobody gets an answer for it as well. */
export function isGoingBack({ amount, refunded }: Pick<Sale, 'amount' | 'refunded'>): boolean {
  return amount > 0n && refunded >= amount
}

/** The chain may have been asked, so the authorization is public. */
export function isSubmitted({ state, escrow }: Pick<Sale, 'state' | 'escrow'>): boolean {
  return state === 'held' ? escrow !== null : state !== 'claimed' && state !== 'released'
}

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
  return Date.parse(captureBy) + REORG_MS <= now.getTime()
}

/** Longer than any reorganization of the supported networks. */
const REORG_MS = 120_000

/** The next time to ask the chain, or for the outcome of the work, about a waiting sale. */
export function nextResume(createdAt: Date, now: Date): Date {
  return new Date(now.getTime() + Math.min(Math.max((now.getTime() - createdAt.getTime()) / 4, 5_000), 60_000))
}

/** The state at this time of a simulated payment that takes its time. */
export function simulatedState(createdAt: Date, now: Date): 'claimed' | 'settling' | 'paid' {
  const age = now.getTime() - createdAt.getTime()
  if (age < SIMULATED_SETTLING_MS) return 'claimed'
  return age < SIMULATED_PAID_MS ? 'settling' : 'paid'
}

const SIMULATED_PAID_MS = 4_000
